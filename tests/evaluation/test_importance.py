"""Importance of columns: right by a slow twin, honest errors, and time limits."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.linear_model import LogisticRegression

from bayespoint.evaluation import importance
from bayespoint.evaluation.importance import importances

pd = pytest.importorskip("pandas")


@pytest.fixture(scope="module")
def problem():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1200, 4))
    y = np.where(2 * X[:, 2] + X[:, 0] + rng.normal(size=1200) > 0, "b", "a")
    return LogisticRegression().fit(X[:600], y[:600]), X[600:], y[600:]


def test_agrees_with_scikit_learn(problem):
    from sklearn.inspection import permutation_importance

    model, X, y = problem
    found = importances(model, X, y)
    assert [one.column for one in found[:2]] == [2, 0]
    twin = permutation_importance(model, X, y, scoring="neg_log_loss", n_repeats=20, random_state=1)
    for one in found:
        # Both use other shuffles, and ours two thirds of the rows: within 5 standard errors.
        assert abs(one.log_loss - twin.importances_mean[one.column]) <= 5 * one.deviation + 1e-9
        assert one.deviation < 0.1


def test_columns_without_meaning_are_within_their_errors(problem):
    model, X, y = problem
    for one in importances(model, X, y)[2:]:
        assert abs(one.log_loss) <= 4 * one.deviation
        assert abs(one.error) < 0.05


def test_a_table_gives_the_same_as_an_array(problem):
    model, X, y = problem
    frame = pd.DataFrame(X, index=np.arange(len(X))[::-1])
    model = LogisticRegression().fit(X, y)
    # The memory order of a table differs, and so does the rounding.
    np.testing.assert_allclose(
        importances(model, X, y), importances(_Columns(model), frame, y), rtol=1e-9, atol=1e-12
    )


class _Columns:
    """Take a table to a classifier of arrays."""

    def __init__(self, model):
        self.model, self.classes_ = model, model.classes_

    def predict_proba(self, X):
        return self.model.predict_proba(X.to_numpy())


def test_rows_of_unknown_classes_are_left_out(problem):
    model, X, y = problem
    with_new = np.where(np.arange(len(y)) < 300, "new", y.astype(object))
    assert importances(model, X, with_new) == importances(model, X[300:], y[300:])
    assert importances(model, X, np.full(len(y), "new")) is None


def test_nothing_for_sparse_rows_and_when_time_is_short(problem, monkeypatch):
    model, X, y = problem
    assert importances(model, sparse.csr_array(X), y) is None
    assert importances(model, X, y, max_seconds=0) is None
    rounds = []
    monkeypatch.setattr(
        importance, "_means", lambda found: rounds.append(len(found)) or ["as many as it could"]
    )
    assert importances(model, X, y, max_seconds=1e3)
    assert rounds == [importance.N_ROUNDS]
