import numpy as np
import pytest

from bayespoint import LinearBayesPointClassifier, LinearMarginSVC
from onnx_helpers import QUADRATURE_TOLERANCE, TOLERANCE, assert_same, run, session


@pytest.mark.parametrize("covariance", ["full", "factorized"])
@pytest.mark.parametrize("options", [{}, {"fit_intercept": False}, {"noise_variance": 1e-3}])
def test_linear(moons, iris, covariance, options):
    for X, y, points in (moons, iris):
        model = LinearBayesPointClassifier(covariance=covariance, **options).fit(X, y)
        assert_same(
            model, points, tolerance=TOLERANCE if len(model.classes_) == 2 else QUADRATURE_TOLERANCE
        )


def test_linear_that_learned_from_a_stream(iris):
    X, y, points = iris
    model = LinearBayesPointClassifier().partial_fit(X, y, classes=["", "other", *np.unique(y)[1:]])
    assert_same(model, points[:1000], tolerance=QUADRATURE_TOLERANCE)


@pytest.mark.parametrize("distance", ["l1", "l2"])
def test_hyperplanes(moons, iris, distance):
    for X, y, points in (moons, iris):
        assert_same(LinearMarginSVC(distance).fit(X, y), points)


def test_the_smallest_output_keeps_its_sign():
    model = LinearBayesPointClassifier(prior_variance=1.0, fit_intercept=False)
    model.fit([[1.0], [-1.0]], [1, 0])
    X = np.array([[1e-300], [-1e-300], [1e-20], [0.0], [-0.0]])
    found = run(session(model), X)
    np.testing.assert_array_equal(found["label"], [1, 0, 1, 0, 0])
    np.testing.assert_array_equal(found["probabilities"].argmax(axis=1), [1, 0, 1, 0, 0])
