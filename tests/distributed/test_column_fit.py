import numpy as np
import pytest
from scipy import sparse

from bayespoint import BayesPointClassifier
from bayespoint.distributed.tables import read_partitions
from bayespoint.geometry.columns import fit_columns
from cluster_helpers import OneProcess, chunks, delayed_parts


@pytest.mark.parametrize("weighted", [False, True])
def test_columns_of_all_parts_together(rng, weighted):
    n = 500
    X = rng.standard_normal((n, 6)) * [1, 1e-8, 1e8, 1, 1, 1] + [0, 1, 1e9, 0, 5, 0]
    X[:, 4] = 5.0  # constant
    X[rng.random(n) < 0.3, 3] = np.nan
    X[:, 5] = np.where(np.arange(n) == 499, np.nan, np.round(X[:, 0]))
    weight = rng.integers(1, 4, n).astype(float) if weighted else None
    model = BayesPointClassifier("rbf", standardize=True)
    y = rng.integers(0, 2, n)
    rows = read_partitions(OneProcess(), model, *chunks(X, y, 7), weight)
    expected = fit_columns(X, standardize=True, weight=weight)
    np.testing.assert_array_equal(model.columns_.missing, expected.missing)
    np.testing.assert_array_equal(model.columns_.fill, expected.fill)
    # In every bit, because single precision makes much of the last one.
    np.testing.assert_array_equal(model.columns_.center, expected.center)
    np.testing.assert_array_equal(model.columns_.scale, expected.scale)
    assert rows.n_rows == n


def test_a_column_without_any_value(rng):
    X = np.column_stack([rng.standard_normal(40), np.full(40, np.nan)])
    model = BayesPointClassifier("rbf", standardize=True)
    read_partitions(OneProcess(), model, *chunks(X, rng.integers(0, 2, 40)), None)
    expected = fit_columns(X, standardize=True)
    np.testing.assert_array_equal(model.columns_.fill, expected.fill)
    np.testing.assert_array_equal(model.columns_.missing, expected.missing)


def test_numbers_that_cannot_be_standardized(data):
    X, y = data
    model = BayesPointClassifier("rbf", standardize=True)
    parts = [sparse.csr_array(part) for part in np.split(X, 2)]
    with pytest.raises(ValueError, match="standardize=True needs dense partitions"):
        read_partitions(
            OneProcess(), model, delayed_parts(parts), delayed_parts(np.split(y, 2)), None
        )
    far = X.copy()
    far[:, 1] = np.where(np.arange(200) < 150, 1.7e308, -1.7e308)
    with pytest.raises(ValueError, match=r"Column 1 of X .* too far apart"):
        read_partitions(OneProcess(), model, *chunks(far, y), None)
