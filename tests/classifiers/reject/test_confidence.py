"""How certain a classifier is: probabilities first, decision values otherwise."""

import numpy as np
import pytest
from sklearn.datasets import load_iris, make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.svm import SVC, LinearSVC

from bayespoint import RejectOptionClassifier
from bayespoint.classifiers.reject.confidence import check_confidence, confidence_of


def test_probabilities_come_first():
    X, y = load_iris(return_X_y=True)
    model = LogisticRegression(max_iter=1000).fit(X, y)
    assert hasattr(model, "decision_function")
    np.testing.assert_array_equal(confidence_of(model, X), model.predict_proba(X).max(axis=1))


def test_distance_from_the_boundary_for_two_classes():
    X, y = make_classification(100, random_state=0)
    model = LinearSVC().fit(X, y)
    np.testing.assert_array_equal(confidence_of(model, X), np.abs(model.decision_function(X)))


def test_confidence_of_decisions_is_the_lead_of_the_first():
    X, y = load_iris(return_X_y=True)
    model = RejectOptionClassifier(LinearSVC(), random_state=0).fit(X, y)
    outputs = np.sort(model.decision_function(X), axis=1)
    np.testing.assert_allclose(model.confidence(X), outputs[:, 2] - outputs[:, 1])
    assert not hasattr(model, "predict_proba")


def test_one_against_one_decisions():
    X, y = make_classification(200, n_informative=4, n_classes=4, random_state=0)
    with pytest.raises(ValueError, match=r"each of 4 classes, but has 6.*'ovr'"):
        RejectOptionClassifier(SVC(decision_function_shape="ovo")).fit(X, y)


@pytest.mark.parametrize(
    ("confidence", "message"),
    [([], "it is empty"), ([1.0, np.nan], "it is NaN for some"), (np.ones((2, 2)), "1d array")],
)
def test_invalid_confidences_are_an_error(confidence, message):
    with pytest.raises(ValueError, match=message):
        check_confidence(confidence)
