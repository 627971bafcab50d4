"""Baselines: their training rows, and no knowledge of the test rows."""

import time

import numpy as np
import pytest
from scipy import sparse
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from bayespoint import LinearBayesPointClassifier
from bayespoint.evaluation import baselines
from bayespoint.evaluation.baselines import most_frequent, take, trained_baselines
from bayespoint.evaluation.intervals import share
from bayespoint.evaluation.measure import evaluate, evaluate_probabilities
from report_helpers import Constant


def test_baselines_learn_from_the_training_rows(iris):
    X, y, X_test, y_test = iris
    model = make_pipeline(StandardScaler(), LinearBayesPointClassifier()).fit(X, y)
    evaluation = evaluate(model, X_test, y_test)
    (logistic, forest), reason = trained_baselines(model, X_test, evaluation, (X, y))
    assert reason is None
    twin = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000)).fit(X, y)
    wrong = np.count_nonzero(twin.predict(X_test) != y_test)
    assert logistic.error == share(wrong, 75, 0.95)
    assert logistic.log_loss == pytest.approx(log_loss(y_test, twin.predict_proba(X_test)))
    assert forest.how == "learned from the same 75 training rows"


def test_baselines_never_learn_from_the_rows_that_judge_them():
    # Classes are random: a forest that had seen its test rows would know all of them.
    rng = np.random.default_rng(0)
    y, X = rng.integers(0, 2, 800), rng.normal(size=(800, 5))
    evaluation = evaluate_probabilities(y[400:], rng.dirichlet([1, 1], 400), [0, 1])
    train = X[:400], y[:400]
    found, _ = trained_baselines(Constant([], [0, 1]), X[400:], evaluation, train)
    for baseline in found:
        assert abs(baseline.error.value - 0.5) < 5 * 0.5 / np.sqrt(400)


def test_many_rows_are_sampled_and_the_table_says_so(monkeypatch, rng):
    monkeypatch.setattr(baselines, "MAX_BASELINE_NUMBERS", 100)
    X, y = rng.normal(size=(90, 2)), np.array([2] + [0, 1] * 44 + [1])
    evaluation = evaluate_probabilities(y, rng.dirichlet([1, 1, 1], 90), [0, 1, 2])
    found, _ = trained_baselines(Constant([], [0, 1, 2]), X, evaluation, (X, y))
    assert [one.how for one in found] == ["learned from 50 of the 90 training rows"] * 2


def test_a_forest_grows_as_long_as_there_is_time(rng):
    X, y = rng.normal(size=(60, 3)), np.arange(60) % 2
    late = baselines._forest(X, y, time.perf_counter() - 1)
    assert late.n_estimators == len(late.estimators_) == 10
    grown = baselines._forest(X, y, np.inf)
    twin = RandomForestClassifier(random_state=0).fit(X, y)
    np.testing.assert_array_equal(grown.predict_proba(X), twin.predict_proba(X))


def test_why_baselines_are_missing(monkeypatch, rng):
    X, y = rng.normal(size=(40, 2)), np.arange(40) % 2
    evaluation = evaluate_probabilities(y, rng.dirichlet([1, 1], 40), [0, 1])
    arguments = Constant([], [0, 1]), X, evaluation, (X, y)
    assert trained_baselines(*arguments, max_seconds=-1.0) == (
        [], "No time was left to train other classifiers for comparison."
    )  # fmt: skip
    found, reason = trained_baselines(*arguments, max_seconds=1e-9)
    assert found == []
    assert reason == "No time was left to train a logistic regression for comparison."
    monkeypatch.setattr(baselines, "MAX_FOREST_FEATURES", 1)
    found, reason = trained_baselines(*arguments)
    assert [one.name for one in found] == ["logistic regression"]
    assert "2 features" in reason
    monkeypatch.undo()
    words = np.array([["a"], ["b"]] * 20, dtype=object)
    found, reason = trained_baselines(Constant([], [0, 1]), words, evaluation, (words, y))
    assert found == []
    assert "could not be trained" in reason


def test_most_frequent_class():
    y = np.array(["a"] * 7 + ["b"] * 3)
    evaluation = evaluate_probabilities(y, [[0.5, 0.5]] * 10, ["a", "b"])
    baseline = most_frequent(evaluation)
    assert baseline.name == "always “a”"
    assert baseline.error == share(3, 10, 0.95)
    assert baseline.log_loss == pytest.approx(-(0.7 * np.log(0.7) + 0.3 * np.log(0.3)))


def test_rows_of_tables_and_matrices():
    pd = pytest.importorskip("pandas")
    X = np.arange(12.0).reshape(6, 2)
    rows = [4, 1]
    np.testing.assert_array_equal(take(X, rows), X[rows])
    np.testing.assert_array_equal(take(X.tolist(), rows), X[rows])
    np.testing.assert_array_equal(take(sparse.coo_array(X), rows).toarray(), X[rows])
    assert take(pd.DataFrame(X, index=list("abcdef")), rows).index.tolist() == ["e", "b"]
