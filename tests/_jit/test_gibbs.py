import numpy as np

from bayespoint._jit.gibbs import cross, sweep, weigh


def test_walls_are_crossed_where_their_margins_are_zero(rng):
    here, radius = 0.4, 1.5
    s, d = rng.standard_normal((2, 50))
    wall, t = cross(here, radius, s, d)
    margins = d[wall] + s[wall] * (radius * np.cos(t) - here)
    np.testing.assert_allclose(margins, 0, atol=1e-12)
    assert np.all(np.diff(t) >= 0)
    # The other margins have the same sign at both ends of the circle.
    others = np.setdiff1d(np.arange(50), wall)
    ends = [d[others] + s[others] * (x - here) for x in (-radius, radius)]
    assert np.all(ends[0] * ends[1] > 0)


def test_pieces_weigh_by_length_and_errors():
    # The first wall is crossed into error, the second out of it: the piece between has one more.
    t, s = np.array([1.0, 2.0]), np.array([1.0, -1.0])
    mass = weigh(np.array([0, 1]), t, s, np.array([1.0, 0.25, 0.0625]))
    np.testing.assert_allclose(mass, [1.0, 1.25, 1.25 + np.pi - 2.0])


def test_margins_move_along(rng):
    columns = rng.standard_normal((4, 9))
    w = rng.standard_normal(4)
    d = w @ columns
    total, hits = sweep(columns, w, d, 0.5 ** np.arange(10.0), 100, rng)
    np.testing.assert_allclose(d, w @ columns, atol=1e-11)
    assert np.linalg.norm(total) <= 100
    assert hits.max() <= 100
