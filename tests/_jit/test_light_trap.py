import numpy as np

from bayespoint._jit import billiard, light_trap
from bayespoint._jit.light_trap import shine
from bayespoint.geometry.great_circle import random_tangent
from helpers import rbf_space


def test_light_passes_every_wall_once_and_stays(rng):
    space = rbf_space(20, 0.5)
    b = rng.standard_normal(space.gram.rank)
    b /= np.linalg.norm(b)
    v = random_tangent(b, rng)
    d, u = space.margins(b), space.margins(v)
    wrong = [int(np.sum(d < 0))]
    assert wrong[0] > 0
    arrays = space.gram.matrix, space.gram.factor, space.signs, b, v, d, u
    while wrong[-1] > 0 and len(wrong) < 10_000:
        assert shine(*arrays, 1) == 1
        wrong.append(int(np.sum(d < 0)))
    # No bounce adds an error, and none removes more than one.
    assert set(np.diff(wrong)) <= {0, -1}
    assert wrong[-1] == 0
    assert shine(*arrays, 5) == 0
    np.testing.assert_allclose(space.margins(b), d, atol=1e-9)
    np.testing.assert_allclose([b @ b, v @ v, b @ v], [1, 1, 0], atol=1e-9)


def test_margins_are_clamped_as_in_the_billiard():
    assert light_trap.SMALLEST_MARGIN == billiard.SMALLEST_MARGIN
