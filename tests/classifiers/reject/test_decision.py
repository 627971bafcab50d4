"""Answers of least expected cost, against brute force."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC

from bayespoint import RejectOptionClassifier
from bayespoint.classifiers.reject.decision import answers, decide, probability_of

weights = st.floats(0.01, 1)


@given(arrays(float, (5, 3), elements=weights), arrays(float, (3, 3), elements=st.floats(-10, 10)))
def test_no_other_answer_is_cheaper(weight, costs):
    probability = weight / weight.sum(axis=1, keepdims=True)
    answer = decide(probability, costs)
    for row, chosen in zip(probability, answer, strict=True):
        expected = [sum(row[i] * costs[i, j] for i in range(3)) for j in range(3)]
        assert expected[chosen] <= min(expected) + 1e-12  # rounding of sums of numbers up to 10


def test_without_costs_the_most_probable_class(rng):
    probability = rng.dirichlet([1, 1, 1], 50)
    np.testing.assert_array_equal(decide(probability), probability.argmax(axis=1))
    np.testing.assert_array_equal(decide(probability, 1 - np.eye(3)), decide(probability))
    np.testing.assert_array_equal(
        probability_of(probability, decide(probability)), probability.max(axis=1)
    )


@pytest.fixture(scope="module")
def flowers():
    X, y = load_iris(return_X_y=True)
    X = X[:, :2]
    return X[::2], y[::2], X[1::2], y[1::2]


def test_a_reject_option_answers_with_the_least_cost(flowers):
    X, y, X_test, y_test = flowers
    costs = [[0, 1, 1], [1, 0, 1], [1, 20, 0]]
    inner = LogisticRegression(max_iter=1000)
    model = RejectOptionClassifier(inner, costs=costs, random_state=0).fit(X, y)
    probability = model.predict_proba(X_test)
    answer = decide(probability, costs)
    np.testing.assert_array_equal(model.predict(X_test), answer)
    np.testing.assert_array_equal(model.confidence(X_test), probability_of(probability, answer))
    assert model.score(X_test, y_test) == np.mean(answer == y_test)
    assert np.sum(answer == 2) > np.sum(probability.argmax(axis=1) == 2)
    refusing = model.at(reject_rate=0.3)
    assert (refusing.predict(X_test)[~refusing.accept(X_test)] == -1).all()
    np.testing.assert_array_equal(
        answers(model.estimator_, X_test), model.estimator_.predict(X_test)
    )


def test_a_promise_is_about_the_answers_that_are_given(flowers):
    X, y, *_ = flowers
    inner = LogisticRegression(max_iter=1000)
    model = RejectOptionClassifier(inner, costs=1 - np.eye(3), random_state=0).fit(X, y)
    plain = RejectOptionClassifier(inner, random_state=0).fit(X, y)
    np.testing.assert_array_equal(model.calibration_correct_, plain.calibration_correct_)
    np.testing.assert_array_equal(model.calibration_confidence_, plain.calibration_confidence_)


@pytest.mark.parametrize("costs", [np.eye(2), [[0, np.nan, 1]] * 3, [1, 2, 3]])
def test_costs_that_do_not_fit(flowers, costs):
    X, y, *_ = flowers
    model = RejectOptionClassifier(LogisticRegression(max_iter=1000), costs=costs)
    with pytest.raises(ValueError, match="costs should h"):
        model.fit(X, y)


def test_costs_need_probabilities(flowers):
    X, y, *_ = flowers
    with pytest.raises(TypeError, match="LinearSVC has none"):
        RejectOptionClassifier(LinearSVC(), costs=1 - np.eye(3)).fit(X, y)
