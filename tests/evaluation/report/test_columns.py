"""Columns of tables of all kinds."""

import numpy as np
import pytest
from scipy import sparse

from bayespoint.evaluation.report.columns import Table

pd = pytest.importorskip("pandas")


def test_columns_of_all_kinds():
    n = 30
    X = pd.DataFrame(
        {
            "constant": 1.0,
            "missing": np.nan,
            "infinite": [np.inf, -np.inf, *[1e308, -1e308] * 14],
            "date": pd.date_range("2024-01-01", periods=n),
            "bool": [True, False] * 15,
            "nullable": pd.array([1, None] * 15, dtype="Int64"),
            "text": ["a", "b", None] * 10,
            "category": pd.Categorical(["u", "v"] * 15),
            "lists": [[1], [2]] * 15,
            "many": [f"v{i}" for i in range(n)],
        }
    )
    table = Table(X)
    found = {
        c.name: (c.kind, c.n_missing, c.values) for c in table.describe(range(table.n_columns))
    }
    assert found["constant"] == ("numbers", 0, "always 1")
    assert found["missing"] == ("–", n, "all values are missing")
    assert found["infinite"][2].endswith("2 infinities")
    assert found["date"][0] == "dates"
    assert found["bool"] == ("categories", 0, "True (50.0%), False (50.0%)")
    assert found["nullable"] == ("numbers", 15, "always 1")
    assert found["text"] == ("categories", 10, "a (50.0%), b (50.0%)")
    assert found["category"][0] == found["lists"][0] == "categories"
    assert found["many"][2].startswith("30 values: ")
    assert table.cell(1, 5) == table.cell(0, 1) == "missing"
    assert [table.row_name(0), Table(X[3:]).row_name(0)] == ["1", "3"]


def test_histograms_count_all_rows():
    values = np.random.default_rng(0).normal(size=500)
    (column,) = Table(values[:, None]).describe([0])
    np.testing.assert_array_equal(column.bars, np.histogram(values, bins=16)[0])


def test_a_sparse_matrix_is_read_like_a_dense_one(rng):
    X = rng.integers(0, 3, (20, 3)).astype(float)
    dense, thin = Table(X), Table(sparse.coo_array(X))
    for one, other in zip(dense.describe([0, 1]), thin.describe([0, 1]), strict=True):
        assert one[:4] == other[:4]
        np.testing.assert_array_equal(one.bars, other.bars)
    assert [thin.name(1), thin.cell(4, 1)] == ["x1", dense.cell(4, 1)]


@pytest.mark.parametrize("X", [np.zeros((0, 2)), np.zeros((2, 0)), np.zeros(3)])
def test_a_table_has_rows_and_columns(X):
    with pytest.raises(ValueError, match="at least one row and one column"):
        Table(X)
