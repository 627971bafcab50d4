"""Baselines: their training rows, and no knowledge of the test rows."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from bayespoint import LinearBayesPointClassifier
from bayespoint.evaluation.baselines import most_frequent, take, trained_baselines
from bayespoint.evaluation.intervals import share
from bayespoint.evaluation.measure import evaluate, evaluate_probabilities
from report_helpers import Constant


def test_baselines_learn_from_the_training_rows(iris):
    X, y, X_test, y_test = iris
    model = make_pipeline(StandardScaler(), LinearBayesPointClassifier()).fit(X, y)
    evaluation = evaluate(model, X_test, y_test)
    logistic, forest = trained_baselines(model, X_test, evaluation, (X, y))
    twin = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000)).fit(X, y)
    wrong = np.count_nonzero(twin.predict(X_test) != y_test)
    assert logistic.error == share(wrong, 75, 0.95)
    assert logistic.log_loss == pytest.approx(log_loss(y_test, twin.predict_proba(X_test)))
    assert forest.how == "learned from the same 75 training rows"


def test_cross_validated_baselines_do_not_cheat():
    # Classes are random: a forest that had seen its test rows would know all of them.
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 400)
    X = rng.normal(size=(400, 5))
    evaluation = evaluate_probabilities(y, rng.dirichlet([1, 1], 400), [0, 1])
    for baseline in trained_baselines(Constant([], [0, 1]), X, evaluation):
        assert abs(baseline.error.value - 0.5) < 5 * 0.5 / np.sqrt(400)


def test_most_frequent_class():
    y = np.array(["a"] * 7 + ["b"] * 3)
    evaluation = evaluate_probabilities(y, [[0.5, 0.5]] * 10, ["a", "b"])
    baseline = most_frequent(evaluation)
    assert baseline.name == "always “a”"
    assert baseline.error == share(3, 10, 0.95)
    assert baseline.log_loss == pytest.approx(-(0.7 * np.log(0.7) + 0.3 * np.log(0.3)))


def test_too_few_rows_to_cross_validate(rng):
    y = np.array([0] * 20 + [1] * 4)
    evaluation = evaluate_probabilities(y, rng.dirichlet([1, 1], 24), [0, 1])
    assert trained_baselines(Constant([], [0, 1]), rng.normal(size=(24, 2)), evaluation) == []


def test_rows_of_tables_and_matrices():
    pd = pytest.importorskip("pandas")
    X = np.arange(12.0).reshape(6, 2)
    rows = [4, 1]
    np.testing.assert_array_equal(take(X, rows), X[rows])
    np.testing.assert_array_equal(take(X.tolist(), rows), X[rows])
    np.testing.assert_array_equal(take(sparse.coo_array(X), rows).toarray(), X[rows])
    assert take(pd.DataFrame(X, index=list("abcdef")), rows).index.tolist() == ["e", "b"]
