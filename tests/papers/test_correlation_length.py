import numpy as np
import pytest

from bayespoint.papers.correlation_length import FAMILIES, bounce, bounces_together, power
from helpers import rbf_space


def test_a_bounce_stays_inside_and_on_the_sphere():
    space = rbf_space(20, 0.5)
    rng = np.random.default_rng(0)
    b = space.enter(rng)
    v = rng.standard_normal(len(b))
    v -= (v @ b) * b
    v, wall = v / np.linalg.norm(v), -1
    for _ in range(200):
        last = wall
        b, v, wall = bounce(space.walls, b, v, last)
        assert wall != last
        assert space.walls[wall] @ b == pytest.approx(0, abs=1e-9)
        assert space.walls[wall] @ v > 0
        assert (space.walls @ b).min() > -1e-9
        assert (b @ b, v @ v, b @ v) == pytest.approx((1, 1, 0), abs=1e-9)


@pytest.mark.parametrize("family", FAMILIES)
def test_closer_balls_stay_together_longer(family):
    far, near = (
        np.median([bounces_together(family, 25, distance, seed) for seed in range(7)])
        for distance in (0.1, 0.001)
    )
    assert far < near


def test_power_of_a_power_law(rng):
    sizes = (10, 20, 40)
    counts = np.array([m**1.5 + rng.standard_normal(200) for m in sizes])
    slope = power(sizes, counts)
    assert abs(slope.mean - 1.5) < 4 * slope.error < 0.1
