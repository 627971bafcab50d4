"""Exported models read tables as `BayesPointClassifier` does."""

import numpy as np
import pandas as pd
import pytest

from bayespoint import BayesPointClassifier, to_onnx
from onnx_helpers import EDGE_NUMBERS, assert_same

SIZES = pd.CategoricalDtype(["S", "M", "L"], ordered=True)


def classifier(**parameters):
    return BayesPointClassifier(**{"gamma": 0.1, "softness": 0.1, **parameters})


def make_table(n=150, seed=0):
    rng = np.random.default_rng(seed)
    table = pd.DataFrame(
        {
            "color": rng.choice(["red", "grün", "b c"], n).astype(object),
            "age": rng.normal(1e4, 10, n),
            "size": rng.choice(["S", "M", "L"], n),
            "code": rng.integers(0, 3, n).astype(float),
            "constant": 3.0,
        }
    )
    for i, name in enumerate(["color", "age", "size", "code"]):
        table.loc[rng.random(n) < 0.1 * (i + 1) / 4, name] = np.nan if i % 2 else None
    return table.astype({"size": SIZES})


def strange_rows(n=300):
    """Return rows with values that were not in the training table."""
    rng = np.random.default_rng(1)
    rows = make_table(n, seed=2).astype(object)
    odd = {
        "color": ["Red", "red ", None],
        "age": [*(v for v in EDGE_NUMBERS if abs(v) < 1e50), np.nan],
        "size": ["XL", None],
        "code": [7.0, -1.0, 0.5, np.nan],
        "constant": [4.0, np.nan],
    }
    for name, values in odd.items():
        some = rng.random(n) < 0.3
        rows.loc[some, name] = rng.choice(np.array(values, dtype=object), some.sum())
    return rows.astype({"age": float, "code": float, "constant": float})


@pytest.mark.parametrize("standardize", [False, True])
@pytest.mark.parametrize("kernel", ["rbf", "laplacian", "linear"])
def test_a_table(kernel, standardize):
    table = make_table()
    y = (table["age"].fillna(0) > 1e4) ^ (table["color"] == "red")
    model = classifier(kernel=kernel, standardize=standardize).fit(table, y)
    assert_same(model, make_table(seed=3).astype({"size": object}))
    if standardize or kernel != "linear":
        assert_same(model, strange_rows())


def test_a_table_with_the_default():
    table = make_table()
    y = (table["age"].fillna(0) > 1e4) ^ (table["color"] == "red")
    model = BayesPointClassifier().fit(table, y)
    assert model.columns_.is_standardized
    assert_same(model, strange_rows())


def test_numbers_as_categories():
    table = make_table()
    y = table["code"] == 1
    model = classifier(categorical_features=["color", "size", "code"], standardize=True)
    model.fit(table, y)
    assert model.columns_.names(table.columns)[-5:-1] == [
        *(f"code={i}.0" for i in range(3)),
        "code missing",
    ]
    assert_same(model, strange_rows())


@pytest.mark.parametrize("standardize", [False, True])
def test_a_matrix_with_missing_values(standardize):
    rng = np.random.default_rng(0)
    X = rng.normal(5, 2, (80, 4))
    X[rng.random(X.shape) < 0.1] = np.nan
    X[:, 1] = 2.0
    y = np.nan_to_num(X[:, 0]) > 5
    new = rng.normal(5, 2, (50, 4))
    new[rng.random(new.shape) < 0.3] = np.nan
    assert_same(classifier(standardize=standardize).fit(X, y), new)
    assert_same(classifier(standardize=standardize).fit(np.nan_to_num(X), y), new)
    assert_same(classifier(standardize=standardize, categorical_features=[1]).fit(X, y), new)


def test_text_without_column_names():
    model = classifier().fit([["a", 1.0], ["b", 2.0], ["a", 3.0]], [0, 1, 0])
    with pytest.raises(ValueError, match=r"Column 0 holds text, .* fit the model on a DataFrame"):
        to_onnx(model)


def test_an_empty_text_beside_a_missing_one():
    table = pd.DataFrame({"a": np.array(["", None, "x", "x"], dtype=object)})
    model = classifier().fit(table, [0, 1, 0, 1])
    with pytest.raises(ValueError, match="Column 0 has different categories for missing values"):
        to_onnx(model)
