import numpy as np
import pytest
from scipy import sparse

from bayespoint._jit import columns
from bayespoint.solvers.weights.points import entries
from mutants import mutant


def table(rng, n=60, d=5):
    """Return small whole numbers, of which some columns have a majority."""
    values = rng.integers(0, 4, (n, d)).astype(float)
    return np.where(rng.random((n, d)) < rng.random(d), 2.0, values)


def majority(column, weight):
    """Return the value that has more than half of the weight, or None."""
    return next((v for v in set(column) if 2 * weight[column == v].sum() > weight.sum()), None)


def agree(module, seeds):
    """Tell whether majorities win all votes."""
    right = True
    for seed in seeds:
        rng = np.random.default_rng(seed)
        X, weight = table(rng), rng.uniform(0, 2, 60)
        value, lead = np.zeros((2, 5))
        module.vote(X, weight, value, lead)
        value_of, lead_of = np.zeros((2, 5))
        X_stored = np.where(X == 0, 7.0, X)  # no zeros: all entries are stored
        voting = np.ones(5, dtype=bool), value_of, lead_of
        module.vote_entries(*entries(sparse.csr_array(X_stored)), weight, *voting)
        for j in range(5):
            wanted = majority(X[:, j], weight)
            right &= wanted is None or value[j] == wanted
            wanted = majority(X_stored[:, j], weight)
            right &= wanted is None or value_of[j] == wanted
    return right


def test_a_majority_wins_the_vote():
    assert agree(columns, range(50))


def test_a_broken_vote_is_noticed():
    broken = mutant(
        columns,
        "value[j] = X[i, j]\n                lead[j] = w - lead[j]",
        "value[j] = X[i, j]\n                lead[j] = w + lead[j]",
    )
    assert not agree(broken, range(50))


def test_sums_are_sums(rng):
    X, weight, reference = table(rng), rng.uniform(0, 2, 60), np.array([2.0, 0, 1, 0.5, 3])
    dense, totals, counts = np.zeros((3, 5)), np.zeros((5, 4)), np.zeros(5)
    columns.add_rows(X, weight, reference, *dense)
    np.testing.assert_allclose(dense[0], weight @ (X - reference))
    np.testing.assert_allclose(dense[1], weight @ (X - reference) ** 2)
    np.testing.assert_allclose(dense[2], weight @ (reference != X))
    columns.add_entries(*entries(sparse.csr_array(X)), weight, reference, totals)
    columns.count_entries(*entries(sparse.csr_array(X)), weight, counts)
    stored = totals.T
    there = X != 0
    np.testing.assert_allclose(stored[0], weight @ np.where(there, X - reference, 0))
    np.testing.assert_allclose(stored[1], weight @ np.where(there, X - reference, 0) ** 2)
    np.testing.assert_allclose(stored[2], weight @ (there & (reference != X)))
    np.testing.assert_allclose(stored[3], weight @ there)
    np.testing.assert_allclose(counts, weight @ there)


def test_rare_columns_and_stored_zeros_do_not_vote():
    X = sparse.csr_array((np.array([4.0, 4, 0, 4]), ([0, 0, 1, 2], [0, 1, 1, 1])), shape=(3, 2))
    value, lead, counts = np.zeros((3, 2))
    columns.count_entries(*entries(X), np.ones(3), counts)
    np.testing.assert_array_equal(counts, [1, 2])
    columns.vote_entries(*entries(X), np.ones(3), counts > 1.5, value, lead)
    np.testing.assert_array_equal([value, lead], [[0, 4], [0, 2]])


@pytest.mark.parametrize("kind", [np.int32, np.int64])
def test_centers_are_subtracted_from_sparse_rows(rng, kind):
    X, center = table(rng), np.array([2.0, 0, 1, 0, 3])
    rows = sparse.csr_array(X)
    size = rows.nnz + 3 * 60
    data, indices, indptr = np.empty(size), np.empty(size, kind), np.zeros(61, kind)
    rows.indices, rows.indptr = rows.indices.astype(kind), rows.indptr.astype(kind)
    moved = np.array([0, 2, 4], dtype=np.uint64)
    n = columns.subtract(*entries(rows), moved, center, data, indices, indptr)
    found = sparse.csr_array((data[:n], indices[:n], indptr), shape=X.shape)
    np.testing.assert_array_equal(found.toarray(), X - center)
    assert found.has_canonical_format
    assert np.all(found.data != 0)


def test_entries_of_chosen_columns_are_found(rng):
    X, chosen, places = sparse.csr_array(table(rng)), rng.random(5) < 0.5, np.empty(300, int)
    n = columns.find_entries(entries(X)[1], chosen, places)
    np.testing.assert_array_equal(places[:n], np.flatnonzero(chosen[X.indices]))
