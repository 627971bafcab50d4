"""Draws, votes and sampling errors of a fitted model, against explicit sums."""

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.metrics.pairwise import rbf_kernel

from bayespoint import BayesPointClassifier
from bayespoint.solvers import Billiard

FAST = Billiard(n_bounces=4000, n_chains=4, n_draws=12, tol=0)


@pytest.fixture(scope="module", params=[2, 3])
def fitted(request):
    X, y = load_iris(return_X_y=True)
    X, y = X[y < request.param][::2], y[y < request.param][::2]
    model = BayesPointClassifier(
        gamma=0.5, softness=0.2, fit_intercept=False, solver=FAST, random_state=0
    )
    with pytest.warns(UserWarning, match="stopped early"):
        return model.fit(X, y), X, y


def outputs(model, X, coef):
    """Return kernel values times coefficients; points of an rbf kernel have unit length."""
    return coef @ rbf_kernel(model.support_vectors_, X, gamma=0.5)


def test_decisions_are_sums_over_support_vectors(fitted):
    model, X, _ = fitted
    expected = outputs(model, X, model.dual_coef_)
    np.testing.assert_allclose(np.atleast_2d(model.decision_function(X).T), expected, atol=1e-12)


def test_draws_are_sums_over_support_vectors(fitted):
    model, X, _ = fitted
    draws = model.sample_decision(X)
    expected = np.moveaxis(outputs(model, X, model.draw_coef_), 0, -1)
    np.testing.assert_allclose(draws.reshape(expected.shape), expected, atol=1e-12)
    np.testing.assert_array_equal(model.sample_decision(X, 12), draws)
    assert model.sample_decision(X, 3).shape[0] == 3


def test_votes_and_errors_come_from_the_draws(fitted):
    model, X, y = fitted
    draws = model.sample_decision(X)
    winners = draws.argmax(axis=-1) if draws.ndim == 3 else (draws > 0).astype(int)
    counts = np.stack([(winners == c).sum(axis=0) for c in model.classes_])
    np.testing.assert_array_equal(model.predict_vote(X), counts.argmax(axis=0))
    np.testing.assert_allclose(model.draw_errors(X, y), (winners != y).mean(axis=1))


def test_the_sampling_error_is_that_of_a_mean_of_chains(fitted):
    model, X, _ = fitted
    chains = outputs(model, X, model.chain_coef_)
    expected = (chains.std(axis=1, ddof=1) / np.sqrt(chains.shape[1])).T
    expected[:, ~model.diagnostics_.mixed] = np.inf
    errors = model.decision_std_error(X)
    np.testing.assert_allclose(errors.reshape(expected.shape), expected, atol=1e-12)


def test_the_hardest_examples_have_the_most_hits(fitted):
    model, *_ = fitted
    rows, hits = model.hardest_examples(5)
    total = model.diagnostics_.hits.sum(axis=0)
    np.testing.assert_array_equal(hits, np.sort(total)[::-1][:5])
    np.testing.assert_array_equal(total[rows], hits)


@pytest.mark.parametrize("n", [0, 13, 1.5])
def test_draws_that_were_not_kept(fitted, n):
    model, X, _ = fitted
    with pytest.raises(ValueError, match="between 1 and 12"):
        model.sample_decision(X, n)
