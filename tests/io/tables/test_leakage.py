import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_iris, load_wine

from bayespoint.io.tables.leakage import find_suspects


def names(values, y):
    return [suspect.name for suspect in find_suspects(values, y)]


@pytest.mark.parametrize("load", [load_iris, load_wine, load_breast_cancer])
def test_clean_data_are_not_accused_and_leaks_are(load):
    X, y = load(return_X_y=True)
    rng = np.random.default_rng(0)
    values = {f"x{i}": column for i, column in enumerate(X.T)}
    assert names(values, y) == []
    flipped = np.where(rng.random(len(y)) < 0.01, rng.permutation(y), y)
    leaks = {
        "near copy": flipped.astype(np.int64),
        "near copy as a number": flipped + 0.01 * rng.normal(size=len(y)),
        "time": np.argsort(np.argsort(y + rng.random(len(y)) * 0.9)).astype(float),
    }
    for name, leak in leaks.items():
        assert names(values | {name: leak}, y) == [name]
        shuffled = leak[rng.permutation(len(y))]
        assert names(values | {name: shuffled}, y) == []


def test_missing_values_can_be_a_leak():
    """A date of closing that only one class has."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 300)
    closed = np.where(y == 1, rng.normal(size=300), np.nan)
    found = find_suspects({"closed": closed, "x": rng.normal(size=300)}, y)
    assert [(suspect.name, suspect.error) for suspect in found] == [("closed", 0)]
    codes = np.where(y == 1, rng.integers(0, 5, 300), -1)
    assert names({"closed": codes}, y) == ["closed"]


def test_too_few_rows_and_one_class_prove_nothing():
    y = np.arange(10) % 2
    assert names({"x": y.astype(float)}, y) == []
    assert names({"x": np.arange(50.0)}, np.zeros(50, dtype=int)) == []


def test_identifiers_do_not_predict():
    y = np.random.default_rng(0).integers(0, 2, 2000)
    assert names({"id": np.arange(2000)}, y) == []
