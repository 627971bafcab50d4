import numpy as np
import pytest
from scipy import sparse

from bayespoint.solvers.weights import points
from bayespoint.solvers.weights.points import (
    CenteredRows,
    centered,
    count_nonzero,
    dense,
    dense_or_sparse,
    places_in_columns,
    squared,
)

CENTER = np.array([2.0, 0.0, 1.0, 0.0])


@pytest.fixture
def table(rng):
    return np.where(rng.random((20, 4)) < 0.6, rng.integers(0, 4, (20, 4)), 0).astype(float)


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array, sparse.csr_matrix])
def test_differences_from_the_center(table, kind):
    found = centered(kind(table), CENTER)
    assert sparse.issparse(found) == sparse.issparse(kind(table))
    assert found.shape == table.shape
    np.testing.assert_array_equal(dense(found), table - CENTER)
    np.testing.assert_array_equal(dense(found[3:9]), (table - CENTER)[3:9])
    assert count_nonzero(found) == np.count_nonzero(table - CENTER)
    able = dense_or_sparse(found)
    np.testing.assert_allclose(able @ CENTER, (table - CENTER) @ CENTER)
    np.testing.assert_allclose(squared(able) @ CENTER, (table - CENTER) ** 2 @ CENTER)


def test_nothing_is_copied_if_the_center_is_zero(table):
    for X in table, sparse.csr_array(table):
        assert centered(X, 0 * CENTER) is X
    assert centered(table, CENTER).X is table
    assert isinstance(centered(table, CENTER), CenteredRows)


def test_indices_that_would_overflow_get_more_bits(table, monkeypatch):
    X = sparse.csr_array(table)
    monkeypatch.setattr(points, "_max_index", lambda _: 50)
    found = centered(X, CENTER)
    assert found.indices.dtype == np.int64
    np.testing.assert_array_equal(found.toarray(), table - CENTER)


def test_places_of_entries_in_columns(table):
    X, chosen = sparse.csr_array(table), CENTER > 0
    wanted = np.flatnonzero(chosen[X.indices])
    np.testing.assert_array_equal(places_in_columns(X, chosen), wanted)
    # Memory behind the last row is not a part of the matrix.
    X.data, X.indices = np.append(X.data, 1.0), np.append(X.indices, 0).astype(X.indices.dtype)
    np.testing.assert_array_equal(places_in_columns(X, chosen), wanted)
