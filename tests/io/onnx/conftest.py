import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris, make_moons

from onnx_helpers import EDGE_NUMBERS


@pytest.fixture(scope="module")
def moons():
    X, y = make_moons(60, noise=0.25, random_state=0)
    rng = np.random.default_rng(1)
    return X, y, np.vstack([X, rng.uniform(-3, 4, (2000, 2)), rng.choice(EDGE_NUMBERS, (1000, 2))])


@pytest.fixture(scope="module")
def iris():
    X, y = load_iris(return_X_y=True)
    rng = np.random.default_rng(2)
    points = [X, rng.uniform(-1, 9, (700, 4)), rng.choice(EDGE_NUMBERS, (300, 4))]
    return X[::3], np.array(["setosa", "vergißmeinnicht", ""])[y[::3]], np.vstack(points)


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    n = 400
    table = pd.DataFrame(
        {
            "age": rng.normal(40, 10, n),
            "größe in m": rng.standard_cauchy(n),
            "unused": 1.0,
            "label": rng.choice(["a", "日本", "b c", None], n, p=[0.4, 0.3, 0.25, 0.05]),
            "_1": rng.choice(list("abcdefgh"), n, p=[0.3, 0.3, 0.3, 0.02, 0.02, 0.02, 0.02, 0.02]),
        }
    )
    table.loc[rng.random(n) < 0.1, "age"] = np.nan
    noise = rng.normal(0, 5, n)
    y = table.age.fillna(40) + 5 * (table.label == "a") + 5 * (table._1 == "b") + noise > 45
    return table, np.where(y, "yes", "no")


@pytest.fixture(scope="module")
def strange(table):
    """Return rows with values that were not in the training data."""
    rows = table[0].sample(3000, replace=True, random_state=0).reset_index(drop=True)
    rng = np.random.default_rng(1)
    for column in ("age", "größe in m"):
        some = rng.random(len(rows)) < 0.3
        rows.loc[some, column] = rng.choice([*EDGE_NUMBERS, np.nan], some.sum())
    for column in ("label", "_1"):
        some = rng.random(len(rows)) < 0.3
        rows.loc[some, column] = rng.choice(["A", "unknown", "日", " ", "a\0", None], some.sum())
    return rows
