"""Gram rows on demand: their values, storage and eviction, and bitwise reproducibility."""

import mmap
import os
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import sparse

from bayespoint._runtime.threads import one_blas_thread, threads
from bayespoint.geometry import row_store
from bayespoint.geometry.kernels import Kernel
from bayespoint.geometry.row_store import (
    BLOCK_POINTS,
    MAX_POINTS_IN_ONE_BLOCK,
    NOT_STORED,
    UNIT,
    RowStore,
    block_size,
)
from bayespoint.geometry.settle import settle_kernel
from bayespoint.geometry.unit_kernel import PANEL_POINTS, AnyKernel, ProductKernel

SEED = int(os.environ.get("BAYESPOINT_TEST_SEED", "0"))
EPS = np.finfo(np.float32).eps
MANY = MAX_POINTS_IN_ONE_BLOCK + 100  # too many for a single block


@pytest.fixture(autouse=True)
def _one_blas_thread():
    with one_blas_thread():
        yield


@pytest.fixture
def small_blocks(monkeypatch):
    monkeypatch.setattr(row_store, "MAX_POINTS_IN_ONE_BLOCK", 8)
    monkeypatch.setattr(row_store, "BLOCK_POINTS", 8)


def unit_kernel(name, m, n_features, share=1.0):
    rng = np.random.default_rng(SEED)
    # With share < 1, every other feature is thin.
    kept = np.where(np.arange(n_features) % 2, share, 1.0)
    X = rng.standard_normal((m, n_features)) * (rng.random((m, n_features)) < kept)
    parameters = {"gamma": 1 / n_features, "degree": 3, "coef0": 1.0, "normalize": True}
    return ProductKernel(settle_kernel(name, X, fit_intercept=True, **parameters), X)


def any_kernel(m):
    """Return a kernel and its unit Gram matrix, which is easy to compute."""
    X = np.random.default_rng(SEED).standard_normal((m, 4))
    gram = np.exp(-np.abs(X[:, None] - X).sum(axis=2))
    kernel = AnyKernel(Kernel("precomputed"), 4 * gram, np.full(m, 2.0))
    return kernel, np.rint(gram / UNIT) * UNIT


def values(store, points):
    """Return the stored Gram rows of some points."""
    return store.rows[store.slot[points]] * UNIT


def held(store):
    return np.flatnonzero(store.slot != NOT_STORED)


def all_rows(kernel, n_rows, seed, thread_map=map):
    """Return the Gram matrix with rows fetched in random order."""
    rng, m = np.random.default_rng(seed), kernel.n_points
    store = RowStore(kernel, n_rows, thread_map)
    matrix, missing = np.full((m, m), np.nan), rng.permutation(m)
    while missing.size:
        score = np.zeros(m, dtype=np.int32)
        score[missing] = rng.integers(0, 3, missing.size)
        sure = rng.permutation(m)[: rng.integers(0, m)]
        store.fetch(missing[: rng.integers(1, 150)], score, sure)
        matrix[held(store)] = values(store, held(store))
        missing = missing[store.slot[missing] == NOT_STORED]
    return matrix


# --- the values of Gram rows


@pytest.mark.parametrize("share", [1.0, 0.1])
@pytest.mark.parametrize("name", ["linear", "rbf"])
def test_rows_are_those_of_the_gram_matrix(name, share):
    kernel = unit_kernel(name, MANY, 150, share)
    assert (kernel.n_thin > 0) == (share < 1)
    matrix = all_rows(kernel, 300, SEED)
    X, plain = kernel._points, kernel._kernel
    gram = plain(X, X) / np.outer(plain.lengths(X), plain.lengths(X))
    # n_features + 6 roundings of a sum of unit size, or of size 4 gamma |x|^2 for rbf.
    size = 4 * np.max(np.sum(X**2, axis=1)) / 150 if name == "rbf" else 1.0
    np.testing.assert_allclose(matrix, gram, atol=UNIT / 2 + (156 * size + 8) * EPS, rtol=0)
    np.testing.assert_array_equal(np.diagonal(matrix), 1.0)


def test_few_points_of_any_kernel():
    kernel, gram = any_kernel(60)
    np.testing.assert_array_equal(all_rows(kernel, 1, SEED), gram)


def test_values_of_an_indefinite_kernel_are_limited_and_noted():
    matrix = np.eye(5)
    matrix[0, 1] = matrix[1, 0] = -3.0
    matrix[2, 3] = matrix[3, 2] = 1.9
    store = RowStore(AnyKernel(Kernel("precomputed"), matrix, np.ones(5)), 5)
    store.fetch(np.arange(5), np.zeros(5))
    expected = np.clip(matrix, UNIT - 2, 2 - UNIT)
    np.testing.assert_allclose(values(store, np.arange(5)), expected, atol=UNIT / 2)
    assert store.largest == 3.0


# --- which Gram rows are stored and dropped


@pytest.mark.parametrize("kinds", [np.zeros(8, int), np.arange(8) % 3, np.arange(8)])
def test_long_sequences_of_fetches(kinds, small_blocks, monkeypatch):
    monkeypatch.setattr(row_store, "_kinds_of_positions", lambda kernel, block: kinds)
    rng, (kernel, gram) = np.random.default_rng(SEED), any_kernel(60)
    store = RowStore(kernel, 20)
    for _ in range(400):
        needed = rng.permutation(np.flatnonzero(store.slot == NOT_STORED))[: rng.integers(1, 15)]
        score = rng.integers(0, 5, 60)
        before, n_before = held(store), store.n_computed
        store.fetch(needed, score)
        now = held(store)
        new, gone = np.setdiff1d(now, before), np.setdiff1d(before, now)
        assert needed[0] in new
        assert np.all(np.isin(new, needed) | (score[new] > 0))
        assert 0 < len(new) == store.n_computed - n_before <= store.block
        assert len(now) <= len(store.rows) == 20
        kept = score[np.setdiff1d(before, gone)]
        assert not gone.size or score[gone].max() <= kept.min(initial=9)
        assert not gone.size or len(now) == 20  # no row is dropped while there is room
        slots = store.slot[now]
        assert len(np.unique(slots)) == len(slots)
        np.testing.assert_array_equal(store._point[slots], now)
        assert np.sum(store._point != NOT_STORED) == len(now)
        np.testing.assert_array_equal(values(store, now), gram[now])


def test_needed_rows_come_first_then_those_of_the_highest_score(small_blocks):
    kernel, _ = any_kernel(60)
    score = np.random.default_rng(SEED).permutation(60) + 1
    store = RowStore(kernel, 60)
    store.fetch(np.array([3, 50, 7]), score)
    rest = np.setdiff1d(np.arange(60), [3, 50, 7])
    highest = rest[np.argsort(-score[rest])[:5]]
    np.testing.assert_array_equal(held(store), np.sort([3, 50, 7, *highest]))
    store = RowStore(kernel, 60)
    store.fetch(np.arange(59, 20, -1), score)  # more than a block
    np.testing.assert_array_equal(held(store), np.arange(52, 60))
    store = RowStore(kernel, 60)
    store.fetch(np.array([5]), np.zeros(60, dtype=np.int32))  # no row has a positive score
    np.testing.assert_array_equal(held(store), [5])


def test_rows_in_advance_never_replace_rows_of_a_higher_score(small_blocks):
    store = RowStore(any_kernel(60)[0], 8)
    score = np.zeros(60)
    score[:4] = 10
    store.fetch(np.arange(8), score)
    score[20:24] = 5
    store.fetch(np.arange(40, 44), score)  # replaces the four rows of score 0
    np.testing.assert_array_equal(held(store), [0, 1, 2, 3, 40, 41, 42, 43])


def test_rows_that_are_surely_needed_make_more_blocks_if_there_is_room(small_blocks, monkeypatch):
    kernel, gram = any_kernel(60)
    score = np.random.default_rng(SEED).permutation(60) + 1
    sure, nothing = np.flatnonzero(score > 20), np.zeros(60)
    store = RowStore(kernel, 60)
    store.fetch(np.array([3]), nothing, sure)  # one row is needed, and 40 others will be
    found = held(store)
    assert len(found) == store.n_computed == 1 + 8 * (row_store.N_BLOCKS - 1)
    assert np.all(np.isin(found, [3, *sure]))
    np.testing.assert_array_equal(values(store, found), gram[found])
    store = RowStore(kernel, 60)
    store.fetch(np.array([3]), score, sure)  # the best ones are in the first block
    assert set(np.argsort(-score)[: 8 * row_store.N_BLOCKS - 1]) <= {3, *held(store)}
    for n_rows, n_blocks in ((8, 1), (15, 1), (16, 2), (31, 3)):
        store = RowStore(kernel, n_rows)
        store.fetch(np.arange(8), nothing, sure)
        assert len(held(store)) == 8 * n_blocks
    store = RowStore(kernel, 60)
    store.fetch(np.array([3]), nothing, sure[:15])  # too few
    np.testing.assert_array_equal(held(store), [3])
    monkeypatch.setattr(row_store, "MAX_VALUES_AT_ONCE", 2 * 8 * 60 + 1)  # for Ctrl-C
    store.fetch(np.array([4]), nothing, sure)
    assert len(held(store)) <= 2 + 8


def test_capacity_is_at_least_a_block_and_at_most_all(small_blocks):
    kernel, _ = any_kernel(60)
    assert [len(RowStore(kernel, n).rows) for n in (1, 8, 9, 60, 10**9)] == [8, 8, 9, 60, 60]


# --- the bits of a Gram row


@pytest.mark.parametrize(
    ("name", "n_features", "share"),
    [("linear", 20, 1), ("poly", 300, 1), ("rbf", 37, 1), ("sigmoid", 64, 1), ("poly", 150, 0.1)],
)
def test_bits_depend_neither_on_the_block_nor_on_threads_nor_on_capacity(name, n_features, share):
    kernel = unit_kernel(name, MANY, n_features, share)
    assert (kernel.n_thin > 0) == (share < 1)
    once = all_rows(kernel, 1, SEED)
    np.testing.assert_array_equal(all_rows(kernel, 700, SEED + 1), once)
    with threads(2) as thread_map:
        np.testing.assert_array_equal(all_rows(kernel, MANY, SEED + 2, thread_map), once)


@pytest.mark.parametrize("n_features", [20, 300])
def test_kinds_of_positions_are_those_of_equal_digits(n_features, monkeypatch):
    kernel = unit_kernel("linear", MANY, n_features)
    kinds = row_store._kinds_of_positions(kernel, BLOCK_POINTS)
    store = RowStore(kernel, 1)
    store.fetch(np.arange(BLOCK_POINTS), np.zeros(MANY))  # each gets a position of its kind
    assert len(kinds) == store.n_computed == BLOCK_POINTS
    out = np.empty((BLOCK_POINTS, PANEL_POINTS), dtype=np.float32)
    kernel.panel(kernel.rows(np.full(BLOCK_POINTS, 5)), 0, out)  # equal rows in all positions
    firsts = [out[kinds == kind][0] for kind in np.unique(kinds)]
    for kind, first in zip(np.unique(kinds), firsts, strict=True):
        assert np.all(out[kinds == kind] == first)
    if len(firsts) > 1:
        assert len(np.unique(firsts, axis=0)) == len(firsts)
        monkeypatch.setattr(row_store, "_kinds_of_positions", lambda k, b: np.zeros(b, int))
        assert np.any(all_rows(kernel, 1, SEED) != all_rows(kernel, 1, SEED + 1))


# --- sizes


def test_blocks_are_all_of_few_points_and_smaller_for_wide_ones():
    def size(n_points, n_features):
        return block_size(SimpleNamespace(n_points=n_points, n_features=n_features))

    assert [size(1, 3), size(MAX_POINTS_IN_ONE_BLOCK, 3), size(MAX_POINTS_IN_ONE_BLOCK, 10**9)] == [
        1,
        MAX_POINTS_IN_ONE_BLOCK,
        MAX_POINTS_IN_ONE_BLOCK,
    ]
    assert [size(MANY, 1), size(MANY, 10**4)] == [BLOCK_POINTS, BLOCK_POINTS]
    assert 8 < size(MANY, 10**6) < size(MANY, 2 * 10**5) < BLOCK_POINTS
    assert 4 * size(MANY, 10**6) * 10**6 <= 2**26
    assert size(MANY, 10**9) == 8


def test_many_equal_points_make_blocks():
    # Measured from their mean, all features are zero.
    X = np.ones((MANY, 3))
    kernel = settle_kernel(
        "linear", X, gamma=1.0, degree=3, coef0=1.0, normalize=False, fit_intercept=True
    )
    store = RowStore(ProductKernel(kernel, X), 1)
    store.fetch(np.array([7]), np.zeros(MANY))
    np.testing.assert_array_equal(values(store, 7), 1.0)


def test_wide_sparse_points(monkeypatch):
    monkeypatch.setattr(row_store, "_MAX_DENSE_BLOCK_BYTES", 2**21)
    rng = np.random.default_rng(SEED)
    where = (np.repeat(np.arange(MANY), 5), rng.integers(0, 200_000, 5 * MANY))
    X = sparse.csr_array((rng.standard_normal(5 * MANY), where), shape=(MANY, 200_000))
    lengths = np.sqrt((X**2).sum(axis=1))
    points = rng.permutation(MANY)[:100]
    stores = [RowStore(ProductKernel(Kernel("linear"), X), n) for n in (1, 200)]
    assert stores[0].block < BLOCK_POINTS
    for store, needed in zip(stores, (points[:50], points[::-1][50:]), strict=True):
        store.fetch(needed, np.zeros(MANY))
        gram = (X[points[:50]] @ X.T).toarray() / np.outer(lengths[points[:50]], lengths)
        rows = values(store, points[:50])
        np.testing.assert_allclose(rows, gram, atol=UNIT / 2 + 9 * EPS, rtol=0)  # of 5 products
    first, second = (values(store, points[:50]) for store in stores)
    np.testing.assert_array_equal(first, second)


def refuse(*_):
    raise OSError(22, "Invalid argument")


@pytest.mark.parametrize("pages", ["large", "unknown", "refused"])
def test_large_arrays_are_arrays_whatever_the_system_has(pages, monkeypatch):
    if pages == "unknown":
        monkeypatch.delattr(mmap, "MADV_HUGEPAGE", raising=False)
    if pages == "refused":  # by a system without huge pages
        monkeypatch.setattr(mmap, "mmap", type("Refusing", (mmap.mmap,), {"madvise": refuse}))
    for shape in ((3, 5), (1024, 1024), (1025, 1023)):
        array = row_store._large_array(shape)
        assert (array.shape, array.dtype) == (shape, np.int16)
        assert array.flags.c_contiguous
        array[:] = 2
        assert array.sum() == 2 * np.prod(shape)
