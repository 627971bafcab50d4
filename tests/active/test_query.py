"""Which rows are asked about, with our machines and others."""

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC

from bayespoint import BayesPointClassifier, active
from bayespoint.active.query import METHODS


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("n", [1, 7])
def test_rows_are_different_and_in_the_pool(method, n, moons, iris):
    for model, X in (moons, iris):
        rows = active.query(model, X, n, method=method, random_state=0)
        assert len(np.unique(rows)) == n
        assert rows.min() >= 0
        assert rows.max() < len(X)


def test_other_classifiers_and_tables_with_text():
    table = pd.DataFrame({"size": [1.0, 2, 3, 4, 5, 6], "kind": list("aabbab")})
    y = ["no", "no", "no", "yes", "yes", "yes"]
    ours = BayesPointClassifier().fit(table, y)
    assert len(active.query(ours, table, 3, random_state=0)) == 3
    X = table[["size"]].to_numpy()
    for other in (LogisticRegression(), LinearSVC()):
        assert active.query(other.fit(X, y), X)[0] in (2, 3)


def test_more_rows_than_there_are(moons):
    model, X = moons
    assert sorted(active.query(model, X[:3], 10)) == [0, 1, 2]


def test_clear_errors(moons):
    model, X = moons
    with pytest.raises(ValueError, match="method should be one of"):
        active.query(model, X, method="best")
    with pytest.raises(ValueError, match="n should be a whole number"):
        active.query(model, X, 0)
    other = LogisticRegression().fit(X, X[:, 0] > 0)
    with pytest.raises(TypeError, match="need single hypotheses"):
        active.query(other, X, method="halving")
