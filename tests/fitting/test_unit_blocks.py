"""Blocks of the kernel matrix of unit points, in single and in double precision."""

import os

import numpy as np
import pytest
from scipy import sparse

from bayespoint.fitting.unit_blocks import BLOCK_ROWS, UnitBlocks, fast_kernel, is_fast
from bayespoint.geometry.kernels import Kernel
from bayespoint.geometry.mixture import Mixture, fit_views, term_names
from bayespoint.geometry.mixture_kernel import MixtureKernel
from bayespoint.geometry.settle import settle_kernel
from bayespoint.geometry.unit_kernel import PANEL_POINTS, ProductKernel

SEED = int(os.environ.get("BAYESPOINT_TEST_SEED", "0"))
SINGLE, DOUBLE = (float(np.finfo(kind).eps) for kind in (np.float32, np.float64))
FAST = ["rbf", "linear", "poly", "mixture"]
LAPLACIAN = ("laplacian", False)  # it has no single precision
N_FEATURES, DEGREE, GAMMA = 5, 3, 0.1


def points(m, seed=SEED):
    X = np.random.default_rng(seed).normal(size=(m, N_FEATURES))
    X[:, 3] = np.random.default_rng(seed).integers(3, size=m)
    return X


def kernel_of(name, X):
    if name != "mixture":
        options = {"gamma": GAMMA, "degree": DEGREE, "coef0": 1.0, "normalize": False}
        return settle_kernel(name, X, fit_intercept=True, **options)
    views = fit_views(X)
    names = term_names(views)
    share = np.full(len(names), 1 / len(names))
    return Kernel("mixture", constant=0.5, mixture=Mixture(names, share, GAMMA + 0 * share, views))


def blocks_of(name, X, rows=None, single=True):
    """Return blocks, and the whole matrix of unit points in double precision."""
    rows = np.arange(X.shape[0]) if rows is None else rows
    kernel, dense = kernel_of(name, X), X.toarray() if sparse.issparse(X) else X
    lengths = kernel.lengths(X[rows])
    twin = kernel(dense[rows], dense[rows]) / np.outer(lengths, lengths)
    return UnitBlocks(kernel, X, rows, lengths, single), twin


def rounding(single, X):
    """Return the largest error of a value.

    A sum over features and a few extra ones has an error of as many eps, times the sizes of
    factors: at most 4 gamma |x|^2 for rbf and the mixture, 1 for the others. A power multiplies
    by its degree. In double precision the twin takes products of other blocks.
    """
    reach = np.square(abs(X - X.mean(axis=0))).sum(axis=1).max()
    size = max(4 * GAMMA * reach, DEGREE)
    return 2 * (N_FEATURES + 6) * (SINGLE if single else DOUBLE) * size


# Invariants


@pytest.mark.parametrize("single", [True, False])
@pytest.mark.parametrize("name", FAST)
def test_every_point_has_length_one(name, single):
    X = points(30)
    blocks, _ = blocks_of(name, X, single=single)
    every = np.arange(30)
    K = blocks.against(every)(every)
    assert K.dtype == blocks.dtype == (np.float32 if single else np.float64)
    np.testing.assert_allclose(np.diagonal(K), 1, atol=rounding(single, X))
    np.testing.assert_allclose(K, K.T, atol=rounding(single, X))
    assert np.abs(K).max() <= 1 + rounding(single, X)


# Agreement with the whole matrix


@pytest.mark.parametrize(
    ("name", "single"), [(name, single) for name in FAST for single in (True, False)] + [LAPLACIAN]
)
def test_blocks_are_parts_of_the_matrix(name, single):
    X = points(60)
    rows = np.random.default_rng(SEED).permutation(60)[:50]  # not all, and in any order
    blocks, twin = blocks_of(name, X, rows, single)
    left, right = np.array([3, 49, 0, 17, 17]), np.array([8, 2, 30, 49])
    block = blocks.against(right)(left)
    np.testing.assert_allclose(block, twin[np.ix_(left, right)], rtol=0, atol=rounding(single, X))
    # Positions are not rows of the table: the same positions without `rows` are other points.
    other, _ = blocks_of(name, X, single=single)
    assert np.abs(other.against(right)(left) - block).max() > 0.01


@pytest.mark.parametrize("name", FAST)
def test_blocks_larger_than_a_panel_and_more_rows_than_a_block(name):
    X = points(PANEL_POINTS + 60)
    blocks, twin = blocks_of(name, X)
    right = np.arange(len(X))
    left = np.arange(BLOCK_ROWS + 9)
    compute = blocks.against(right)
    np.testing.assert_allclose(compute(left), twin[left], rtol=0, atol=rounding(True, X))
    for n_columns in (1, 100, PANEL_POINTS, PANEL_POINTS + 1, len(X)):
        np.testing.assert_array_equal(compute(left, n_columns), compute(left)[:, :n_columns])


def test_columns_can_be_cut_in_double_precision():
    X = points(40)
    blocks, twin = blocks_of("laplacian", X, single=False)
    found = blocks.against(np.arange(40))(np.arange(5, 9), 11)
    np.testing.assert_allclose(found, twin[5:9, :11], rtol=0, atol=rounding(False, X))


@pytest.mark.parametrize("single", [True, False])
def test_sparse_points(single):
    X = np.round(points(40))
    blocks, twin = blocks_of("rbf", sparse.csr_array(X), single=single)
    found = blocks.against(np.arange(40))(np.arange(7))
    np.testing.assert_allclose(found, twin[:7], rtol=0, atol=rounding(single, X))


def test_a_precomputed_matrix_is_read_by_row_and_column():
    K = points(30) @ points(30).T + 3 * np.eye(30)
    rows = np.array([4, 20, 7, 9])
    constant = 0.5
    lengths = np.sqrt(np.diagonal(K)[rows] + constant)
    kernel = Kernel("precomputed", constant=constant)
    blocks = UnitBlocks(kernel, K, rows, lengths, False)
    found = blocks.against(np.array([0, 2]))(np.array([1, 3]))
    twin = (K[np.ix_([20, 9], [4, 7])] + constant) / np.outer(lengths[[1, 3]], lengths[[0, 2]])
    np.testing.assert_allclose(found, twin, rtol=4 * DOUBLE)


def test_points_of_infinite_length_are_zero():
    """A fit gives points at the origin of feature space an infinite length."""
    X = points(6)
    lengths = np.array([1.0, np.inf, 1, 1, 1, 1])
    blocks = UnitBlocks(Kernel("linear"), X, np.arange(6), lengths, False)
    K = blocks.against(np.arange(6))(np.arange(6))
    np.testing.assert_array_equal(K[1], 0)
    np.testing.assert_array_equal(K[:, 1], 0)


# Behavior


def test_single_precision_is_for_products_and_mixtures():
    X = points(50)
    for name in FAST:
        assert is_fast(kernel_of(name, X), X)
        kind = MixtureKernel if name == "mixture" else ProductKernel
        assert isinstance(fast_kernel(kernel_of(name, X), X), kind)
    assert not is_fast(kernel_of("laplacian", X), X)
    assert not is_fast(Kernel("precomputed"), X)
    # Squares of points a thousand widths away would lose all digits of their differences.
    assert not is_fast(Kernel("rbf", gamma=1.0), 1e3 * X)


@pytest.mark.parametrize("name", FAST)
def test_the_same_block_has_the_same_bits(name):
    X = points(BLOCK_ROWS + 40)
    blocks, _ = blocks_of(name, X)
    every = np.arange(len(X))
    np.testing.assert_array_equal(blocks.against(every)(every), blocks.against(every)(every))


def test_single_precision_was_used():
    X = points(40)
    every = np.arange(40)
    for name in FAST:
        single, double = (blocks_of(name, X, single=s)[0].against(every)(every) for s in (1, 0))
        assert np.any(single != double)
