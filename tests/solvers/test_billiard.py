import time

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy import integrate, special, stats

import bayespoint._jit.billiard as compiled
from bayespoint.geometry.gram import unit_gram
from bayespoint.geometry.great_circle import random_tangent
from bayespoint.geometry.version_space import VersionSpace
from bayespoint.solvers import Billiard
from bayespoint.solvers import billiard as module
from bayespoint.solvers.billiard import NEVER, Ball, advance, wall_costs
from bayespoint.solvers.rounds import MIXED
from helpers import (
    angle_between,
    angular_std_error,
    orthant_space,
    processor_time_below,
    rbf_space,
    rejection_sample,
    slow_but_for,
    teacher_space,
)
from mutants import mutant


def new_ball(space, seed):
    rng = np.random.default_rng(seed)
    b = space.enter(rng)
    return Ball(b, random_tangent(b, rng))


def bayes_point(posterior, space):
    return space.combine(posterior.coef)


def slow_twin(space, ball, n_bounces):
    """Bounce as a physicist would write it; return ball, integral, length, walls, arcs."""
    walls = space.walls
    b, v = ball
    integral, length, hit, arcs = np.zeros_like(b), 0.0, [], []
    for _ in range(n_bounces):
        d, u = walls @ b, walls @ v
        # d cos t + u sin t = 0 at t = pi - atan2(d, u) in (0, pi); the wall just left
        # is met again after half a circle.
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
    # Walls are flat, so rounding errors grow in proportion to time: 1e-16 * 60 bounces,
    # divided by the smallest margins on the way (1e-4 or so).
    np.testing.assert_allclose(end.b, expected.b, atol=1e-9)
    np.testing.assert_allclose(end.v, expected.v, atol=1e-9)
    np.testing.assert_allclose(leg.integral, integral, atol=1e-8)
    np.testing.assert_allclose(leg.length, length, rtol=1e-9)
    np.testing.assert_array_equal(leg.hits, np.bincount(hit, minlength=len(space.signs)))


def test_calls_of_any_length_make_the_same_trajectory(space, rng, monkeypatch):
    ball = new_ball(space, 0)
    whole, leg = advance(space, ball, rng, 60, spacing=0.05, n_draws=40)
    monkeypatch.setattr(module, "CALL_WORK", 7 * len(space.signs))
    parts, other = advance(space, ball, rng, 60, spacing=0.05, n_draws=40)
    np.testing.assert_allclose(parts.b, whole.b, atol=1e-9)
    np.testing.assert_allclose(other.integral, leg.integral, atol=1e-9)
    rank = space.gram.rank
    draws, expected = (d[:, :rank] + space.combine(d[:, rank:]) for d in (other.draws, leg.draws))
    np.testing.assert_allclose(draws, expected, atol=1e-9)
    _, short = advance(space, ball, rng, 60, should_stop=lambda: True)
    assert short.hits.sum() == 7


def test_scatters_as_often_as_it_should(rng, monkeypatch):
    # In an orthant the sum of d_i^2 + u_i^2 over walls changes only when scattered.
    space = orthant_space(5)
    monkeypatch.setattr(module, "CALL_WORK", 50)  # calls much shorter than the wait
    ball, changes, n = new_ball(space, 0), 0, 4000
    for _ in range(n // 10):
        end, _ = advance(space, ball, rng, 10, scatter=100)
        changes += not np.allclose(end.b**2 + end.v**2, ball.b**2 + ball.v**2, atol=1e-9)
        ball = end
    # Binomial: one in ten of 400 stretches of ten bounces has at least one.
    expected = n / 10 * (1 - 0.99**10)
    assert abs(changes - expected) < 4 * np.sqrt(expected)


def test_leaves_the_ball_it_was_given_alone(space, rng):
    ball = new_ball(space, 0)
    b, v = ball.b.copy(), ball.v.copy()
    advance(space, ball, rng, 10, scatter=3)
    np.testing.assert_array_equal(ball.b, b)
    np.testing.assert_array_equal(ball.v, v)


@pytest.mark.parametrize("scatter", [NEVER, 1, 7])
def test_stays_inside_on_the_sphere(space, rng, scatter):
    ball = new_ball(space, 1)
    for _ in range(20):
        ball, leg = advance(space, ball, rng, 500, scatter, spacing=0.3, n_draws=50)
        # The last wall was just reflected on, so its margin is zero but for rounding.
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


@pytest.mark.parametrize("scatter", [NEVER, 1, 5])
def test_integral_is_that_of_the_path(space, scatter):
    ball = new_ball(space, 5)
    _, leg = advance(space, ball, np.random.default_rng(0), 30, scatter)
    n = 20_000
    _, same = advance(space, ball, np.random.default_rng(0), 30, scatter, leg.length / n, n)
    base, coef = np.hsplit(same.draws, [space.gram.rank])
    positions = base + space.combine(coef)
    # The midpoint rule: an error of (length / n)^2 for each of 30 kinks.
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
    """Turn a ball that was just reflected back to where it came from."""
    wall = space.walls[np.argmin(np.abs(space.margins(ball.b)))]
    return Ball(ball.b, -(ball.v - 2 * (ball.v @ wall) * wall))


@pytest.mark.parametrize("scatter", [NEVER, 100])
def test_does_not_drift(space, rng, scatter):
    ball = new_ball(space, 4)
    d, u = space.margins(ball.b), space.margins(ball.v)
    n, gram = 200_000, space.gram
    end = compiled.fly(
        compiled.Walls(gram.matrix, gram.factor, gram.extent, space.signs, wall_costs(space)),
        compiled.Motion(ball.b, 0 * d, ball.v, 0 * d),
        compiled.Margins(d, u, np.ones_like(d)),
        *(n, scatter, rng, compiled.Schedule(np.inf, np.inf, 0)),
    )
    flight = compiled.Flight(*end)
    b = flight.b_base + space.combine(flight.b_coef)
    v = flight.v_base + space.combine(flight.v_coef)
    # n roundings of 1e-16 at worst add up to 2e-11; coefficients of size 100 to 1e-9.
    np.testing.assert_allclose(space.margins(b), d, atol=1e-9)
    np.testing.assert_allclose(space.margins(v), u, atol=1e-9)
    np.testing.assert_allclose([b @ b, v @ v, b @ v], [1, 1, 0], atol=1e-9)


# The law


def assert_law(space, seed=0, n_truth=100_000, **options):
    """Compare mean direction and resultant with rejection sampling."""
    rng = np.random.default_rng(seed)
    truth = rejection_sample(space, n_truth, rng)
    posterior = Billiard(tol=0.002, **options).solve(space, rng)
    w = bayes_point(posterior, space)
    std_error = np.hypot(angular_std_error(truth), posterior.info["angle"])
    assert angle_between(w, truth.mean(axis=0)) <= 3 * std_error
    # The length of the mean: variance of a single hypothesis along it is at most 1 - it.
    length = np.linalg.norm(w)
    assert length <= 1
    spread = np.sqrt(1 - length**2) * np.sqrt(1 / n_truth + 1 / posterior.info["ess"])
    assert abs(length - np.linalg.norm(truth.mean(axis=0))) <= 3 * spread


@settings(max_examples=20, deadline=None, derandomize=True)
@given(
    n_dimensions=st.integers(2, 4),
    n_points=st.integers(2, 12),
    seed=st.integers(0, 2**32 - 1),
)
def test_agrees_with_rejection_sampling(n_dimensions, n_points, seed):
    space = teacher_space(n_points, n_dimensions, seed)
    accepted = np.mean(
        np.all(
            space.margins(np.random.default_rng(0).standard_normal((4000, space.gram.rank))) > 0,
            axis=1,
        )
    )
    assume(accepted > 0.01 and space.gram.rank > 1)
    assert_law(space, seed)


@pytest.mark.parametrize("softness", [0.05, 1.0])
def test_softness_is_noise_on_the_output(softness):
    # Draw f ~ N(0, K) and noisy labels sign(f + N(0, softness)), keep those that agree
    # with y: the mean of f given y is k_x (K + softness)^-1 E[f + noise | y].
    rng = np.random.default_rng(0)
    X = np.array([-1.0, -0.3, 0.4, 1.1])
    y = np.array([1.0, 1.0, -1.0, 1.0])
    K = np.exp(-((X[:, None] - X) ** 2) / 2)
    noisy = rng.multivariate_normal(np.zeros(4), K + softness * np.eye(4), size=2_000_000)
    kept = noisy[np.all(noisy * y > 0, axis=1)]
    kept = np.linalg.solve(K + softness * np.eye(4), kept.T).T @ K
    space = VersionSpace(unit_gram(K, softness), y)
    posterior = Billiard(tol=0.002).solve(space, rng)
    f = K @ (posterior.coef * y / space.gram.lengths)
    # In outputs of the training points, relative to their common scale.
    ratio = kept.mean(axis=0) / f
    error = kept.std(axis=0) / np.sqrt(len(kept)) / np.abs(f)
    error = np.hypot(error, ratio.mean() * posterior.info["angle"] * np.linalg.norm(f) / np.abs(f))
    assert np.all(np.abs(ratio - np.average(ratio, weights=error**-2)) <= 3 * error)


def test_orthant_has_a_known_mean():
    # Uniform on the orthant of the sphere: E|g_i| / E|g| in every component.
    n = 20
    chi = np.sqrt(2) * np.exp(special.gammaln((n + 1) / 2) - special.gammaln(n / 2))
    space = orthant_space(n)
    posterior = Billiard(tol=0.005).solve(space, np.random.default_rng(0))
    w = bayes_point(posterior, space)
    std_error = np.sqrt((1 - w @ w) / posterior.info["ess"] / n)
    np.testing.assert_allclose(w, np.sqrt(2 / np.pi) / chi, atol=4 * std_error)


def test_without_scattering_the_orthant_remembers_its_start():
    # d_i^2 + u_i^2 never changes there: the reason why scattering is the default.
    space = orthant_space(20)
    rng = np.random.default_rng(0)
    start = np.append(np.full(19, 0.01), 1.0)
    start /= np.linalg.norm(start)
    ball = Ball(start, random_tangent(start, rng))
    end, _ = advance(space, ball, rng, 1000)
    np.testing.assert_allclose(end.b**2 + end.v**2, ball.b**2 + ball.v**2, atol=1e-9)
    posterior = Billiard(tol=0.005, scatter=None, n_bounces=200_000).solve(space, rng, start=start)
    with_scattering = Billiard(tol=0.02).solve(space, rng, start=start)
    assert angle_between(bayes_point(posterior, space), np.ones(20)) > 0.3
    assert angle_between(bayes_point(with_scattering, space), np.ones(20)) < 0.1


def test_wedge_gives_its_bisector():
    for angle in [0.3, 1.0, 3.0]:
        normals = np.array([[0.0, 1.0], [np.sin(angle), -np.cos(angle)]])
        space = VersionSpace(unit_gram(normals @ normals.T, 0.0), np.ones(2))
        posterior = Billiard(tol=1e-3).solve(space, np.random.default_rng(0))
        # sum of the coefficients of a bisector are equal for unit normals.
        w = posterior.coef @ normals
        assert angle_between(w, np.array([np.cos(angle / 2), np.sin(angle / 2)])) < 1e-6
        np.testing.assert_allclose(np.linalg.norm(w), np.sin(angle / 2) / (angle / 2), rtol=1e-6)


def test_draws_have_the_right_second_moments():
    space = teacher_space(8, 3, seed=11)
    rng = np.random.default_rng(0)
    truth = rejection_sample(space, 100_000, rng)
    posterior = Billiard(tol=0.002, n_draws=4000).solve(space, rng)
    draws = space.combine(posterior.draws)
    for i in range(3):
        # Draws of a ball are 2 pi or so apart and nearly independent.
        result = stats.ks_2samp(draws[:, i], truth[:, i])
        assert result.pvalue > 1e-3


def test_calibrated_by_simulation():
    # A teacher from the prior, labels by it, the posterior of the labels: the teacher's
    # rank among posterior draws is uniform (Talts et al., 2018).
    rng = np.random.default_rng(0)
    n_draws, ranks = 19, []
    for _ in range(200):
        X = rng.standard_normal((12, 4))
        teacher = rng.standard_normal(4)
        teacher /= np.linalg.norm(teacher)
        y = np.where(X @ teacher > 0, 1.0, -1.0)
        space = VersionSpace(unit_gram(X @ X.T, 0.0), y)
        # tol is not what matters here: enough bounces that 19 draws are independent.
        solver = Billiard(n_draws=n_draws, n_bounces=40_000, tol=0)
        posterior = solver.solve(space, rng)
        units = X / np.linalg.norm(X, axis=1, keepdims=True)
        w = (posterior.draws * y) @ units
        probe = rng.standard_normal(4)
        ranks.append(np.sum(w @ probe < teacher @ probe))
    counts = np.bincount(ranks, minlength=n_draws + 1).reshape(5, -1).sum(axis=1)
    assert stats.chisquare(counts).pvalue > 1e-3


WRONG = {
    "reflects too little": ("leave = -normal", "leave = -0.9 * normal"),
    "moves coefficients the wrong way": ("p[c] -= kick * turn_sin", "p[c] += kick * turn_sin"),
    "scatters along the normal": ("r = math.sqrt(-2.0", "r = 3.0 * math.sqrt(-2.0"),
    "scatters without a normal part": ("push = (leave - g_z) / norm", "push = leave / norm"),
    "scatters away from the sphere": ("g_b += g_margin[j] * b_j", "g_b += 0.0 * b_j"),
}


QUICK = ("moves coefficients the wrong way", "scatters without a normal part")


@pytest.mark.parametrize("wrong", slow_but_for(WRONG, *QUICK))
def test_a_broken_billiard_fails_the_law(wrong, monkeypatch):
    monkeypatch.setattr(compiled, "fly", mutant(compiled, *WRONG[wrong]).fly)
    with pytest.raises(AssertionError):
        assert_law_of_three()


def test_the_right_billiard_passes_where_the_broken_ones_fail():
    assert_law_of_three()


def assert_law_of_three():
    for seed in range(3):
        assert_law(teacher_space(6, 4, seed), seed, scatter=5, n_bounces=400_000)


# The error bar


def test_error_bar_is_honest():
    # Root mean square of actual over estimated angle. For 30 runs with at least 4
    # effective dimensions its standard deviation is below 0.1, and the estimate from 8
    # chains is itself uncertain by some 15 percent; it is cautious by construction.
    space = rbf_space(30, 0.1)
    rng = np.random.default_rng(0)
    truth = bayes_point(Billiard(tol=0.004, n_bounces=50_000_000).solve(space, rng), space)
    ratios = []
    for seed in range(30):
        posterior = Billiard(tol=0.1).solve(space, np.random.default_rng(seed))
        ratios.append(angle_between(bayes_point(posterior, space), truth) / posterior.info["angle"])
    assert 0.5 < np.sqrt(np.mean(np.square(ratios))) < 1.3


# Behavior


def test_stops_at_tol_and_says_so():
    posterior = Billiard(tol=0.1).solve(rbf_space(30, 0.1), np.random.default_rng(0))
    assert posterior.info["stop"] == "tol"
    assert posterior.info["angle"] <= 0.1
    assert posterior.info["r_hat"] <= MIXED
    assert posterior.info["hits"].sum() == posterior.info["n_bounces"]


def test_stops_at_n_bounces():
    for n_bounces in [1, 8, 1000, 12_345]:
        posterior = Billiard(tol=0, n_bounces=n_bounces).solve(
            rbf_space(30, 0.1), np.random.default_rng(0)
        )
        assert posterior.info["stop"] == "n_bounces"
        assert posterior.info["n_bounces"] <= max(n_bounces, 8)
        assert np.isfinite(posterior.coef).all()
        assert np.isfinite(posterior.draws).all()


def test_stops_at_the_deadline():
    space, solver = rbf_space(50, 0.1), Billiard(tol=0, n_bounces=10**12)
    solver.solve(space, np.random.default_rng(0), deadline=0)  # compiled now
    with processor_time_below(5):  # a call takes about 50 ms for each of 8 balls
        deadline = time.perf_counter() + 0.3
        posterior = solver.solve(space, np.random.default_rng(0), deadline=deadline)
    assert posterior.info["stop"] == "max_time"


def test_interrupt_keeps_the_answer(monkeypatch):
    calls = []

    def interrupted(*args, **kwargs):
        calls.append(args)
        if len(calls) == 8 * 3 + 4:
            raise KeyboardInterrupt
        return advance(*args, **kwargs)

    monkeypatch.setattr(module, "advance", interrupted)
    posterior = Billiard(tol=0).solve(rbf_space(30, 0.1), np.random.default_rng(0))
    assert posterior.info["stop"] == "interrupted"
    assert np.isfinite(posterior.coef).all()


def test_interrupt_before_anything_is_known_is_an_interrupt(monkeypatch):
    def interrupted(*args, **kwargs):
        raise KeyboardInterrupt

    monkeypatch.setattr(module, "advance", interrupted)
    with pytest.raises(KeyboardInterrupt):
        Billiard().solve(rbf_space(30, 0.1), np.random.default_rng(0))


def test_stops_when_asked_to():
    seen = []

    def on_round(info):
        seen.append(info["n_bounces"])
        return len(seen) == 3

    posterior = Billiard(tol=0).solve(
        rbf_space(30, 0.1), np.random.default_rng(0), on_round=on_round
    )
    assert posterior.info["stop"] == "callback"
    assert len(seen) == 3
    assert seen == sorted(seen)


def test_same_seed_same_answer_whatever_n_jobs():
    space = rbf_space(60, 0.1)
    one, two, other = (
        Billiard().solve(space, np.random.default_rng(seed), n_jobs=n_jobs)
        for seed, n_jobs in [(0, 1), (0, 2), (1, 1)]
    )
    np.testing.assert_array_equal(one.coef, two.coef)
    np.testing.assert_array_equal(one.draws, two.draws)
    assert not np.array_equal(one.coef, other.coef)


def test_a_single_hypothesis():
    space = VersionSpace(unit_gram(np.ones((3, 3)), 0.0), np.ones(3))
    posterior = Billiard().solve(space, np.random.default_rng(0))
    np.testing.assert_allclose(space.margins(bayes_point(posterior, space)), 1)


@pytest.mark.parametrize(
    "parameters",
    [
        {"n_bounces": 0},
        {"n_chains": 1},
        {"tol": -1},
        {"scatter": 0},
        {"n_draws": 0},
        {"algorithm": "pinball"},
    ],
)
def test_wrong_parameters(parameters):
    with pytest.raises(ValueError, match=next(iter(parameters))):
        Billiard(**parameters).solve(orthant_space(3), np.random.default_rng(0))
