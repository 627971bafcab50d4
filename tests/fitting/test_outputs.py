"""Outputs at new points: the formula, blocks, threads, and memory."""

import os
import threading
import time
import tracemalloc

import numpy as np
import pytest
from scipy import sparse
from threadpoolctl import threadpool_info

from bayespoint.fitting import outputs as outputs_module
from bayespoint.fitting.outputs import (
    MIN_FAST_POINTS,
    MosaicHypothesis,
    cell_outputs,
    outputs,
    precomputed_outputs,
)
from bayespoint.geometry.kernels import Kernel, unnormalized_lengths
from bayespoint.geometry.row_store import BLOCK_POINTS
from bayespoint.geometry.settle import settle_kernel
from bayespoint.geometry.unit_kernel import PANEL_POINTS, ProductKernel

SEED = int(os.environ.get("BAYESPOINT_TEST_SEED", "0"))
SINGLE, DOUBLE = np.finfo(np.float32).eps, np.finfo(float).eps
NAMES = ("linear", "poly", "rbf", "sigmoid")
N_FEATURES, GAMMA, DEGREE = 5, 0.1, 3
FORMATS = (np.asarray, sparse.csr_array)


def settle(name, X, **changes):
    parameters = {"gamma": GAMMA, "degree": DEGREE, "coef0": 1.0, "normalize": False}
    return settle_kernel(name, X, **(parameters | {"fit_intercept": False} | changes))


def gaussian(m, n_features=N_FEATURES, seed=SEED):
    return np.random.default_rng(seed).standard_normal((m, n_features))


def support_vectors(n_support=40):
    """Return points exact in single precision, and coefficients for three hypotheses."""
    points = gaussian(n_support, seed=SEED + 1).astype(np.float32)
    return points.astype(float), gaussian(n_support, 3, SEED + 2)


def joined(kernel, X, S, coef, n_jobs=None):
    """Return all outputs; single-precision support vectors use single-precision products."""
    single = S.dtype == np.float32
    return np.concatenate(list(outputs(kernel, X, S, coef, single, n_jobs)))


def formula(kernel, X, S, coef):
    lengths = kernel.lengths(X)
    return kernel(X, S) / np.where(lengths > 0, lengths, 1.0)[:, None] @ coef


def check(got, kernel, X, S, coef, known):
    """Compare with the formula if kernel values of unit points have relative error `known`.

    The errors are independent, except for the error in the length of the new point.
    """
    expected = formula(kernel, X, S, coef)
    size = np.sqrt(kernel.lengths(S) ** 2 @ coef**2) + np.abs(expected)
    assert got.shape == expected.shape
    assert np.all(np.abs(got - expected) <= known * size)


def rounding(kernel, X, S):
    """Return the largest error of a kernel value of unit points in single precision.

    A sum of n_features + 2 products has an error of as many eps, times the product of the two
    norms: 1 for unit points, 4 gamma |x|^2 for rbf. Lengths have the same error. A power
    multiplies it by the degree. tanh is not scaled before, but divided by lengths after.
    """
    reach = max(np.sum((A - kernel.origin) ** 2, axis=1).max() for A in (X, S))
    shortest = min(unnormalized_lengths(kernel, A).min() for A in (X, S))
    size = {
        "linear": 1.0,
        "poly": DEGREE,
        "rbf": 4 * GAMMA * reach,
        "sigmoid": (GAMMA * reach + 1) / shortest**2,
    }.get(kernel.name, 1.0)
    return 2 * (N_FEATURES + 6) * SINGLE * max(size, 1.0)


# --- the formula


@pytest.mark.parametrize("normalize", [False, True])
@pytest.mark.parametrize("fit_intercept", [False, True])
@pytest.mark.parametrize("name", [*NAMES, "laplacian"])
def test_outputs_are_sums_of_the_kernel(name, fit_intercept, normalize, monkeypatch):
    monkeypatch.setattr(outputs_module, "MAX_BLOCK_BYTES", 8 * 40 * 30)  # 30 points
    X, (S, coef) = gaussian(100), support_vectors()
    X[3] = S.mean(axis=0)
    kernel = settle(name, S, fit_intercept=fit_intercept, normalize=normalize)
    double, single = (joined(kernel, X, S.astype(dtype), coef) for dtype in (float, np.float32))
    # Sums of 40 products; the kernel values have errors of a few eps themselves.
    check(double, kernel, X, S, coef, 100 * DOUBLE)
    check(single, kernel, X, S, coef, rounding(kernel, X, S))
    if name in NAMES:
        assert np.any(single != double)  # single-precision products were used


@pytest.mark.parametrize("of_support", FORMATS)
@pytest.mark.parametrize("of_points", FORMATS)
@pytest.mark.parametrize("name", NAMES)
def test_sparse_and_dense_mix(name, of_points, of_support):
    X, (S, coef) = gaussian(100), support_vectors()
    X[np.abs(X) < 1] = 0.0
    kernel = settle(name, of_support(S), fit_intercept=True)
    for dtype, known in ((float, 400 * DOUBLE), (np.float32, rounding(kernel, X, S))):
        got = joined(kernel, of_points(X), of_support(S.astype(dtype)), coef)
        check(got, kernel, X, S, coef, known)


@pytest.mark.parametrize("dtype", [np.float32, float])
@pytest.mark.parametrize("name", ["linear", "poly", "sigmoid"])
def test_points_at_the_origin_of_feature_space_give_zero(name, dtype):
    S, coef = support_vectors()
    kernel = settle(name, S, coef0=0.0)
    X = np.vstack([np.zeros((2, N_FEATURES)), gaussian(70)])
    got = joined(kernel, X, S.astype(dtype), coef)
    assert not np.any(got[:2])
    assert np.all(got[2:] != 0)


@pytest.mark.parametrize("fit_intercept", [False, True])
@pytest.mark.parametrize("degree", [3, 7, 30])
def test_polynomials_of_large_numbers_do_not_overflow(degree, fit_intercept):
    # Squared lengths reach 1e200, too much for single precision.
    X, S = 1e3 * gaussian(100), 1e3 * support_vectors()[0]
    kernel = settle("poly", S, degree=degree, fit_intercept=fit_intercept)
    coef = support_vectors()[1] / kernel.lengths(S)[:, None]
    known = 2 * degree * (N_FEATURES + 6) * SINGLE
    check(joined(kernel, X, S.astype(np.float32), coef), kernel, X, S, coef, known)


def test_points_far_from_the_support_vectors_keep_their_digits():
    S, coef = support_vectors()
    kernel = settle("rbf", S)
    X = np.vstack([gaussian(70), gaussian(1) + 1e4])
    got = joined(kernel, X, S.astype(np.float32), coef)
    np.testing.assert_array_equal(got, formula(kernel, X, S, coef))


@pytest.mark.parametrize("format", FORMATS)
def test_precomputed_outputs_are_sums_of_the_matrix(format, monkeypatch):
    monkeypatch.setattr(outputs_module, "MAX_BLOCK_BYTES", 8 * 40 * 30)
    K, (_, coef) = gaussian(100, 60), support_vectors()
    support = np.random.default_rng(SEED).permutation(60)[:40]
    blocks = list(precomputed_outputs(format(K), support, coef, 0.5, 2.0))
    expected = (K[:, support] + 0.5) / 2 @ coef
    assert [len(block) for block in blocks] == [30, 30, 30, 10]
    np.testing.assert_allclose(np.concatenate(blocks), expected, atol=1000 * DOUBLE, rtol=0)


# --- blocks and threads


@pytest.mark.parametrize("dtype", [np.float32, float])
@pytest.mark.parametrize(
    "n",
    [
        1,
        MIN_FAST_POINTS - 1,
        MIN_FAST_POINTS,
        MIN_FAST_POINTS + 1,
        BLOCK_POINTS,
        BLOCK_POINTS + 1,
        500,
    ],
)
def test_every_point_has_its_outputs(n, dtype):
    X, (S, coef) = gaussian(n), support_vectors(PANEL_POINTS + 1)
    kernel = settle("poly", S, fit_intercept=True)
    for n_jobs in (None, 2):
        got = joined(kernel, X, S.astype(dtype), coef, n_jobs)
        assert got.dtype == float
        check(got, kernel, X, S, coef, rounding(kernel, X, S))


@pytest.mark.parametrize("dtype", [np.float32, float])
@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("name", NAMES)
def test_outputs_do_not_depend_on_threads(name, format, dtype):
    X, (S, coef) = format(gaussian(1000)), support_vectors(PANEL_POINTS + 100)
    kernel = settle(name, format(S), fit_intercept=True)
    once = joined(kernel, X, format(S.astype(dtype)), coef, 1)
    for n_jobs in (2, 3, -1):
        np.testing.assert_array_equal(
            joined(kernel, X, format(S.astype(dtype)), coef, n_jobs), once
        )


def in_cells(way, X, n_jobs):
    """Return outputs in double precision of machines with three cells, or of a kernel matrix."""
    S, coef = support_vectors(300)
    kernel, centers = settle("rbf", S), S[:3]
    if way == "cells":
        return cell_outputs(kernel, X, S, coef, centers, n_jobs)
    if way == "mosaic":
        marks = gaussian(20, seed=SEED + 3)
        on_marks = np.random.default_rng(SEED).standard_normal((3, 3, 20))
        return MosaicHypothesis(kernel, centers, S, coef, marks, on_marks).outputs(X, False, n_jobs)
    matrix = kernel(X, S)
    return np.concatenate(list(precomputed_outputs(matrix, np.arange(300), coef, 0.5, 2.0, n_jobs)))


def in_cells_formula(way, X):
    """Return the same, one point at a time."""
    S, coef = support_vectors(300)
    kernel, centers = settle("rbf", S), S[:3]
    if way == "precomputed":
        return (kernel(X, S) + 0.5) / 2 @ coef
    cell, of_support = (
        np.array([np.argmin(np.sum((centers - x) ** 2, axis=1)) for x in A]) for A in (X, S)
    )
    found = [
        kernel(x[None], S[of_support == c])[0] @ coef[of_support == c]
        for x, c in zip(X, cell, strict=True)
    ]
    if way == "mosaic":
        marks = gaussian(20, seed=SEED + 3)
        on_marks = np.random.default_rng(SEED).standard_normal((3, 3, 20))
        found = [
            f + on_marks[c] @ kernel(marks, x[None])[:, 0]
            for f, x, c in zip(found, X, cell, strict=True)
        ]
    return np.array(found)


@pytest.mark.parametrize("way", ["cells", "mosaic", "precomputed"])
def test_cells_and_matrices_do_not_depend_on_threads(way, monkeypatch):
    """Several blocks in each cell, which threads share."""
    monkeypatch.setattr(outputs_module, "MAX_BLOCK_BYTES", 8 * 300 * 30)
    X = gaussian(400)
    once = in_cells(way, X, 1)
    # Sums of at most 320 products.
    np.testing.assert_allclose(once, in_cells_formula(way, X), rtol=0, atol=2000 * DOUBLE)
    for n_jobs in (2, 3):
        np.testing.assert_array_equal(in_cells(way, X, n_jobs), once)


def spy(monkeypatch):
    """Record the threads that compute blocks, and how many threads BLAS may use there."""
    seen = []
    compute = outputs_module._exact_outputs

    def watched(*args):
        blas = [i["num_threads"] for i in threadpool_info() if i["user_api"] == "blas"]
        seen.append((threading.get_ident(), max(blas, default=1)))
        time.sleep(0.01)  # so that one thread cannot do all of the work
        return compute(*args)

    monkeypatch.setattr(outputs_module, "_exact_outputs", watched)
    return seen


@pytest.mark.parametrize("way", ["plain", "cells", "mosaic"])
def test_double_precision_uses_threads_on_request(way, monkeypatch):
    monkeypatch.setattr(outputs_module, "MAX_BLOCK_BYTES", 8 * 300 * 30)
    seen = spy(monkeypatch)

    def compute(n_jobs):
        seen.clear()
        X, (S, coef) = gaussian(400), support_vectors(300)
        if way == "plain":
            joined(settle("rbf", S), X, S, coef, n_jobs)
        else:
            in_cells(way, X, n_jobs)
        return {thread for thread, _ in seen}

    assert compute(None) == {threading.get_ident()}
    assert len(compute(2)) == 2
    assert {n for _, n in seen} == {1}  # BLAS in each thread


def test_a_function_of_the_user_stays_in_one_thread():
    callers = set()

    def kernel(A, B):
        callers.add(threading.get_ident())
        return A @ B.T

    X, (S, coef) = gaussian(2000), support_vectors(300)
    joined(Kernel(kernel), X, S, coef, 2)
    assert callers == {threading.get_ident()}


# --- memory


def peak(blocks):
    """Return the peak memory while blocks are consumed and dropped, and the number of points."""
    tracemalloc.start()
    try:
        n = sum(len(block) for block in blocks)
        return tracemalloc.get_traced_memory()[1], n
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("way", ["single", "double", "precomputed"])
def test_memory_does_not_grow_with_the_number_of_points(way, monkeypatch):
    monkeypatch.setattr(outputs_module, "MAX_BLOCK_BYTES", 2**19)
    X, (S, coef) = gaussian(5000, 2), (gaussian(600, 2), gaussian(600, 3))
    kernel, matrix = settle("poly", S, fit_intercept=True), gaussian(5000, 600)
    S = S.astype(np.float32) if way == "single" else S

    def blocks(n):
        if way == "precomputed":
            return precomputed_outputs(matrix[:n], np.arange(600), coef, 1.0, 1.0)
        return outputs(kernel, X[:n], S, coef, S.dtype == np.float32)

    list(blocks(100))  # import and compile first
    (few, n_few), (many, n_many) = peak(blocks(500)), peak(blocks(5000))
    assert (n_few, n_many) == (500, 5000)
    assert many < 1.1 * few < 5000 * 600 * 4 / 4  # a quarter of the kernel matrix


def test_threads_do_not_run_far_ahead_of_the_consumer(monkeypatch):
    starts = []
    left = ProductKernel.left
    monkeypatch.setattr(ProductKernel, "left", lambda *a: (starts.append(0), left(*a))[1])
    S, coef = support_vectors()
    blocks = outputs(settle("poly", S), gaussian(60 * BLOCK_POINTS), S, coef, True, 2)
    next(blocks)
    time.sleep(0.3)
    ahead = len(starts)
    assert sum(len(block) for block in blocks) == 59 * BLOCK_POINTS
    assert len(starts) == 60
    assert ahead < 20
