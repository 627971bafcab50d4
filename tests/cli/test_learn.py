import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from bayespoint import LinearBayesPointClassifier
from bayespoint.cli import learn
from bayespoint.cli.learn import HeldOut, stack


def test_every_row_is_either_held_out_or_returned():
    held_out = HeldOut(0.3, seed=0)
    X, y = np.arange(1000), np.arange(1000)
    kept, kept_y = held_out.take(pd.DataFrame({"x": X}), y)
    rows, rows_y = held_out.rows()
    assert sorted([*kept_y, *rows_y]) == list(range(1000))
    assert kept["x"].tolist() == kept_y.tolist()
    assert rows["x"].tolist() == rows_y.tolist()
    # Allow four standard deviations of a binomial variable.
    assert abs(len(held_out) - 300) < 4 * np.sqrt(1000 * 0.3 * 0.7)


def test_no_more_rows_are_held_out_than_needed(monkeypatch):
    monkeypatch.setattr(learn, "MAX_HELD_OUT_ROWS", 10)
    held_out = HeldOut(0.5, seed=0)
    for _ in range(100):
        held_out.take(np.zeros((10, 1)), np.zeros(10))
    assert 10 <= len(held_out) < 20


def test_rows_are_stacked_in_order():
    tables = [(pd.DataFrame({"a": [k]}), np.array([k])) for k in range(3)]
    X, y = stack(tables)
    assert X["a"].tolist() == y.tolist() == [0, 1, 2]
    assert X.index.tolist() == [0, 1, 2]
    matrices = [(sparse.csr_matrix([[k, 0]]), np.array([k])) for k in range(3)]
    X, y = stack(matrices)
    assert X.toarray()[:, 0].tolist() == y.tolist() == [0, 1, 2]


def test_all_parts_are_learned_and_new_classes_are_refused(rng):
    X = rng.standard_normal((40, 2))
    y = np.where(X[:, 0] > 0, "a", "b")
    model = make_pipeline(StandardScaler(), LinearBayesPointClassifier())
    model[:-1].fit(X)
    parts = [(X[:20], y[:20]), (X[20:], y[20:])]
    reports = []
    classes = np.array(["a", "b"])
    held_out = HeldOut(0.0, seed=0)
    assert learn.learn(model, iter(parts), classes, held_out, reports.append) == 40
    assert reports[-1] == "learning, 40 rows so far"
    assert model.score(X, y) > 0.8
    with pytest.raises(ValueError, match="does not know the class 'c'"):
        learn.learn(model, [(X[:1], np.array(["c"]))], classes, held_out, reports.append)


def test_many_classes_are_learned_in_slices(rng, monkeypatch):
    X = rng.standard_normal((200, 3))
    y = X.argmax(axis=1)
    model = make_pipeline(StandardScaler(), LinearBayesPointClassifier())
    model[:-1].fit(X)
    monkeypatch.setattr(learn, "MAX_SITES", 300)
    monkeypatch.setattr(learn, "MIN_SLICE_ROWS", 40)
    sizes, partial_fit = [], LinearBayesPointClassifier.partial_fit

    def note(self, X, y, **more):
        sizes.append(len(y))
        return partial_fit(self, X, y, **more)

    monkeypatch.setattr(LinearBayesPointClassifier, "partial_fit", note)
    assert learn.learn_part(model, X, y, np.arange(3)) == 200
    assert sizes == [50] * 4 or sizes == [40] * 5
    assert model.score(X, y) > 0.9
