"""Novelty of kernel machines: all solvers, any order of rows, files, and clear errors."""

import copy
import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris

from bayespoint import BayesPointClassifier
from bayespoint.classifiers import _novelty
from bayespoint.classifiers.onion import OnionClassifier
from model_file_helpers import round_trip

ORDER = np.random.default_rng(0).permutation(150)
X, y = (part[ORDER] for part in load_iris(return_X_y=True))
TRAIN, TEST = slice(0, 100), slice(100, 150)
# Novelty is steep where levels of training rows are close; rounding is 1e-12 at most.
ROUNDING = 1e-7


def fitted(solver="ep", **parameters):
    given = {"kernel": "rbf", "gamma": 0.3, "softness": 0.1, "random_state": 0, "solver": solver}
    return BayesPointClassifier(**{**given, **parameters}).fit(X[TRAIN], y[TRAIN])


@pytest.fixture(scope="module")
def model():
    return fitted()


SOLVERS = ["regression", "billiard", "perceptron", "nystroem", "cells", "mosaic"]


@pytest.mark.parametrize("solver", SOLVERS)
def test_all_solvers_agree(model, solver, tmp_path):
    """The kernel and the rows decide, not the solver, which may keep points in other places."""
    other = fitted(solver)
    found = other.novelty(X[TEST])
    assert np.allclose(found, model.novelty(X[TEST]), rtol=0, atol=ROUNDING)
    assert np.array_equal(round_trip(other, tmp_path / "model").novelty(X[TEST]), found)


def test_uniform_on_rows_of_the_same_source_and_larger_elsewhere(model):
    found = model.novelty(X[TEST])
    # The mean of 50 ranks has a standard deviation of 0.041; 100 training ranks add 0.029.
    assert abs(found.mean() - 0.5) < 4 * np.hypot(0.041, 0.029)
    far = model.novelty(X[:1] * np.array([[1.0], [2.0], [3.0], [10.0]]))
    assert np.all(np.diff(far) >= 0)
    assert far[-1] > 0.995
    assert np.all((found >= 0) & (found <= 1))


def test_order_of_rows_duplicates_and_threads(model):
    order = np.random.default_rng(1).permutation(100)
    mixed = BayesPointClassifier("rbf", gamma=0.3, softness=0.1, solver="ep", n_jobs=2)
    mixed.fit(X[TRAIN][order], y[TRAIN][order])
    assert np.allclose(mixed.novelty(X[TEST]), model.novelty(X[TEST]), rtol=0, atol=ROUNDING)
    twice = model.novelty(np.repeat(X[TEST], 2, axis=0))
    assert np.allclose(twice[::2], twice[1::2], rtol=0, atol=ROUNDING)
    assert np.allclose(twice[::2], model.novelty(X[TEST]), rtol=0, atol=ROUNDING)


def test_new_rows_are_known_afterwards():
    model = fitted("regression")
    before = model.novelty(X[TEST])
    model.partial_fit(X[TEST], y[TEST], choose=False)
    whole = BayesPointClassifier("rbf", gamma=0.3, softness=0.1, solver="regression").fit(X, y)
    assert np.allclose(model.novelty(X[TEST]), whole.novelty(X[TEST]), rtol=0, atol=ROUNDING)
    assert np.abs(model.novelty(X[TEST]) - before).max() > 0.01
    model.forget(np.arange(100, 150), choose=False)
    assert np.allclose(model.novelty(X[TEST]), before, rtol=0, atol=ROUNDING)


def test_copies_and_pickles_hold_no_matrices(model):
    expected = model.novelty(X[TEST])
    size = len(pickle.dumps(model))
    assert size == len(pickle.dumps(copy.copy(model)))
    assert np.array_equal(pickle.loads(pickle.dumps(model)).novelty(X[TEST]), expected)


def test_many_points_are_sampled(monkeypatch):
    monkeypatch.setattr(_novelty, "MAX_KNOWN_POINTS", 30)
    sampled = fitted()
    assert 30 <= len(sampled._known_points["target"]) <= 33
    far = X[:1] * np.array([[1.0], [10.0]])
    assert sampled.novelty(far)[1] > 0.98


def test_tables_with_new_categories_and_constant_columns():
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"a": rng.standard_normal(80), "c": rng.choice(["x", "y"], 80), "k": 5.0})
    model = BayesPointClassifier(random_state=0).fit(table, (table.a > 0) ^ (table.c == "x"))
    rows = pd.DataFrame({"a": [0.3] * 3, "c": ["x", "new", "x"], "k": [5.0, 5.0, 6.0]})
    seen, category, constant = model.novelty(rows)
    assert category > max(seen, 0.95)
    assert constant == pytest.approx(seen, abs=ROUNDING)  # predictions ignore the column, too
    assert np.isfinite(model.novelty(pd.DataFrame({"a": [np.nan], "c": [None], "k": [np.nan]})))[0]


def test_errors_say_what_to_do(model):
    with pytest.raises(ValueError, match="Ask the model that compact was called on"):
        model.compact(tol=0.01).novelty(X)
    kernel = X @ X.T
    precomputed = BayesPointClassifier("precomputed", softness=0.1).fit(kernel, y)
    with pytest.raises(ValueError, match="precomputed"):
        precomputed.novelty(kernel)
    old = copy.copy(model)
    del old._known_points
    with pytest.raises(ValueError, match="Train it again"):
        old.novelty(X)
    assert not hasattr(OnionClassifier, "novelty")
