"""The inverse of a positive definite matrix: in two halves that threads share, if it is large.

The halves and their tiles depend on the size of the matrix alone, and a tile is always computed
by the same operations: the bits are the same for any number of threads.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .._runtime.lapack import (
    factor_upper,
    invert_from_factor,
    invert_upper,
    multiply_by_upper,
    square_of_upper,
)

# Smaller matrices are inverted by LAPACK as a whole.
MIN_POINTS_IN_HALVES = 128
# With fewer points threads would wait for each other longer than they work.
MIN_POINTS_IN_THREADS = 256
# Rows or columns of a tile, at most: smaller ones make slower products, larger ones idle threads.
TILE = 96
NOT_DEFINITE_MESSAGE = (
    "The kernel matrix plus noise on its diagonal should be positive definite, but is not. Choose "
    "another kernel or other kernel parameters, or pass a larger softness."
)


def invert_definite(matrix: np.ndarray, thread_map: Callable = map) -> tuple[np.ndarray, float]:
    """Return the inverse of a positive definite matrix, which is overwritten, and its log det.

    With A = V' ^-1 V^-1 for the first half, T = V' B for the block B beside it, and the Schur
    complement S = D - T'T of the second half D, the inverse has the blocks S^-1, -V T S^-1 and
    V V' + V T S^-1 (V T)'. About m^3 operations.
    """
    n = len(matrix)
    upper = matrix.T if matrix.flags.c_contiguous else np.asfortranarray(matrix)  # symmetric
    if n < MIN_POINTS_IN_HALVES:
        log_det = _factor(upper)
        invert_from_factor(upper)
        return upper.T, log_det
    thread_map = thread_map if n >= MIN_POINTS_IN_THREADS else map
    first, second = slice(0, n // 2), slice(n // 2, n)
    V, T, rest = (
        np.asfortranarray(upper[rows, columns])
        for rows, columns in ((first, first), (first, second), (second, second))
    )
    log_det = _factor(V)
    invert_upper(V)

    def whiten(columns: slice) -> None:
        multiply_by_upper(V, T[:, columns], transposed=True)

    def subtract(columns: slice) -> None:
        rest[: columns.stop, columns] -= T[:, : columns.stop].T @ T[:, columns]

    _run(thread_map, whiten, tiles_of(n - n // 2))
    _run(thread_map, subtract, tiles_of(n - n // 2)[::-1])  # the longest first
    X, square = T.copy(order="F"), V.copy(order="F")

    def unwhiten() -> float:
        multiply_by_upper(V, X)
        square_of_upper(square)
        return 0.0

    def invert_rest() -> float:
        found = _factor(rest)
        invert_from_factor(rest)
        return found

    log_det += sum(thread_map(lambda step: step(), (unwhiten, invert_rest)))
    inverse = np.empty((n, n))
    inverse[second, second] = rest.T

    def complete(rows: slice) -> None:
        cross = X[rows] @ rest
        inverse[rows, second] = -cross
        inverse[second, rows] = -cross.T
        here = square[rows, : rows.stop] + cross @ X[: rows.stop].T
        here[:, rows] = (here[:, rows] + here[:, rows].T) / 2
        inverse[rows, : rows.stop] = here
        inverse[: rows.start, rows] = here[:, : rows.start].T

    _run(thread_map, complete, tiles_of(n // 2)[::-1])
    return inverse, log_det


def tiles_of(n: int) -> list[slice]:
    """Return slices of about equal size."""
    number = max(round(n / TILE), 1)
    return [slice(n * k // number, n * (k + 1) // number) for k in range(number)]


def _factor(matrix: np.ndarray) -> float:
    """Replace a symmetric matrix by its upper Cholesky factor; return its log determinant."""
    if not factor_upper(matrix):
        raise np.linalg.LinAlgError(NOT_DEFINITE_MESSAGE)
    return 2 * float(np.sum(np.log(np.diagonal(matrix))))


def _run(thread_map: Callable, function: Callable, items: list[slice]) -> None:
    for _ in thread_map(function, items):
        pass
