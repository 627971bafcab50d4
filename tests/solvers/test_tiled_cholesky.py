"""Cholesky factor and inverse in tiles: identities, LAPACK, the same bits for any threads."""

import os

import numpy as np
import pytest

from bayespoint._runtime.threads import one_blas_thread, threads
from bayespoint.solvers import tiled_cholesky
from bayespoint.solvers.tiled_cholesky import (
    TILE,
    factor,
    invert,
    multiply_by_lower,
    subtract_square,
    times_upper,
)
from mutants import interpreted

SEED = int(os.environ.get("BAYESPOINT_TEST_SEED", "0"))
PRECISIONS = [np.float32, np.float64]
M = 50
TILES = [1, 3, 7, 25, 49, 50, 64]


def matrix_of(m=M, dtype=np.float64, seed=SEED):
    """Return a kernel matrix in units of the noise; its condition number is below 10 m."""
    X = np.random.default_rng(seed).normal(size=(m, 3))
    K = np.exp(-0.5 * np.sum((X[:, None] - X[None]) ** 2, axis=2))
    return (10 * K + np.eye(m)).astype(dtype)


def rounding(matrix):
    """Return the error of a factorization or an inverse, relative to their norms.

    Each of m steps makes an error of a few eps (Higham 2002, theorems 10.3 and 8.14), which the
    condition number amplifies in the factor and in the inverse.
    """
    values = np.linalg.eigvalsh(matrix.astype(float))
    return 4 * len(matrix) * np.finfo(matrix.dtype).eps * values[-1] / values[0]


def solved(module, matrix, tile, thread_map=map):
    """Return factor, its inverse and the log determinant, with NaN above the diagonal."""
    lower = np.where(np.tri(len(matrix), dtype=bool), matrix, np.nan).astype(matrix.dtype)
    n_rows, log_det = module.factor(lower, thread_map, tile)
    assert n_rows == len(matrix)
    inverse = lower.copy()
    module.invert(inverse, thread_map, tile)
    return np.tril(lower), inverse, log_det


def agrees(module, dtype=np.float64):
    """Tell whether all tiles give the factor, inverse and determinant of LAPACK."""
    right = True
    for tile in TILES:
        matrix = matrix_of(dtype=dtype)
        lower, inverse, log_det = solved(module, matrix, tile)
        twin = np.linalg.cholesky(matrix.astype(float))
        known, atol = np.linalg.inv(twin), rounding(matrix)
        right &= lower.dtype == inverse.dtype == dtype
        right &= np.allclose(lower, twin, rtol=0, atol=atol * np.abs(twin).max())
        right &= np.allclose(inverse, known, rtol=0, atol=atol * np.abs(known).max())
        right &= np.isclose(log_det, np.linalg.slogdet(matrix.astype(float))[1], atol=M * atol)
    return bool(right)


# Invariants


@pytest.mark.parametrize("dtype", PRECISIONS)
@pytest.mark.parametrize("tile", TILES)
def test_the_factor_times_its_transpose_is_the_matrix(tile, dtype):
    matrix = matrix_of(dtype=dtype)
    lower, inverse, _ = solved(tiled_cholesky, matrix, tile)
    # The backward error does not depend on the condition number (Higham 2002, theorem 10.3).
    eps = 4 * M * np.finfo(dtype).eps
    scale = np.trace(matrix)
    np.testing.assert_allclose(lower.astype(float) @ lower.T, matrix, rtol=0, atol=eps * scale)
    np.testing.assert_allclose(inverse @ lower, np.eye(M), rtol=0, atol=rounding(matrix))
    assert np.all(np.diagonal(lower) > 0)


def test_the_inverse_is_zero_above_the_diagonal():
    _, inverse, _ = solved(tiled_cholesky, matrix_of(), 7)
    np.testing.assert_array_equal(np.triu(inverse, 1), 0)


def test_inverting_twice_is_the_identity():
    lower, inverse, _ = solved(tiled_cholesky, matrix_of(), 7)
    invert(inverse, tile=7)
    np.testing.assert_allclose(inverse, lower, rtol=0, atol=rounding(matrix_of()) * 10)


def test_tiles_above_the_diagonal_are_left_alone():
    matrix = matrix_of()
    before = matrix.copy()
    factor(matrix, tile=10)
    above = np.kron(np.triu(np.ones((5, 5)), 1), np.ones((10, 10))).astype(bool)
    np.testing.assert_array_equal(matrix[above], before[above])


# Agreement with LAPACK


@pytest.mark.parametrize("dtype", PRECISIONS)
def test_every_tile_gives_the_factor_of_lapack(dtype):
    assert agrees(tiled_cholesky, dtype)


@pytest.mark.parametrize("m", [0, 1, 2])
def test_tiny_matrices(m):
    lower, inverse, log_det = solved(tiled_cholesky, 4.0 * np.eye(m), TILE)
    np.testing.assert_array_equal(lower, 2 * np.eye(m))
    np.testing.assert_array_equal(inverse, np.eye(m) / 2)
    assert log_det == pytest.approx(m * np.log(4))


def test_the_default_tile_with_more_than_one_tile():
    matrix = matrix_of(TILE + 90)
    with one_blas_thread():
        lower, inverse, log_det = solved(tiled_cholesky, matrix, TILE)
        atol = rounding(matrix)
        np.testing.assert_allclose(inverse @ lower, np.eye(len(matrix)), rtol=0, atol=atol)
        assert log_det == pytest.approx(np.linalg.slogdet(matrix)[1], rel=atol)


@pytest.mark.parametrize("dtype", PRECISIONS)
@pytest.mark.parametrize("tile", [1, 7, 50, TILE])
def test_a_product_with_an_upper_triangle_is_a_product(tile, dtype):
    upper = np.triu(matrix_of(dtype=dtype))
    for left in (matrix_of(seed=SEED + 1, dtype=dtype)[:9], matrix_of(dtype=dtype)[:, ::-1]):
        found = times_upper(left, upper, tile)
        assert found.dtype == dtype
        # A sum of M products has an error of M eps times the sum of their sizes.
        atol = M * np.finfo(dtype).eps * (np.abs(left) @ np.abs(upper)).max()
        np.testing.assert_allclose(found, left.astype(float) @ upper, rtol=0, atol=atol)
    # What is below the tiles of the diagonal is not read.
    spoiled = np.where(np.tri(M, k=-tile, dtype=bool), np.nan, upper).astype(dtype)
    np.testing.assert_array_equal(times_upper(left, spoiled, tile), found)


@pytest.mark.parametrize("dtype", PRECISIONS)
@pytest.mark.parametrize("tile", [1, 7, 50, TILE])
def test_a_product_with_a_lower_triangle_is_a_product(tile, dtype):
    lower = np.tril(matrix_of(dtype=dtype))
    for right in (matrix_of(seed=SEED + 1, dtype=dtype)[:, :9], matrix_of(dtype=dtype)[::-1]):
        found = right.copy()
        multiply_by_lower(lower, found, tile)
        # A sum of M products has an error of M eps times the sum of their sizes.
        atol = M * np.finfo(dtype).eps * (np.abs(lower) @ np.abs(right)).max()
        np.testing.assert_allclose(found, lower.astype(float) @ right, rtol=0, atol=atol)
        # What is above the tiles of the diagonal is not read.
        spoiled, again = np.where(np.tri(M, k=-tile, dtype=bool).T, np.nan, lower), right.copy()
        multiply_by_lower(spoiled.astype(dtype), again, tile)
        np.testing.assert_array_equal(again, found)


@pytest.mark.parametrize("dtype", PRECISIONS)
@pytest.mark.parametrize("tile", [1, 7, 50, TILE])
def test_squares_are_subtracted_from_the_lower_triangle(tile, dtype):
    matrix, rows = matrix_of(dtype=dtype), matrix_of(seed=SEED + 1, dtype=dtype)[:, :9]
    found = np.where(np.tri(M, k=-tile, dtype=bool).T, np.nan, matrix).astype(dtype)
    subtract_square(found, rows, tile)
    exact = matrix.astype(float) - rows.astype(float) @ rows.T
    atol = M * np.finfo(dtype).eps * (np.abs(matrix) + np.abs(rows) @ np.abs(rows).T).max()
    lower = np.tril_indices(M)
    np.testing.assert_allclose(found[lower], exact[lower], rtol=0, atol=atol)


# Work that stops early


@pytest.mark.parametrize("n_tiles", [1, 2, 4])
def test_the_first_rows_are_complete_after_each_tile(n_tiles):
    whole, part = matrix_of(), matrix_of()
    factor(whole, tile=11)
    reports = []

    def is_over(n_rows):
        reports.append(n_rows)
        return len(reports) == n_tiles

    n_rows, log_det = factor(part, tile=11, is_over=is_over)
    assert n_rows == reports[-1] == 11 * n_tiles
    assert reports == [11 * (k + 1) for k in range(n_tiles)]
    lead = np.s_[:n_rows, :n_rows]
    np.testing.assert_array_equal(np.tril(part[lead]), np.tril(whole[lead]))
    known = np.linalg.slogdet(matrix_of()[lead])[1]
    assert log_det == pytest.approx(known, abs=M * rounding(matrix_of()))


def test_without_a_reason_to_stop_all_rows_are_done():
    reports = []
    assert factor(matrix_of(), tile=20, is_over=reports.append)[0] == M  # None is false
    assert reports[:2] == [20, 40]


# Errors, determinism


@pytest.mark.parametrize("tile", [1, 7, 64])
@pytest.mark.parametrize("place", [0, 30, 49])
def test_a_matrix_that_is_not_positive_definite_is_an_error(place, tile):
    matrix = matrix_of()
    matrix[place, place] = -1.0
    with pytest.raises(np.linalg.LinAlgError):
        factor(matrix, tile=tile)


@pytest.mark.parametrize("dtype", PRECISIONS)
@pytest.mark.parametrize("n_jobs", [2, 3])
def test_threads_do_not_change_a_bit(n_jobs, dtype):
    matrix = matrix_of(200, dtype)
    with one_blas_thread(), threads(n_jobs) as thread_map:
        one = solved(tiled_cholesky, matrix, 32)
        several = solved(tiled_cholesky, matrix, 32, thread_map)
    np.testing.assert_array_equal(one[0], several[0])
    np.testing.assert_array_equal(one[1], several[1])
    assert one[2] == several[2]


# Versions that are broken on purpose

BROKEN = {
    "a tile is not subtracted": ("subtract, below[::-1])  # the", "subtract, below[:-1])  # the"),
    "the last tile is not divided": ("divide, below)", "divide, below[:-1])"),
    "a sign": ("@ -corner", "@ corner"),
    "half the determinant": ("log_det += 2 *", "log_det +="),
    "the inverse of another matrix": ("] = inverted @ column", "] = 2 * inverted @ column"),
}


@pytest.mark.parametrize("change", BROKEN.values(), ids=BROKEN)
def test_a_broken_version_is_noticed(change):
    try:
        noticed = not agrees(interpreted(tiled_cholesky, *change))
    except np.linalg.LinAlgError:  # what is left is not positive definite
        noticed = True
    assert noticed
