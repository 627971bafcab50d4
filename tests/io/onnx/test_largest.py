import numpy as np
import pytest
from sklearn.datasets import make_blobs

from bayespoint import LinearBayesPointClassifier
from bayespoint.solvers.weights.multiclass import class_weights
from onnx_helpers import EDGE_NUMBERS, QUADRATURE_TOLERANCE, assert_same


@pytest.mark.parametrize("covariance", ["full", "factorized"])
@pytest.mark.parametrize("n_classes", [4, 7])
def test_linear_with_many_classes(covariance, n_classes):
    X, y = make_blobs(250, 3, centers=n_classes, cluster_std=4, random_state=0)
    model = LinearBayesPointClassifier(covariance=covariance).fit(X, y)
    edge = np.random.default_rng(0).choice(EDGE_NUMBERS, (100, 3))
    assert_same(model, np.vstack([X, 30 * X[:50], edge]), tolerance=QUADRATURE_TOLERANCE)


def test_linear_with_negative_correlations():
    """If the scores of two classes move apart, the third is above one or the other."""
    X = np.linspace(-2, 2, 60)[:, None]
    y = np.digitize(X[:, 0], [-1, 1])
    options = {"covariance": "full", "fit_intercept": False, "noise_variance": 0.01}
    model = LinearBayesPointClassifier(**options).fit(X, y)
    apart = np.array([1.0, 0.0, -1.0]) @ class_weights.basis(3)
    model._precision = np.linalg.inv(np.outer(apart, apart) + 0.01 * np.eye(2))
    model._shift = model._precision @ [0.1, 0.2]
    model.coef_ = class_weights.class_means(model._belief(), 3)
    assert_same(model, X, tolerance=QUADRATURE_TOLERANCE)


def test_linear_without_noise():
    X, y = make_blobs(60, 2, centers=4, cluster_std=0.3, random_state=0)
    model = LinearBayesPointClassifier(noise_variance=0.0, covariance="full").fit(X, y)
    assert_same(model, np.vstack([X, np.zeros((1, 2)), 5 * X]), tolerance=QUADRATURE_TOLERANCE)
