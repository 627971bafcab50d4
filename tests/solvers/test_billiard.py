import time

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy import special, stats

import bayespoint._jit.billiard as compiled
from bayespoint.geometry.gram import unit_gram
from bayespoint.geometry.great_circle import random_tangent
from bayespoint.geometry.version_space import VersionSpace
from bayespoint.solvers import Billiard
from bayespoint.solvers import billiard as module
from bayespoint.solvers.ball import Ball, advance
from bayespoint.solvers.rounds import MAX_R_HAT
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


def bayes_point(posterior, space):
    return space.combine(posterior.coef)


# The law


def assert_law(space, seed=0, n_truth=100_000, **options):
    """Compare mean direction and resultant length with rejection sampling."""
    rng = np.random.default_rng(seed)
    truth = rejection_sample(space, n_truth, rng)
    posterior = Billiard(tol=0.002, **options).solve(space, rng)
    w = bayes_point(posterior, space)
    std_error = np.hypot(angular_std_error(truth), posterior.info["angle"])
    assert angle_between(w, truth.mean(axis=0)) <= 3 * std_error
    # The variance of a single hypothesis along the mean is at most 1 - length^2.
    length = np.linalg.norm(w)
    assert length <= 1
    spread = np.sqrt(1 - length**2) * np.sqrt(1 / n_truth + 1 / posterior.info["ess"])
    assert abs(length - np.linalg.norm(truth.mean(axis=0))) <= 3 * spread


@settings(max_examples=20, derandomize=True)
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
    # Draw f ~ N(0, K) and noisy labels sign(f + N(0, softness)); keep draws that agree with y.
    # The mean of f given y is k_x (K + softness)^-1 E[f + noise | y].
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
    # Compare outputs of the training points, relative to their common scale.
    ratio = kept.mean(axis=0) / f
    error = kept.std(axis=0) / np.sqrt(len(kept)) / np.abs(f)
    error = np.hypot(error, ratio.mean() * posterior.info["angle"] * np.linalg.norm(f) / np.abs(f))
    assert np.all(np.abs(ratio - np.average(ratio, weights=error**-2)) <= 3 * error)


def test_orthant_has_a_known_mean():
    # Every component of the mean over the orthant of the sphere is E|g_i| / E|g|.
    n = 20
    chi = np.sqrt(2) * np.exp(special.gammaln((n + 1) / 2) - special.gammaln(n / 2))
    space = orthant_space(n)
    posterior = Billiard(tol=0.005).solve(space, np.random.default_rng(0))
    w = bayes_point(posterior, space)
    std_error = np.sqrt((1 - w @ w) / posterior.info["ess"] / n)
    np.testing.assert_allclose(w, np.sqrt(2 / np.pi) / chi, atol=4 * std_error)


def test_without_scattering_the_orthant_remembers_its_start():
    # d_i^2 + u_i^2 never changes in an orthant, so scattering is on by default.
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
        # For unit normals, the coefficients of a bisector are equal.
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
        # Draws of one ball are about 2 pi apart and nearly independent.
        result = stats.ks_2samp(draws[:, i], truth[:, i])
        assert result.pvalue > 1e-3


def test_calibrated_by_simulation():
    # Draw a teacher from the prior, label points with it, and sample the posterior: the
    # teacher's rank among posterior draws is uniform (Talts et al., 2018).
    rng = np.random.default_rng(0)
    n_draws, ranks = 19, []
    for _ in range(200):
        X = rng.standard_normal((12, 4))
        teacher = rng.standard_normal(4)
        teacher /= np.linalg.norm(teacher)
        y = np.where(X @ teacher > 0, 1.0, -1.0)
        space = VersionSpace(unit_gram(X @ X.T, 0.0), y)
        # tol does not matter here: bounces must suffice to make 19 draws independent.
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
    # Root mean square of the actual over the estimated angle. For 30 runs with at least 4
    # effective dimensions its standard deviation is below 0.1. The estimate from 8 chains is
    # itself uncertain by about 15 percent; it is cautious by construction.
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
    assert posterior.info["r_hat"] <= MAX_R_HAT
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
    solver.solve(space, np.random.default_rng(0), deadline=0)  # compile first
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
