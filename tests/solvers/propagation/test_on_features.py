"""EP on features against EP on the whole matrix, and interrupted or nearly singular runs."""

import numpy as np
import pytest

from bayespoint._runtime.threads import threads
from bayespoint.solvers.propagation import on_features
from bayespoint.solvers.propagation.on_features import FEATURE_ROWS_PER_BLOCK, propagate
from bayespoint.solvers.propagation.on_gram import propagate as propagate_whole
from bayespoint.solvers.propagation.sites import Copies, Sites
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


@pytest.mark.parametrize("seed", range(3))
def test_agrees_with_the_whole_matrix_about_label_noise(seed):
    features, signs, noise = feature_problem(60, 7, seed)
    found = propagate(features, signs, noise, 0.01, tol=1e-10, max_iter=500)
    K = whole_matrix(features, noise)
    twin = propagate_whole(K, signs, 0.01, tol=1e-10, max_iter=500)
    assert twin.sites.precision.min() >= 0  # negative ones would be cut off
    np.testing.assert_allclose(found.pressure, twin.coef, rtol=1e-6, atol=1e-7)
    without = propagate_whole(K, signs, tol=1e-10, max_iter=500)
    assert np.abs(found.pressure - without.coef).max() > 1e-3


def test_the_noise_of_each_point_matters():
    features, signs, noise = feature_problem(60, 7)
    twin = propagate_whole(whole_matrix(features, noise), signs, tol=1e-10)
    wrong = propagate(features, signs, np.full(60, SOFTNESS), tol=1e-10)
    assert abs(wrong.log_evidence - twin.log_evidence) > 0.01


@pytest.mark.parametrize("size", [3, FEATURE_ROWS_PER_BLOCK])
def test_whole_weights_are_repeated_points(size, monkeypatch, rng):
    monkeypatch.setattr(on_features, "FEATURE_ROWS_PER_BLOCK", size)
    features, signs, noise = feature_problem(40, 7)
    weight = rng.integers(1, 5, 40)
    copy = np.repeat(np.arange(40), weight)
    for max_iter in (1, 3, 100):
        ours = propagate(features, signs, noise, weight=weight.astype(float), max_iter=max_iter)
        twin = propagate(features[copy], signs[copy], noise[copy], max_iter=max_iter)
        assert ours.n_iter == twin.n_iter
        # The trajectory is the same up to rounding.
        close = {"rtol": 1e-8, "atol": 1e-10}
        assert ours.log_evidence == pytest.approx(twin.log_evidence, abs=1e-9)
        np.testing.assert_allclose(ours.mean, twin.mean, **close)
        np.testing.assert_allclose(ours.cavity_mean[copy], twin.cavity_mean, **close)
        np.testing.assert_allclose(ours.cavity_variance[copy], twin.cavity_variance, **close)
        np.testing.assert_allclose(ours.pressure, np.bincount(copy, twin.pressure), **close)


@pytest.mark.parametrize("low", [0.05, 1.0])
def test_any_weight_is_the_same_as_on_the_whole_matrix(low, rng):
    features, signs, noise = feature_problem(40, 7)
    weight = rng.uniform(low, 3.0, 40)
    ours = propagate(features, signs, noise, weight=weight, tol=1e-10, max_iter=500)
    matrix = whole_matrix(features, noise / weight)
    twin = propagate_whole(matrix, signs, copies=Copies(weight, noise), tol=1e-10, max_iter=500)
    # Both fixed points are exact to 1e-10 deviations; condition numbers are below 1e3.
    close = {"rtol": 1e-6, "atol": 1e-7}
    assert ours.log_evidence == pytest.approx(twin.log_evidence, abs=1e-6)
    np.testing.assert_allclose(ours.cavity_mean, twin.cavity_mean, **close)
    np.testing.assert_allclose(ours.cavity_variance, twin.cavity_variance, **close)
    np.testing.assert_allclose(ours.mean, features.T @ twin.coef, **close)


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
