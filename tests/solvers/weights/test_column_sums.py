from functools import reduce

import numpy as np
import pytest
from scipy import sparse

from bayespoint.solvers.weights import column_sums as module
from bayespoint.solvers.weights.column_sums import ColumnSums, Votes, column_sums, column_votes

KINDS = [np.asarray, np.asfortranarray, sparse.csr_array]


@pytest.fixture
def table(rng):
    values = rng.integers(0, 4, (30, 4)).astype(float)
    return np.where(rng.random((30, 4)) < [0.8, 0.8, 0, 0.3], [0.0, 5.0, 0.0, 5.0], values)


@pytest.mark.parametrize("kind", KINDS)
def test_sums_count_rows_by_their_weight(rng, table, kind, monkeypatch):
    monkeypatch.setattr(module, "BLOCK_ROWS", 7)
    weight = rng.uniform(0, 2, 30)
    reference = np.array([0.0, 5.0, 1.5, 3.0])
    sums, squares, counts, n_rows = column_sums(kind(table), weight, reference)
    away = table - reference
    np.testing.assert_allclose(sums, weight @ away)
    np.testing.assert_allclose(squares, weight @ away**2)
    np.testing.assert_allclose(counts, weight @ (away != 0))
    assert n_rows == pytest.approx(weight.sum())


@pytest.mark.parametrize("kind", KINDS)
def test_the_most_common_value(rng, table, kind, monkeypatch):
    monkeypatch.setattr(module, "BLOCK_ROWS", 7)
    value = column_votes(kind(table), np.ones(30)).value
    np.testing.assert_array_equal(value[:2], [0.0, 5.0])
    # Weights count: a single row may have the majority.
    weight = np.where(np.arange(30) == 11, 40.0, 1.0)
    np.testing.assert_array_equal(column_votes(kind(table), weight).value, table[11])


@pytest.mark.parametrize("kind", KINDS)
def test_parts_of_rows_add_up(rng, table, kind):
    weight, reference = rng.uniform(0, 2, 30), np.array([0.0, 5.0, 1.5, 3.0])
    parts = [slice(0, 3), slice(3, 20), slice(20, 30)]
    votes = reduce(Votes.plus, (column_votes(kind(table[p]), weight[p]) for p in parts))
    np.testing.assert_array_equal(votes.value[:2], [0.0, 5.0])
    sums = reduce(
        ColumnSums.plus, (column_sums(kind(table[p]), weight[p], reference) for p in parts)
    )
    for found, whole in zip(sums, column_sums(table, weight, reference), strict=True):
        np.testing.assert_allclose(found, whole)
