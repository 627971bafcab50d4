import numpy as np
import pytest

import bayespoint._jit.billiard as compiled
from bayespoint.geometry.great_circle import random_tangent
from bayespoint.solvers.ball import NO_SCATTERING, wall_costs
from helpers import orthant_space, rbf_space, teacher_space

SPACES = {
    "linear": lambda: teacher_space(20, 5, seed=1),
    "soft rbf": lambda: rbf_space(40, 0.1),
    "orthant": lambda: orthant_space(6),
    "plane": lambda: teacher_space(7, 2, seed=5),
}


@pytest.fixture(params=SPACES, ids=str)
def space(request):
    return SPACES[request.param]()


def launch(space, n_bounces, scatter, rng, schedule=(np.inf, np.inf, 0)):
    """Return a flight that starts inside, and the margins updated during it."""
    gram, start = space.gram, space.enter(rng)
    direction = random_tangent(start, rng)
    d, u = space.margins(start), space.margins(direction)
    none, margins = np.zeros_like(d), compiled.Margins(d, u, np.ones_like(d))
    walls = compiled.Walls(gram.matrix, gram.factor, gram.extent, space.signs, wall_costs(space))
    motion = compiled.Motion(start, none, direction, none)
    given = [array.copy() for array in motion]
    flight = compiled.fly(
        walls, motion, margins, n_bounces, scatter, rng, compiled.Schedule(*schedule)
    )
    for before, after in zip(given, motion, strict=True):
        np.testing.assert_array_equal(before, after)
    return compiled.Flight(*flight), margins


@pytest.mark.parametrize("scatter", [NO_SCATTERING, 100])
def test_margins_do_not_drift(space, rng, scatter):
    flight, margins = launch(space, 200_000, scatter, rng)
    b = flight.b_base + space.combine(flight.b_coef)
    v = flight.v_base + space.combine(flight.v_coef)
    # 2e5 roundings of 1e-16 add up to 2e-11 at worst, or to 1e-9 for coefficients of size 100.
    np.testing.assert_allclose(space.margins(b), margins.d, atol=1e-9)
    np.testing.assert_allclose(space.margins(v), margins.u, atol=1e-9)
    np.testing.assert_allclose([b @ b, v @ v, b @ v], [1, 1, 0], atol=1e-9)


def test_draws_come_on_schedule(space, rng):
    flight, _ = launch(space, 500, 50, rng, schedule=(0.1, 0.2, 10_000))
    assert flight.hits.sum() == 500
    assert len(flight.draw_base) == len(flight.draw_coef) == np.ceil((flight.length - 0.1) / 0.2)
    few, _ = launch(space, 500, 50, rng, schedule=(0.1, 0.2, 3))
    assert len(few.draw_base) == 3


def test_hard_walls_have_no_errors(space, rng):
    flight, margins = launch(space, 500, 50, rng)
    assert flight.errors == 0
    np.testing.assert_array_equal(margins.side, 1)
