import numpy as np
import pytest

from bayespoint._jit import billiard, onion
from bayespoint._jit.onion import peel
from bayespoint.geometry.great_circle import random_tangent
from helpers import rbf_space


@pytest.mark.parametrize("scatter", [1, 10, 10**9])
def test_ball_and_margins_move_along_and_every_arc_is_half_a_circle(rng, scatter):
    space, n_bounces = rbf_space(15, 0.2), 300
    b, m = space.enter(rng), len(space.signs)
    v = random_tangent(b, rng)
    d, u = space.margins(b), space.margins(v)
    integral, time = np.zeros((m + 1, m + 1, len(b))), np.zeros((m + 1, m + 1))
    room = np.empty(m), np.empty(m, dtype=np.int64), np.empty(len(b))
    walls = space.gram.matrix, space.gram.factor, space.signs
    peel(*walls, b, v, d, u, n_bounces, scatter, rng, m, *room, integral, time)
    # Rounding of 1e-16 in 300 bounces, divided by the smallest margins (about 1e-4).
    np.testing.assert_allclose(space.margins(b), d, atol=1e-9)
    np.testing.assert_allclose(space.margins(v), u, atol=1e-9)
    np.testing.assert_allclose([b @ b, v @ v, b @ v], [1, 1, 0], atol=1e-9)
    # An arc from a wall crosses this wall last, after half a circle; the first arc starts inside.
    assert np.pi * (n_bounces - 1) * (1 - 1e-9) < time.sum() < np.pi * n_bounces
    assert np.all(np.linalg.norm(integral, axis=-1) <= time + 1e-9)


def test_margins_are_clamped_as_in_the_billiard():
    assert onion.SMALLEST_MARGIN == billiard.SMALLEST_MARGIN
