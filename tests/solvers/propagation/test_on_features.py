"""EP on features against EP on the whole matrix, and interrupted or nearly singular runs."""

import numpy as np
import pytest

from bayespoint._runtime.threads import threads
from bayespoint.solvers.propagation.on_features import FEATURE_ROWS_PER_BLOCK, propagate
from bayespoint.solvers.propagation.on_gram import propagate as propagate_whole
from bayespoint.solvers.propagation.sites import Sites
from ep_problems import feature_problem

SOFTNESS = 0.2


def whole_matrix(features, noise):
    """Return the Gram matrix of noisy outputs."""
    return features @ features.T + np.diag(noise)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(("m", "n_weights"), [(5, 2), (60, 7), (60, 60)])
def test_agrees_with_the_whole_matrix(m, n_weights, seed):
    features, signs, noise = feature_problem(m, n_weights, seed)
    found = propagate(features, signs, noise, tol=1e-10, max_iter=500)
    twin = propagate_whole(whole_matrix(features, noise), signs, tol=1e-10, max_iter=500)
    # Both fixed points are exact to 1e-10 deviations; condition numbers are below 1e3.
    close = {"rtol": 1e-6, "atol": 1e-7}
    assert found.log_evidence == pytest.approx(twin.log_evidence, abs=1e-6)
    np.testing.assert_allclose(found.cavity_mean, twin.cavity_mean, **close)
    np.testing.assert_allclose(found.cavity_variance, twin.cavity_variance, **close)
    np.testing.assert_allclose(found.mean, features.T @ twin.coef, **close)
    np.testing.assert_allclose(found.pressure, twin.coef, **close)


def test_the_noise_of_each_point_matters():
    features, signs, noise = feature_problem(60, 7)
    twin = propagate_whole(whole_matrix(features, noise), signs, tol=1e-10)
    wrong = propagate(features, signs, np.full(60, SOFTNESS), tol=1e-10)
    assert abs(wrong.log_evidence - twin.log_evidence) > 0.01


def test_covariance_is_that_of_the_sites():
    features, signs, noise = feature_problem(60, 7)
    found = propagate(features, signs, noise)
    precision = np.eye(7) + features.T @ (found.sites.precision[:, None] * features)
    np.testing.assert_allclose(found.root @ found.root.T, np.linalg.inv(precision), atol=1e-12)


def test_single_precision_is_enough():
    features, signs, noise = feature_problem(2 * FEATURE_ROWS_PER_BLOCK + 7, 20)
    double = propagate(features, signs, noise, tol=1e-4)
    single = propagate(features.astype(np.float32), signs, noise, tol=1e-4)
    assert single.residual <= 1e-4
    # Rounding changes each precision by a few units in the last place.
    deviation = np.sqrt(np.diagonal(double.root @ double.root.T))
    assert np.abs((single.mean - double.mean) / deviation).max() < 1e-2


def test_a_nearly_hard_boundary_in_single_precision():
    features, signs, _ = feature_problem(5000, 50)
    signs = np.where(features @ np.arange(1, 51) > 0, 1.0, -1.0)
    features /= np.linalg.norm(features, axis=1)[:, None]
    noise = np.full(5000, 1e-6)
    found = propagate(features.astype(np.float32), signs, noise, max_iter=200)
    assert np.isfinite(found.log_evidence)
    assert np.mean(np.sign(features @ found.mean) == signs) > 0.99


def test_threads_do_not_matter():
    material = feature_problem(3 * FEATURE_ROWS_PER_BLOCK + 5, 10)
    alone = propagate(*material)
    with threads(2) as thread_map:
        together = propagate(*material, thread_map=thread_map)
    np.testing.assert_array_equal(alone.mean, together.mean)
    assert alone.log_evidence == together.log_evidence


def test_going_on_from_sites():
    material = feature_problem(200, 10)
    found = propagate(*material, tol=1e-9, max_iter=200)
    again = propagate(*material, tol=1e-6, sites=found.sites)
    assert again.n_iter == 1
    np.testing.assert_allclose(again.mean, found.mean, atol=1e-6)
    assert propagate(*material, tol=1e-6).n_iter > 1


def test_sites_that_are_given_stay_as_they_are():
    features, signs, noise = feature_problem(50, 5)
    start = Sites(np.ones(50), signs.copy())
    propagate(features, signs, noise, sites=start)
    np.testing.assert_array_equal(start.precision, 1.0)
    np.testing.assert_array_equal(start.shift, signs)


def test_a_sweep_that_is_broken_off_changes_nothing():
    material = feature_problem(3 * FEATURE_ROWS_PER_BLOCK, 5)
    one = propagate(*material, max_iter=1)
    broken = propagate(*material, break_off=lambda: True)
    assert broken.n_iter == 1
    np.testing.assert_array_equal(broken.mean, one.mean)
