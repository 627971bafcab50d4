import numpy as np
import pytest
from scipy import special

from bayespoint.solvers.propagation.on_gram import propagate
from bayespoint.solvers.weights.multiclass.class_weights import basis
from bayespoint.solvers.weights.multiclass.probabilities import log_probabilities
from multiclass_helpers import comparisons, fit, prior_of, problem


@pytest.mark.parametrize("noise", [1.0, 0.1])
def test_full_covariance_is_ep_for_all_comparisons_at_once(noise):
    # Independent solver: the score differences of all rows are one Gaussian process.
    C, variance = 4, 0.7
    X, y = problem(C, n=12)
    H = basis(C)
    A = np.concatenate([np.kron(comparisons(C, c) @ H, x) for c, x in zip(y, X, strict=True)])
    matrix = variance * A @ A.T
    for i, c in enumerate(y):
        at = slice(i * (C - 1), (i + 1) * (C - 1))
        matrix[at, at] += noise * comparisons(C, c) @ comparisons(C, c).T
    twin = propagate(matrix, np.ones(len(matrix)), tol=1e-12, max_iter=5000)
    found = fit("full", X, y, C, noise=noise)
    np.testing.assert_allclose(found.belief.mean(), variance * A.T @ twin.coef, atol=1e-7)
    assert found.log_evidence == pytest.approx(twin.log_evidence, abs=1e-7)
    prior = prior_of(3, C, "full", variance * 1.01)
    assert abs(fit("full", X, y, C, prior, noise=noise).log_evidence - twin.log_evidence) > 1e-4


@pytest.mark.parametrize("noise", [1.0, 0.25])
def test_posterior_and_evidence_against_weighted_draws_from_the_prior(noise):
    C, d, n, n_draws = 3, 2, 10, 100_000
    X, y = problem(C, n, d, seed=3)
    rng = np.random.default_rng(0)
    v = rng.standard_normal((n_draws, (C - 1) * d)) * np.sqrt(0.7)
    scores = np.einsum("ck,nkd,id->nic", basis(C), v.reshape(-1, C - 1, d), X)
    t, share = np.polynomial.hermite_e.hermegauss(20)
    log_weight = np.zeros(n_draws)
    for i in range(n):
        less = (scores[:, i, y[i], None] - np.delete(scores[:, i], y[i], axis=1)) / np.sqrt(noise)
        given = [s * special.ndtr(less + t_).prod(axis=1) for t_, s in zip(t, share, strict=True)]
        log_weight += np.log(np.sum(given, axis=0) / share.sum() + 1e-300)
    weight = np.exp(log_weight)
    evidence = np.log(weight.mean())
    error = weight.std() / weight.mean() / np.sqrt(n_draws)
    weight /= weight.sum()
    mean = weight @ v
    covariance = (v - mean).T @ ((v - mean) * weight[:, None])
    effective = 1 / np.sum(weight**2)
    found = fit("full", X, y, C, noise=noise)
    # The error of EP itself is about 0.01 in log Z for each undecided comparison, and a few
    # percent in a variance.
    assert abs(found.log_evidence - evidence) < 0.06 + 4.5 * error
    off = np.abs(found.belief.mean() - mean) / np.sqrt(np.diag(covariance))
    assert off.max() < 0.06 + 4.5 / np.sqrt(effective)
    ratio = np.diag(found.belief.covariance()) / np.diag(covariance)
    assert np.abs(ratio - 1).max() < 0.12 + 4.5 * np.sqrt(2 / effective)
    # Noise that is four times too large would be noticed.
    wrong = fit("full", X, y, C, noise=4 * noise)
    assert np.abs(np.diag(wrong.belief.covariance()) / np.diag(covariance) - 1).max() > 0.2


def test_hard_boundaries_are_learned():
    X, _ = problem(3, n=60)
    y = np.argmax(X, axis=1)
    found = fit("full", X, y, 3, noise=0.0, max_iter=100, tol=1e-3)
    log_p = log_probabilities(X, found.belief, 3, 0.0)
    np.testing.assert_array_equal(log_p.argmax(axis=1), y)
