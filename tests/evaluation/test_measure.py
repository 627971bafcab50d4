"""Measures of a classifier on new rows, against slow and obvious twins."""

from inspect import signature
from itertools import pairwise
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.metrics import brier_score_loss, confusion_matrix, log_loss

from bayespoint.evaluation.intervals import share
from bayespoint.evaluation.measure import MAX_CURVE_POINTS, evaluate, evaluate_probabilities
from bayespoint.evaluation.results import Kept


def random_case(rng, n_rows, n_classes, decimals=6):
    """Return probabilities, and classes drawn from them: calibrated by construction."""
    probability = rng.dirichlet(np.ones(n_classes), size=n_rows).round(decimals)
    probability[:, 0] += 1 - probability.sum(axis=1)
    y = np.array([rng.choice(n_classes, p=row / row.sum()) for row in probability])
    return probability, y


@pytest.mark.parametrize("n_classes", [2, 3, 7])
def test_losses_are_those_of_scikit_learn(n_classes):
    rng = np.random.default_rng(n_classes)
    probability, y = random_case(rng, 200, n_classes)
    evaluation = evaluate_probabilities(y, probability, np.arange(n_classes))
    labels = np.arange(n_classes)
    assert evaluation.log_loss == pytest.approx(log_loss(y, probability, labels=labels))
    distance = np.mean(np.sum((probability - np.eye(n_classes)[y]) ** 2, axis=1))
    assert evaluation.brier == pytest.approx(distance / 2 if n_classes == 2 else distance)
    if n_classes == 2:
        assert evaluation.brier == pytest.approx(brier_score_loss(y, probability[:, 1]))
    elif "labels" in signature(brier_score_loss).parameters:  # scikit-learn 1.7
        assert evaluation.brier == pytest.approx(brier_score_loss(y, probability, labels=labels))
    answer = probability.argmax(axis=1)
    np.testing.assert_array_equal(evaluation.confusion, confusion_matrix(y, answer, labels=labels))
    assert evaluation.error.number == np.count_nonzero(answer != y)
    assert evaluation.error.value == np.mean(answer != y)


@pytest.mark.parametrize(("n_rows", "decimals"), [(1, 6), (7, 6), (150, 1), (1000, 6)])
def test_rejection_curve_counts(n_rows, decimals):
    probability, y = random_case(np.random.default_rng(0), n_rows, 3, decimals)
    evaluation = evaluate_probabilities(y, probability, np.arange(3))
    confidence, wrong = probability.max(axis=1), probability.argmax(axis=1) != y
    curve = evaluation.rejection
    assert 1 <= len(curve.threshold) <= MAX_CURVE_POINTS
    assert curve.accepted[0] == n_rows
    assert np.all(np.diff(curve.threshold) > 0)
    for threshold, accepted, errors, low, high in zip(*curve, strict=True):
        kept = confidence >= threshold
        assert accepted == kept.sum()
        assert errors == wrong[kept].sum()
        assert (errors, accepted, low, high) == evaluation.at(threshold)
    if len(np.unique(confidence)) <= MAX_CURVE_POINTS:
        assert len(curve.threshold) == len(np.unique(confidence))
    assert curve.threshold[-1] == confidence.max()


@pytest.mark.parametrize("n_classes", [2, 5])
def test_reliability_by_hand(n_classes):
    probability, y = random_case(np.random.default_rng(1), 3000, n_classes)
    bins = evaluate_probabilities(y, probability, np.arange(n_classes)).reliability
    confidence, right = probability.max(axis=1), probability.argmax(axis=1) == y
    edges = np.linspace(0.5 if n_classes == 2 else 0, 1, 11)
    found = 0
    for low, high in pairwise(edges):
        inside = (confidence >= low) & ((confidence < high) | (high == 1))
        if not inside.any():
            continue
        assert bins.total[found] == inside.sum()
        assert bins.right[found] == right[inside].sum()
        assert bins.confidence[found] == pytest.approx(confidence[inside].mean())
        found += 1
    assert found == len(bins.total)


def test_reliability_bars_hold_calibrated_probabilities_and_not_others():
    probability, y = random_case(np.random.default_rng(2), 5000, 3)
    level = 1 - 1e-6  # ten bars: wrong once in 100,000 seeds
    bins = evaluate_probabilities(y, probability, range(3), confidence_level=level).reliability
    assert np.all((bins.low <= bins.confidence) & (bins.confidence <= bins.high))
    sharper = probability**3 / (probability**3).sum(axis=1, keepdims=True)
    bins = evaluate_probabilities(y, sharper, range(3), confidence_level=level).reliability
    assert np.any((bins.low > bins.confidence) | (bins.confidence > bins.high))


def test_the_promise_of_a_reject_option():
    X, y = load_iris(return_X_y=True)
    inner = LogisticRegression(max_iter=1000).fit(X[::2], y[::2])
    model = SimpleNamespace(
        predict_proba=inner.predict_proba, classes_=inner.classes_, accept=None,
        threshold_=0.9, reject_rate=None, max_error=0.02, confidence_level=0.9,
        calibration_confidence_=np.ones(30),
    )  # fmt: skip
    evaluation = evaluate(model, X[1::2], y[1::2])
    promise = evaluation.promise
    kept = inner.predict_proba(X[1::2]).max(axis=1) >= 0.9
    wrong = inner.predict(X[1::2]) != y[1::2]
    assert promise.error == share(wrong[kept].sum(), kept.sum(), 0.95)
    assert promise[2:7] == (None, 0.02, 0.9, 30, True)
    assert promise.kept == (
        Kept("error", 0.02, promise.error.value, *promise.error[2:], kept.sum()),
    )
    model.threshold_ = np.inf  # nothing is accepted
    evaluation = evaluate(model, X[1::2], y[1::2])
    assert evaluation.promise.error.total == 0


def test_a_class_that_the_model_does_not_know_is_an_error():
    evaluation = evaluate_probabilities(["a", "b", "new"], np.eye(2)[[0, 1, 0]], ["a", "b"])
    assert evaluation.classes.tolist() == ["a", "b", "new"]
    assert evaluation.n_known == 2
    np.testing.assert_array_equal(evaluation.confusion, [[1, 0, 0], [0, 1, 0], [1, 0, 0]])
    assert evaluation.log_loss == pytest.approx(-np.log(np.finfo(float).eps) / 3)


@pytest.mark.parametrize(
    ("probability", "message"),
    [
        (np.eye(3), r"\(2, 2\), but has \(3, 3\)"),
        ([[np.nan, 1], [0, 1]], "finite"),
    ],
)
def test_clear_errors(probability, message):
    with pytest.raises(ValueError, match=message):
        evaluate_probabilities(["a", "b"], probability, ["a", "b"])


def test_no_probabilities():
    X, y = load_iris(return_X_y=True)
    with pytest.raises(TypeError, match="RidgeClassifier has none"):
        evaluate(RidgeClassifier().fit(X, y), X, y)
    with pytest.raises(ValueError, match="confidence_level"):
        evaluate(LogisticRegression(max_iter=1000).fit(X, y), X, y, confidence_level=95)
