import numpy as np
import pytest
from scipy import sparse

from bayespoint.distributed import sorting
from bayespoint.distributed.row_parts import Part, RowParts
from bayespoint.distributed.sorting import sort_by_content
from bayespoint.geometry.equal_rows import merge_equal_rows
from cluster_helpers import OneProcess


def rows_of(X, target, weight, n_parts=4, **options):
    client = OneProcess(**options)
    number = np.arange(len(target))
    whole = Part(X, target, weight, 2 * weight, number)
    cuts = np.array_split(number, n_parts)
    return RowParts(client, [client.submit(Part.take, whole, cut) for cut in cuts])


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("part_bytes", [2**26, 500])
def test_the_order_of_one_machine(rng, kind, part_bytes, monkeypatch):
    monkeypatch.setattr(sorting, "PART_BYTES", part_bytes)
    X = kind(rng.integers(-1, 2, (200, 4)).astype(float))  # many rows are equal
    target, weight = rng.integers(0, 3, 200), rng.random(200)
    rows = sort_by_content(rows_of(X, target, weight))
    found = rows.take(np.arange(rows.n_rows))
    sets = merge_equal_rows(X, target, weight)
    assert (len(rows.parts) == 3) == (part_bytes > 500)
    np.testing.assert_array_equal(found.number, sets.first)
    np.testing.assert_array_equal((X[sets.first] != found.X).sum(), 0)
    np.testing.assert_array_equal(found.target, target[sets.first])
    np.testing.assert_allclose(found.weight, sets.weight)
    np.testing.assert_allclose(found.likelihood, 2 * sets.weight)


def test_parts_are_of_similar_size(rng):
    rows = sort_by_content(
        rows_of(rng.standard_normal((3000, 2)), np.zeros(3000, int), np.ones(3000))
    )
    # Each border is the k-th of 192 points: a Beta quantile with a deviation of 0.035 of all.
    assert np.all(np.abs(rows.sizes / 3000 - 1 / 3) < 5 * np.sqrt(2) * 0.035)


def test_parts_are_small_beside_the_memory_of_a_worker(rng):
    given = rng.standard_normal((3000, 2)), np.zeros(3000, int), np.ones(3000)
    for limit, n_parts in ((0, 3), (2**30, 3), (64 * 4800, 10)):  # of 48,000 bytes
        assert len(sort_by_content(rows_of(*given, memory_limit=limit)).parts) == n_parts


def test_one_row_and_equal_rows():
    for n in (1, 50):
        rows = sort_by_content(rows_of(np.ones((n, 2)), np.zeros(n, int), np.ones(n), 1))
        assert rows.n_rows == 1
        assert rows.take(np.arange(1)).weight == n
