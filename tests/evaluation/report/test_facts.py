"""What a report is made of: rows to judge, order of columns, drift."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from bayespoint.evaluation.drift import summarize
from bayespoint.evaluation.measure import evaluate
from bayespoint.evaluation.report.facts import Training, gather, rows_to_judge

pd = pytest.importorskip("pandas")


@pytest.fixture(scope="module")
def fitted():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(400, 3)), columns=["a", "b", "c"])
    y = np.where(X["c"] > 0, "up", "down")
    return LogisticRegression().fit(X[:200], y[:200]), X, y


def test_training_rows_are_left_out_if_they_are_given(fitted):
    _, X, y = fitted
    train = (X[:200], y[:200])
    judged, kept, seen = rows_to_judge(X[150:260], list(y[150:260]), train, None)
    assert (len(judged), len(kept), seen.n_seen, seen.n_given) == (60, 60, 50, 110)
    pd.testing.assert_frame_equal(judged, X[200:260])
    assert rows_to_judge(X[150:], y[150:], None, None).seen is None
    # Names of columns are part of a row, so a table and an array cannot be compared.
    assert rows_to_judge(X[150:].to_numpy(), y[150:], train, None).seen is None
    assert rows_to_judge(X[150:].to_numpy(), y[150:], (X[:200].to_numpy(), y[:200]), None).seen
    assert not rows_to_judge(X[:50], y[:50], train, None).seen.only_new


def test_the_most_important_column_comes_first(fitted):
    model, X, y = fitted
    facts = gather(model, X[200:], evaluate(model, X[200:], y[200:]), Training())
    assert facts.order[0] == 2
    assert sorted(facts.order) == [0, 1, 2]
    assert list(facts._replace(importances=None).order) == [0, 1, 2]
    assert "needs the training rows" in facts.reason
    assert gather(model, X[200:], facts.evaluation, Training(), compare=False).reason is None


def test_drift_needs_tables_of_both(fitted):
    model, X, y = fitted
    evaluation, moved = evaluate(model, X[200:], y[200:]), X[200:].assign(a=9.0)
    train = (X[:200], y[:200])
    for known in (Training(train), Training(reference=summarize(train[0]))):
        (first, *others) = gather(model, moved, evaluation, known).drifts
        assert (first.column, first.drifted) == ("a", True)
        assert not any(one.drifted for one in others)
    assert gather(model, moved, evaluation, Training()).drifts == []
    arrays = LogisticRegression().fit(X[:200].to_numpy(), y[:200])
    known = Training(reference=summarize(X[:200]))
    assert gather(arrays, moved.to_numpy(), evaluation, known).drifts == []
