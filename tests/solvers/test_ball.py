import numpy as np
import pytest
from scipy import integrate

from bayespoint.geometry.great_circle import random_tangent
from bayespoint.solvers import ball as module
from bayespoint.solvers.ball import NO_SCATTERING, Ball, advance
from helpers import orthant_space, rbf_space, teacher_space


def new_ball(space, seed):
    rng = np.random.default_rng(seed)
    b = space.enter(rng)
    return Ball(b, random_tangent(b, rng))


def slow_twin(space, ball, n_bounces):
    """Bounce step by step with textbook physics; return ball, integral, length, walls, arcs."""
    walls = space.walls
    b, v = ball
    integral, length, hit, arcs = np.zeros_like(b), 0.0, [], []
    for _ in range(n_bounces):
        d, u = walls @ b, walls @ v
        # d cos t + u sin t = 0 at t = pi - atan2(d, u) in (0, pi); the ball meets the wall it
        # just left again after half a circle.
        times = np.arctan2(d, -u)
        if hit:
            times[hit[-1]] = np.pi
        c = int(np.argmin(times))
        t = times[c]
        integral += b * np.sin(t) + v * (1 - np.cos(t))
        arcs.append((length, b, v))
        length += t
        b, v = b * np.cos(t) + v * np.sin(t), v * np.cos(t) - b * np.sin(t)
        v = v - 2 * (v @ walls[c]) * walls[c]
        hit.append(c)
    return Ball(b, v), integral, length, hit, arcs


SPACES = {
    "linear": lambda: teacher_space(20, 5, seed=1),
    "soft rbf": lambda: rbf_space(40, 0.1),
    "hard rbf": lambda: rbf_space(15, 0.0, seed=3),
    "orthant": lambda: orthant_space(6),
    "plane": lambda: teacher_space(7, 2, seed=5),
}


@pytest.fixture(params=SPACES, ids=str)
def space(request):
    return SPACES[request.param]()


# Geometry


def test_arc_integral_is_closed_form():
    t = 1.3
    cos, sin = integrate.quad(np.cos, 0, t)[0], integrate.quad(np.sin, 0, t)[0]
    np.testing.assert_allclose([cos, sin], [np.sin(t), 1 - np.cos(t)], rtol=1e-12)


def test_agrees_with_the_slow_twin(space, rng):
    ball = new_ball(space, 0)
    expected, integral, length, hit, _ = slow_twin(space, ball, 60)
    end, leg = advance(space, ball, rng, 60)
    # Walls are flat, so rounding errors grow linearly with time: 1e-16 * 60 bounces, divided
    # by the smallest margins on the way (about 1e-4).
    np.testing.assert_allclose(end.b, expected.b, atol=1e-9)
    np.testing.assert_allclose(end.v, expected.v, atol=1e-9)
    np.testing.assert_allclose(leg.integral, integral, atol=1e-8)
    np.testing.assert_allclose(leg.length, length, rtol=1e-9)
    np.testing.assert_array_equal(leg.hits, np.bincount(hit, minlength=len(space.signs)))


def test_calls_of_any_length_make_the_same_trajectory(space, rng, monkeypatch):
    ball = new_ball(space, 0)
    whole, leg = advance(space, ball, rng, 60, spacing=0.05, n_draws=40)
    monkeypatch.setattr(module, "WALL_UPDATES_PER_CALL", 7 * len(space.signs))
    parts, other = advance(space, ball, rng, 60, spacing=0.05, n_draws=40)
    np.testing.assert_allclose(parts.b, whole.b, atol=1e-9)
    np.testing.assert_allclose(other.integral, leg.integral, atol=1e-9)
    rank = space.gram.rank
    draws, expected = (d[:, :rank] + space.combine(d[:, rank:]) for d in (other.draws, leg.draws))
    np.testing.assert_allclose(draws, expected, atol=1e-9)
    _, short = advance(space, ball, rng, 60, should_stop=lambda: True)
    assert short.hits.sum() == 7


def test_scatters_as_often_as_it_should(rng, monkeypatch):
    # In an orthant, d_i^2 + u_i^2 of each wall changes only when the ball is scattered.
    space = orthant_space(5)
    monkeypatch.setattr(module, "WALL_UPDATES_PER_CALL", 50)  # calls much shorter than the wait
    ball, changes, n = new_ball(space, 0), 0, 4000
    for _ in range(n // 10):
        end, _ = advance(space, ball, rng, 10, scatter=100)
        changes += not np.allclose(end.b**2 + end.v**2, ball.b**2 + ball.v**2, atol=1e-9)
        ball = end
    # Binomial: of 400 stretches of ten bounces, one in ten has at least one scattering.
    expected = n / 10 * (1 - 0.99**10)
    assert abs(changes - expected) < 4 * np.sqrt(expected)


def test_leaves_the_ball_it_was_given_alone(space, rng):
    ball = new_ball(space, 0)
    b, v = ball.b.copy(), ball.v.copy()
    advance(space, ball, rng, 10, scatter=3)
    np.testing.assert_array_equal(ball.b, b)
    np.testing.assert_array_equal(ball.v, v)


@pytest.mark.parametrize("scatter", [NO_SCATTERING, 1, 7])
def test_stays_inside_on_the_sphere(space, rng, scatter):
    ball = new_ball(space, 1)
    for _ in range(20):
        ball, leg = advance(space, ball, rng, 500, scatter, spacing=0.3, n_draws=50)
        # The ball was just reflected at the last wall, so that margin is zero up to rounding.
        assert space.margins(ball.b).min() > -1e-11
        base, coef = np.hsplit(leg.draws, [space.gram.rank])
        draws = base + space.combine(coef)
        assert space.margins(draws).min() > -1e-11
        np.testing.assert_allclose(np.linalg.norm(draws, axis=1), 1, atol=1e-11)


def test_draws_are_on_the_trajectory(space, rng):
    ball = new_ball(space, 2)
    *_, arcs = slow_twin(space, ball, 40)
    _, leg = advance(space, ball, rng, 40, spacing=0.05, n_draws=30)
    base, coef = np.hsplit(leg.draws, [space.gram.rank])
    draws = base + space.combine(coef)
    starts = np.array([length for length, _, _ in arcs])
    for i, draw in enumerate(draws):
        t = 0.05 * (i + 0.5)
        length, b, v = arcs[np.searchsorted(starts, t) - 1]
        expected = b * np.cos(t - length) + v * np.sin(t - length)
        np.testing.assert_allclose(draw, expected, atol=1e-9)


@pytest.mark.parametrize("scatter", [NO_SCATTERING, 1, 5])
def test_integral_is_that_of_the_path(space, scatter):
    ball = new_ball(space, 5)
    _, leg = advance(space, ball, np.random.default_rng(0), 30, scatter)
    n = 20_000
    _, same = advance(space, ball, np.random.default_rng(0), 30, scatter, leg.length / n, n)
    base, coef = np.hsplit(same.draws, [space.gram.rank])
    positions = base + space.combine(coef)
    # The midpoint rule has an error of (length / n)^2 at each of 30 kinks.
    atol = 30 * (leg.length / n) ** 2 + leg.length * 1e-8
    np.testing.assert_allclose(positions.mean(axis=0) * leg.length, leg.integral, atol=atol)


def test_runs_backwards_to_where_it_came_from(space, rng):
    n = 200
    ball = new_ball(space, 3)
    first, _ = advance(space, ball, rng, 1)
    last, _ = advance(space, ball, rng, n)
    there = _reversed(space, last)
    back, _ = advance(space, there, rng, n - 1)
    np.testing.assert_allclose(back.b, first.b, atol=1e-7)
    np.testing.assert_allclose(back.v, _reversed(space, first).v, atol=1e-7)


def _reversed(space, ball):
    """Send a ball that was just reflected back the way it came."""
    wall = space.walls[np.argmin(np.abs(space.margins(ball.b)))]
    return Ball(ball.b, -(ball.v - 2 * (ball.v @ wall) * wall))
