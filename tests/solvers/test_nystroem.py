"""EP on features against EP with the whole matrix, and what may go wrong on the way."""

import numpy as np
import pytest

from bayespoint._runtime.threads import threads
from bayespoint.solvers import EP, Nystroem
from bayespoint.solvers.ep import Sites
from bayespoint.solvers.ep import propagate as propagate_whole
from bayespoint.solvers.nystroem import FEATURE_ROWS_PER_BLOCK, propagate

SOFTNESS = 0.2


def problem(m, n_weights, seed=0):
    """Points that are mostly, but not all, in the span of some features."""
    rng = np.random.default_rng(seed)
    features = rng.standard_normal((m, n_weights))
    features *= rng.uniform(0.7, 1.0, m)[:, None] / np.linalg.norm(features, axis=1)[:, None]
    output = features @ rng.standard_normal(n_weights)
    signs = np.where(output + 0.5 * rng.standard_normal(m) > 0, 1.0, -1.0)
    noise = SOFTNESS + 1 - np.sum(features**2, axis=1)
    return features, signs, noise


def whole_matrix(features, noise):
    """The Gram matrix of outputs with their noise."""
    return features @ features.T + np.diag(noise)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(("m", "n_weights"), [(5, 2), (60, 7), (60, 60)])
def test_agrees_with_the_whole_matrix(m, n_weights, seed):
    features, signs, noise = problem(m, n_weights, seed)
    found = propagate(features, signs, noise, tol=1e-10, max_iter=500)
    twin = propagate_whole(whole_matrix(features, noise), signs, tol=1e-10, max_iter=500)
    # Both fixed points to 1e-10 standard deviations; their condition numbers are below 1e3.
    close = {"rtol": 1e-6, "atol": 1e-7}
    assert found.log_evidence == pytest.approx(twin.log_evidence, abs=1e-6)
    np.testing.assert_allclose(found.cavity_mean, twin.cavity_mean, **close)
    np.testing.assert_allclose(found.cavity_variance, twin.cavity_variance, **close)
    np.testing.assert_allclose(found.mean, features.T @ twin.coef, **close)
    np.testing.assert_allclose(found.pressure, twin.coef, **close)


def test_the_noise_of_each_point_matters():
    features, signs, noise = problem(60, 7)
    twin = propagate_whole(whole_matrix(features, noise), signs, tol=1e-10)
    wrong = propagate(features, signs, np.full(60, SOFTNESS), tol=1e-10)
    assert abs(wrong.log_evidence - twin.log_evidence) > 0.01


def test_covariance_is_that_of_the_sites():
    features, signs, noise = problem(60, 7)
    found = propagate(features, signs, noise)
    precision = np.eye(7) + features.T @ (found.sites.precision[:, None] * features)
    np.testing.assert_allclose(found.root @ found.root.T, np.linalg.inv(precision), atol=1e-12)


def test_single_precision_is_enough():
    features, signs, noise = problem(2 * FEATURE_ROWS_PER_BLOCK + 7, 20)
    double = propagate(features, signs, noise, tol=1e-4)
    single = propagate(features.astype(np.float32), signs, noise, tol=1e-4)
    assert single.residual <= 1e-4
    # Rounding changes precisions by some of its units for each of them.
    deviation = np.sqrt(np.diagonal(double.root @ double.root.T))
    assert np.abs((single.mean - double.mean) / deviation).max() < 1e-2


def test_a_nearly_hard_boundary_in_single_precision():
    features, signs, _ = problem(5000, 50)
    signs = np.where(features @ np.arange(1, 51) > 0, 1.0, -1.0)
    features /= np.linalg.norm(features, axis=1)[:, None]
    noise = np.full(5000, 1e-6)
    found = propagate(features.astype(np.float32), signs, noise, max_iter=200)
    assert np.isfinite(found.log_evidence)
    assert np.mean(np.sign(features @ found.mean) == signs) > 0.99


def test_threads_do_not_matter():
    material = problem(3 * FEATURE_ROWS_PER_BLOCK + 5, 10)
    alone = propagate(*material)
    with threads(2) as thread_map:
        together = propagate(*material, thread_map=thread_map)
    np.testing.assert_array_equal(alone.mean, together.mean)
    assert alone.log_evidence == together.log_evidence


def test_going_on_from_sites():
    material = problem(200, 10)
    found = propagate(*material, tol=1e-9, max_iter=200)
    again = propagate(*material, tol=1e-6, sites=found.sites)
    assert again.n_iter == 1
    np.testing.assert_allclose(again.mean, found.mean, atol=1e-6)
    assert propagate(*material, tol=1e-6).n_iter > 1


def test_sites_that_are_given_stay_as_they_are():
    features, signs, noise = problem(50, 5)
    start = Sites(np.ones(50), signs.copy())
    propagate(features, signs, noise, sites=start)
    np.testing.assert_array_equal(start.precision, 1.0)
    np.testing.assert_array_equal(start.shift, signs)


def test_a_sweep_that_is_broken_off_changes_nothing():
    material = problem(3 * FEATURE_ROWS_PER_BLOCK, 5)
    one = propagate(*material, max_iter=1)
    broken = propagate(*material, break_off=lambda: True)
    assert broken.n_iter == 1
    np.testing.assert_array_equal(broken.mean, one.mean)


def test_draws_are_those_of_the_gaussian():
    features, signs, noise = problem(100, 4)
    solver = Nystroem(n_draws=20_000, tol=1e-8)
    posterior = solver.solve(features, signs, noise, np.random.default_rng(0))
    np.testing.assert_allclose(np.linalg.norm(posterior.draws, axis=1), 1)
    found = propagate(features, signs, noise, tol=1e-8)
    direct = np.random.default_rng(1).multivariate_normal(
        found.mean, found.root @ found.root.T, 20_000
    )
    direct /= np.linalg.norm(direct, axis=1)[:, None]
    # Two means of 20,000 with deviations of at most one: five standard errors.
    gap = np.abs(posterior.draws.mean(axis=0) - direct.mean(axis=0)).max()
    assert gap < 5 * np.sqrt(2 / 20_000)


def test_what_is_known_is_what_ep_knows():
    features, signs, noise = problem(40, 4)
    info = Nystroem().solve(features, signs, noise, np.random.default_rng(0)).info
    assert {"angle", "ess", "mixed", "n_iter", "residual", "log_evidence", "hits"} <= info.keys()
    assert info["stop"] == "tol"
    late = Nystroem().solve(features, signs, noise, np.random.default_rng(0), deadline=0.0)
    assert late.info["stop"] == "max_time"
    assert Nystroem(max_iter=1).solve(features, signs, noise, np.random.default_rng(0)).info[
        "stop"
    ] == ("max_iter")
    assert EP().n_draws == Nystroem().n_draws


@pytest.mark.parametrize(
    "parameter", [{"n_landmarks": 0}, {"max_iter": 0}, {"tol": -1}, {"n_draws": 1}], ids=str
)
def test_parameters_are_checked(parameter):
    with pytest.raises(ValueError, match=next(iter(parameter))):
        Nystroem(**parameter).solve(*problem(10, 2), np.random.default_rng(0))
