import numpy as np
import pytest

from bayespoint._jit.gibbs import MAX_INSERTION_SORT, cross, draw_margins, sweep, weigh


def met_walls(here, radius, s, d):
    m = len(d)
    words, wall, t = np.zeros(m // 8 + 1, np.uint64), np.empty(m, int), np.empty(m)
    n = cross(here, radius, s, d, words, wall, t)
    return wall[:n], t[:n]


@pytest.mark.parametrize("m", [1, 7, 8, 50, 4 * MAX_INSERTION_SORT])
def test_walls_are_crossed_where_their_margins_are_zero(m, rng):
    here, radius = 0.4, 1.5
    s, d = rng.standard_normal((2, m))
    wall, t = met_walls(here, radius, s, d)
    margins = d[wall] + s[wall] * (radius * np.cos(t) - here)
    np.testing.assert_allclose(margins, 0, atol=1e-12)
    assert np.all(np.diff(t) >= 0)
    assert len(np.unique(wall)) == len(wall)
    # The other margins have the same sign at both ends of the circle.
    others = np.setdiff1d(np.arange(m), wall)
    ends = [d[others] + s[others] * (x - here) for x in (-radius, radius)]
    assert np.all(ends[0] * ends[1] > 0)


def test_pieces_weigh_by_length_and_errors():
    # The first wall is crossed into error, the second out of it: the piece between has one more.
    t, s, mass = np.array([1.0, 2.0]), np.array([1.0, -1.0]), np.empty(3)
    mean = weigh(2, np.array([0, 1]), t, s, np.array([1.0, 0.25, 0.0625]), mass)
    np.testing.assert_allclose(mass, [1.0, 1.25, 1.25 + np.pi - 2.0])
    # The integral of cos t is sin t.
    integral = np.sin(1) + 0.25 * (np.sin(2) - np.sin(1)) - np.sin(2)
    np.testing.assert_allclose(mean, integral / mass[-1])


def test_coefficients_move_with_the_margins(rng):
    factor = rng.standard_normal((6, 6))
    inverse = np.linalg.inv(factor @ factor.T)
    d = np.abs(rng.standard_normal(6))
    coef = inverse @ d
    for _ in range(100):
        draw_margins(inverse, d, coef, 0.0, rng)
        assert d.min() > 0
    # Entries of the inverse are below 1e4 or so, and each step rounds them to 1e-16.
    np.testing.assert_allclose(coef, inverse @ d, atol=1e-13 * np.abs(inverse).max())


@pytest.mark.parametrize("with_margins", [False, True])
def test_margins_move_along(with_margins, rng):
    columns = rng.standard_normal((4, 4 if with_margins else 9))
    inverse = np.linalg.inv(columns.T @ columns) if with_margins else np.empty((0, 0))
    w = rng.standard_normal(4)
    d = w @ columns
    means, units, hits = sweep(columns, inverse, w, d, 0.5 ** np.arange(10.0), 100, rng)
    np.testing.assert_allclose(d, w @ columns, atol=1e-11 * (1 + np.abs(inverse).max(initial=0)))
    # The sum of 100 vectors of length 2 or so: 4 dimensions and a deviation of one.
    assert np.linalg.norm(means) <= 100 * 4
    assert np.linalg.norm(units) <= 100
    assert hits.max() <= 100
