"""The posterior with both kinds of rows, full and factorized."""

import numpy as np
import pytest
from scipy import special

from bayespoint.solvers.weights import outputs as two_classes
from bayespoint.solvers.weights import rows as rows_module
from bayespoint.solvers.weights.iterate import iterate
from bayespoint.solvers.weights.multiclass.class_weights import class_means, class_variances
from bayespoint.solvers.weights.multiclass.probabilities import decisions, log_probabilities
from multiclass_helpers import KINDS, fit, fit_binary, make_rows, prior_of, problem


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("noise", [1.3, 0.1, 0.0])
def test_two_classes_are_the_binary_classifier(kind, noise):
    X, _ = problem(2, n=80, d=4)
    y = (X[:, 0] + (np.random.default_rng(1).standard_normal(80) if noise else 0.3) > 0).astype(int)
    weight = np.ones(80)
    weight[:5], weight[5:9] = 2, 0.5
    prior = prior_of(5, 2, kind)  # with an intercept
    one = fit(kind, X, y, 2, prior, weight, noise)
    two = fit_binary(kind, X, y, prior, weight, noise)
    # Factorized sweeps leave an error of at least a hundred times the last step.
    limit = 1e-8 if kind == "full" else 1e-6
    np.testing.assert_allclose(one.belief.mean(), two.belief.mean(), atol=limit)
    np.testing.assert_allclose(one.belief.covariance(), two.belief.covariance(), atol=limit)
    assert one.log_evidence == pytest.approx(two.log_evidence, abs=limit)
    mean, variance = two_classes.outputs(X, two.belief)
    log_p = log_probabilities(X, two.belief, 2, noise)
    decision = mean / np.sqrt(variance + noise)
    np.testing.assert_allclose(log_p[:, 1], special.log_ndtr(decision), atol=1e-10)
    np.testing.assert_allclose(decisions(log_p)[:, 1], decision, atol=1e-8)
    # Learn more data: the posterior becomes the prior.
    one = fit(kind, -X[:9], y[:9], 2, two.belief, weight[:9], noise + 0.1)
    two = fit_binary(kind, -X[:9], y[:9], two.belief, weight[:9], noise + 0.1)
    np.testing.assert_allclose(one.belief.mean(), two.belief.mean(), atol=limit)
    assert one.log_evidence == pytest.approx(two.log_evidence, abs=limit)


@pytest.mark.parametrize("kind", KINDS)
def test_classes_have_no_order(kind):
    X, y = problem(4)
    order = np.array([2, 0, 3, 1])
    one, two = fit(kind, X, y, 4), fit(kind, X, order[y], 4)
    log_p = [log_probabilities(X, found.belief, 4, 1.0) for found in (one, two)]
    # Independent outputs depend slightly on which classes they compare.
    limit = 1e-4 if kind == "full" else 0.05
    assert np.abs(np.exp(log_p[0]) - np.exp(log_p[1][:, order])).max() < limit
    assert one.log_evidence == pytest.approx(two.log_evidence, abs=1e-8 if kind == "full" else 1)
    if kind == "full":
        means = [class_means(found.belief, 4) for found in (one, two)]
        np.testing.assert_allclose(means[0], means[1][order], atol=1e-8)
        variances = [class_variances(found.belief, 4) for found in (one, two)]
        np.testing.assert_allclose(variances[0], variances[1][order], atol=1e-8)


@pytest.mark.parametrize("kind", KINDS)
def test_weights_are_repetitions(kind):
    X, y = problem(3)
    weight = np.random.default_rng(0).integers(1, 3, len(y))
    one = fit(kind, X, y, 3, weight=weight)
    two = fit(kind, np.repeat(X, weight, axis=0), np.repeat(y, weight), 3)
    limit = 1e-8 if kind == "full" else 1e-6
    np.testing.assert_allclose(one.belief.mean(), two.belief.mean(), atol=limit)
    assert one.log_evidence == pytest.approx(two.log_evidence, abs=limit)


@pytest.mark.parametrize("kind", KINDS)
def test_no_rows_leave_the_prior(kind):
    X, y = problem(3)
    found = fit(kind, X[:0], y[:0], 3, max_iter=2)
    np.testing.assert_array_equal(found.belief.mean(), 0)
    assert found.log_evidence == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize("kind", KINDS)
def test_the_first_row_has_one_chance_in_n_classes(kind):
    # P(y) = 1 / C before any data, up to the error of EP.
    for C in (2, 3, 6):
        found = fit(kind, np.array([[1.0, 2.0]]), np.array([1]), C)
        assert found.log_evidence == pytest.approx(-np.log(C), abs=1e-10 if C == 2 else 0.01)


@pytest.mark.parametrize("kind", KINDS)
def test_batches_add_up(kind):
    X, y = problem(3, n=60)
    whole = fit(kind, X, y, 3)
    belief, evidence = None, 0.0
    for rows in np.array_split(np.arange(60), 3):
        found = fit(kind, X[rows], y[rows], 3, belief)
        belief, evidence = found.belief, evidence + found.log_evidence
    # Not identical, because early rows are not visited again.
    covariance = whole.belief.covariance()
    deviation = np.sqrt(np.diag(covariance) if kind == "full" else covariance)
    assert np.abs((belief.mean() - whole.belief.mean()) / deviation).max() < 1
    assert evidence == pytest.approx(whole.log_evidence, abs=1.5)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("noise", [1.0, 0.0])
@pytest.mark.parametrize("scale", [2.0**-27, 2.0**27])  # powers of 2: no rounding
def test_scales_of_features_do_not_matter(kind, noise, scale):
    X, y = problem(3, spread=0.5 if noise else 0.0)
    y[:3] = np.argmax(X[:3] @ np.eye(3), axis=1)
    one = fit(kind, X, y, 3, noise=noise, max_iter=20)
    prior = prior_of(3, 3, kind, 0.7 / scale**2)
    two = fit(kind, X * scale, y, 3, prior, noise=noise, max_iter=20)
    np.testing.assert_allclose(one.belief.mean(), two.belief.mean() * scale, atol=1e-9)


@pytest.mark.parametrize("kind", KINDS)
def test_a_class_that_never_came_is_not_excluded(kind):
    X, y = problem(4, n=60)
    some = y != 2
    found = fit(kind, X[some], y[some], 4)
    p = np.exp(log_probabilities(X, found.belief, 4, 1.0))
    assert p[some, 2].max() < 0.5
    # No other class was seen in its region either.
    assert p[~some, 2].mean() > 2 * p[some, 2].mean()
    assert p[:, 2].min() > 1e-6


@pytest.mark.parametrize("kind", KINDS)
def test_lost_sites_are_found_again(kind, monkeypatch):
    monkeypatch.setattr(rows_module, "RECOVERY_TOL", 1e-12)
    X, y = problem(3)
    prior = prior_of(3, 3, kind)
    rows, again = (make_rows(kind, X, y, 3, prior, np.ones(len(y)), 1.0) for _ in range(2))
    found = iterate(rows, prior, 3000, 1e-10)
    product = again.recover(found.belief, found.belief.over(prior), 3000)
    # As exact as the fit: its last sweep moved it by 1e-10, and each sweep gains a few percent.
    assert prior.times(product).distance(found.belief) < 1e-8
    constants = [each.log_constant(found.belief) for each in (rows, again)]
    assert constants[0] == pytest.approx(constants[1], abs=1e-6)
