import itertools

import numpy as np
import pytest

import bayespoint._jit.onion as compiled
from bayespoint.geometry.great_circle import random_tangent
from bayespoint.solvers import Billiard
from bayespoint.solvers.ball import NO_SCATTERING, Ball, advance
from bayespoint.solvers.onion import follow, peel_onion
from helpers import (
    angle_between,
    angular_std_error,
    orthant_space,
    rbf_space,
    slow_but_for,
    teacher_space,
)
from mutants import mutant

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


def ball_at_a_wall(space, rng):
    start = space.enter(rng)
    return advance(space, Ball(start, random_tangent(start, rng)), rng, 10)[0]


def count_errors(space, w):
    """Return the errors of hypotheses on negative and positive points."""
    wrong = space.margins(w) < 0
    return wrong[..., space.signs < 0].sum(axis=-1), wrong[..., space.signs > 0].sum(axis=-1)


def slow_twin(space, ball, n_bounces, max_errors):
    """Cut arcs at all walls; the middle of each piece determines its cell."""
    walls = space.walls
    b, v = ball
    last = int(np.argmin(np.abs(walls @ b)))
    integral = np.zeros((max_errors + 1, max_errors + 1, len(b)))
    time = np.zeros((max_errors + 1, max_errors + 1))
    for _ in range(n_bounces):
        d, u = walls @ b, walls @ v
        crossings = np.arctan2(d, -u)
        crossings[last] = np.pi
        ends = np.concatenate([[0.0], np.sort(crossings)])
        for begin, end in itertools.pairwise(ends):
            middle = (begin + end) / 2
            n_minus, n_plus = count_errors(space, b * np.cos(middle) + v * np.sin(middle))
            if n_minus <= max_errors and n_plus <= max_errors:
                time[n_minus, n_plus] += end - begin
                chord = 2 * np.sin((end - begin) / 2)  # chord of the arc, along its middle
                integral[n_minus, n_plus] += chord * (b * np.cos(middle) + v * np.sin(middle))
        last = int(np.argmin(crossings))
        t = crossings[last]
        b, v = b * np.cos(t) + v * np.sin(t), v * np.cos(t) - b * np.sin(t)
        v = v - 2 * (v @ walls[last]) * walls[last]
    return Ball(b, v), integral, time


# Geometry


@pytest.mark.parametrize("max_errors", [0, 2, 50])
def test_agrees_with_the_slow_twin(space, max_errors, rng):
    ball = ball_at_a_wall(space, rng)
    expected, expected_integral, expected_time = slow_twin(space, ball, 40, max_errors)
    integral, time = np.zeros_like(expected_integral), np.zeros_like(expected_time)
    end = follow(space, ball, rng, 40, NO_SCATTERING, integral, time)
    # As for the billiard: rounding of 1e-16 in 40 bounces, divided by small margins.
    np.testing.assert_allclose(end.b, expected.b, atol=1e-9)
    np.testing.assert_allclose(end.v, expected.v, atol=1e-9)
    np.testing.assert_allclose(time, expected_time, atol=1e-8)
    np.testing.assert_allclose(integral, expected_integral, atol=1e-8)


def test_all_cells_together_are_half_circles(space, rng):
    n_errors = len(space.signs)
    layers = peel_onion(space, space.enter(rng), rng, n_bounces=800, max_errors=n_errors)
    np.testing.assert_allclose(layers.times.sum(), layers.length, rtol=1e-12)
    n_negative = np.sum(space.signs < 0)
    # No cell has more errors than there are points.
    assert not layers.times[:, n_negative + 1 :].any()


def test_fewer_layers_are_a_part_of_more(space):
    few, many = (
        peel_onion(
            space,
            space.enter(np.random.default_rng(0)),
            np.random.default_rng(0),
            n_bounces=80,
            max_errors=max_errors,
        )
        for max_errors in (1, 4)
    )
    np.testing.assert_allclose(few.times, many.times[:, :2, :2], atol=1e-12)
    np.testing.assert_allclose(few.integrals, many.integrals[:, :2, :2], atol=1e-12)


def test_ball_and_margins_stay_together_and_inside(space, rng):
    ball = ball_at_a_wall(space, rng)
    time = np.zeros((3, 3))
    integral = np.zeros((3, 3, len(ball.b)))
    for scatter in (1, 5, NO_SCATTERING):
        ball = follow(space, ball, rng, 5000, scatter, integral, time)
        np.testing.assert_allclose([ball.b @ ball.b, ball.v @ ball.v], 1, atol=1e-12)
        # On one wall up to the rounding of 5000 bounces, and inside all others.
        assert space.margins(ball.b).min() > -1e-9


# The law


def seen_from_outside(space, n, rng):
    """Draw hypotheses anywhere that see version space in a random direction."""
    w = rng.standard_normal((n, space.gram.rank))
    w /= np.linalg.norm(w, axis=1, keepdims=True)
    v = rng.standard_normal(w.shape)
    v -= np.sum(v * w, axis=1, keepdims=True) * w
    v /= np.linalg.norm(v, axis=1, keepdims=True)
    d, u = space.margins(w), space.margins(v)
    # A margin d cos t + u sin t has one zero in (0, pi), and is positive before or after it.
    zero = np.arctan2(np.abs(d), -u * np.sign(d))
    enter = np.max(np.where(d < 0, zero, 0.0), axis=1)
    leave = np.min(np.where(d > 0, zero, np.pi), axis=1)
    return w[enter < leave]


def assert_law(space, rng):
    """Compare every cell with hypotheses weighted by the solid angle of version space."""
    n_truth, n_bounces, max_errors = 500_000, 400_000, 2
    truth = seen_from_outside(space, n_truth, rng)
    n_minus, n_plus = count_errors(space, truth)
    layers = peel_onion(space, space.enter(rng), rng, n_bounces=n_bounces, max_errors=max_errors)
    times, means, angles = layers.times.sum(axis=0), layers.means(), layers.angles()
    inside = np.sum((n_minus == 0) & (n_plus == 0))
    compared = 0
    for i, j in np.ndindex(times.shape):
        cell = truth[(n_minus == i) & (n_plus == j)]
        if len(cell) < 100:
            continue
        compared += 1
        error = np.hypot(angular_std_error(cell), angles[i, j])
        assert angle_between(means[i, j], cell.mean(axis=0)) <= 4 * error
        ratios = layers.times[:, i, j] / layers.times[:, 0, 0]
        ratio = len(cell) / inside
        error = np.hypot(
            ratios.std(ddof=1) / np.sqrt(len(ratios)), ratio * np.sqrt(1 / len(cell) + 1 / inside)
        )
        assert abs(times[i, j] / times[0, 0] - ratio) <= 4 * error
    assert compared >= 5


def assert_laws(rng):
    # Three problems with 7 to 9 cells each. With eight balls (Student distribution, 7 degrees
    # of freedom), four standard errors give a false alarm in at most about one of ten runs.
    for seed in range(3):
        assert_law(teacher_space(8, 4, seed=seed), rng)


def test_cells_are_weighted_by_the_solid_angle_of_version_space(rng):
    assert_laws(rng)


WRONG = {
    "counts all errors as positive": ("if y[wall[i]] < 0:", "if y[wall[i]] < -2:"),
    "integrates the wrong way": ("cos - cos_next", "cos_next - cos"),
    "scatters along the normal": ("r = math.sqrt(-2.0", "r = 3.0 * math.sqrt(-2.0"),
    "forgets how long pieces are": ("+= t_next - t", "+= 1.0"),
}


QUICK = ("integrates the wrong way",)


@pytest.mark.parametrize("wrong", slow_but_for(WRONG, *QUICK))
def test_a_broken_onion_fails_the_law(wrong, rng, monkeypatch):
    monkeypatch.setattr(compiled, "peel", mutant(compiled, *WRONG[wrong]).peel)
    with pytest.raises(AssertionError):
        assert_laws(rng)


def test_without_errors_it_is_the_bayes_point(space, rng):
    layers = peel_onion(space, space.enter(rng), rng, n_bounces=200_000, max_errors=1)
    posterior = Billiard(tol=0.01).solve(space, rng)
    error = np.hypot(layers.angles()[0, 0], posterior.info["angle"])
    # In the plane both answers are exact up to rounding.
    assert angle_between(layers.means()[0, 0], space.combine(posterior.coef)) <= 3 * error + 1e-9


def test_the_error_is_infinite_where_it_is_not_known(rng):
    space = orthant_space(6)  # no negative points
    layers = peel_onion(space, space.enter(rng), rng, n_bounces=100, max_errors=1)
    assert np.isfinite(layers.angles()[0]).all()
    assert np.isinf(layers.angles()[1]).all()
    assert np.isnan(layers.means()[1]).all()
