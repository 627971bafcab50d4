import numpy as np
import pytest
from scipy import sparse

from bayespoint.solvers.weights.multiclass import scores
from bayespoint.solvers.weights.multiclass.class_weights import class_means, class_variances
from bayespoint.solvers.weights.multiclass.probabilities import log_probabilities
from multiclass_helpers import KINDS, fit, prior_of, problem


@pytest.mark.parametrize("kind", KINDS)
def test_dense_sparse_intercept_and_blocks_agree(kind, monkeypatch):
    X, y = problem(3)
    X = np.where(X > 0, X, 0)
    ones = np.column_stack([X, np.ones(len(X))])
    prior = prior_of(4, 3, kind)
    one = fit(kind, ones, y, 3, prior)
    two = fit(kind, X, y, 3, prior)
    monkeypatch.setattr(scores, "BLOCK_NUMBERS", 100)
    rows = sparse.csr_array(X)
    three = fit(kind, rows, y, 3, prior)
    for other in (two, three):
        np.testing.assert_allclose(one.belief.mean(), other.belief.mean(), atol=1e-6)
        assert one.log_evidence == pytest.approx(other.log_evidence, abs=1e-6)
    log_p = [log_probabilities(x, one.belief, 3, 1.0) for x in (ones, X, rows)]
    np.testing.assert_allclose(log_p[0], log_p[1], atol=1e-12)
    np.testing.assert_allclose(log_p[0], log_p[2], atol=1e-12)
    mean, variance = scores.outputs(rows, one.belief, 3)
    weights = class_means(one.belief, 3)
    np.testing.assert_allclose(mean, ones @ weights.T, atol=1e-12)
    np.testing.assert_allclose(weights.sum(axis=0), 0, atol=1e-12)
    eye = scores.outputs(np.eye(4), one.belief, 3)[1]
    np.testing.assert_allclose(eye, class_variances(one.belief, 3).T, atol=1e-12)
    assert variance.min() > 0


def test_noise_is_never_zero():
    X, variances = np.array([[3.0, 0.0], [0.0, 4.0]]), np.array([1.0, 2.0, 100.0])
    assert scores.positive_noise(0.3, X, variances) == 0.3
    expected = scores.MIN_NOISE_SHARE * (9 * 1 + 16 * 2) / 2
    for points in X, sparse.csr_array(X):
        assert scores.positive_noise(0.0, points, variances) == pytest.approx(expected)
    assert scores.positive_noise(0.0, X[:0], variances) == 0.0
