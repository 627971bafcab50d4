import numpy as np
import pytest

from bayespoint.solvers.propagation.approximation import (
    MIN_TRUST,
    predict,
    solve_cholesky,
    solve_lu,
    trust_in,
)
from bayespoint.solvers.propagation.sites import Sites
from ep_problems import fixed_point, posterior_of, rbf_matrix


def test_cavities_are_posteriors_without_the_own_site(problem):
    K, y, eta = problem
    found = fixed_point(K, y, eta)
    for i in range(len(y)):
        without = Sites(*(np.where(np.arange(len(y)) == i, 0.0, part) for part in found.sites))
        mean, covariance = posterior_of(K, without)
        assert found.cavity_mean[i] == pytest.approx(mean[i], abs=1e-9)
        assert found.cavity_variance[i] == pytest.approx(covariance[i, i], abs=1e-9)


def dense(K, precision, shift):
    """Return q, variances, coefficients and log determinant from their definitions."""
    inverse = np.linalg.inv(np.eye(len(K)) + K * precision)
    covariance = inverse @ K
    coef = np.linalg.solve(K, covariance @ shift)
    return np.diagonal(inverse), np.diagonal(covariance), coef, -np.linalg.slogdet(inverse)[1]


@pytest.mark.parametrize("smallest", [1.0, 1e-6, 1e-9, 1e-14, 0.0])
def test_cholesky_and_lu_agree(smallest, rng):
    K, _ = rbf_matrix(9, 0)
    precision, shift = rng.uniform(0.5, 2, 9), rng.standard_normal(9)
    precision[::3] *= smallest
    expected = dense(K, precision, shift)
    for solve in (solve_cholesky, solve_lu):
        for ours, theirs in zip(solve(K, precision, shift), expected, strict=True):
            # (1 - q) / precision loses most digits at a precision of 1e-8.
            np.testing.assert_allclose(ours, theirs, atol=1e-7, rtol=1e-7)


def test_tiny_precisions_keep_their_digits(rng):
    K, _ = rbf_matrix(9, 0)
    precision, shift = np.full(9, 1e-13), rng.standard_normal(9)
    _, variance, coef, _ = solve_cholesky(K, precision, shift)
    np.testing.assert_allclose(variance, 1, rtol=1e-11)
    np.testing.assert_allclose(coef, shift, rtol=1e-10, atol=1e-11)


def test_predictions_are_those_of_the_gaussian(problem, rng):
    K, y, eta = problem
    found = fixed_point(K, y, eta)
    mean, covariance = posterior_of(K, found.sites)
    # New points: a training point, a point orthogonal to all of them, and one in between.
    across = np.array([K[0], np.zeros(len(K)), 0.6 * K[1]])
    at, variance = predict(K, found, across)
    # The output is a known combination of training outputs plus a rest with its prior variance.
    known = np.linalg.lstsq(K, across.T, rcond=None)[0].T
    rest = 1 - np.sum(known * across, axis=1)
    np.testing.assert_allclose(at, known @ mean, atol=1e-8)
    spread = np.einsum("ij,jk,ik->i", known, covariance, known)
    np.testing.assert_allclose(variance, spread + rest, atol=1e-8)
    assert variance[1] == 1


def test_trust_falls_with_the_mismatch_and_never_ends():
    assert trust_in(0.0) == trust_in(0.1) == 1
    assert trust_in(0.2) == pytest.approx(0.5)
    assert trust_in(1e9) == trust_in(np.inf) == trust_in(np.nan) == MIN_TRUST > 0
