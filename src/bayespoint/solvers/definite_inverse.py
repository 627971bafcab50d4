"""The inverse of a positive definite matrix: in two halves that threads share, if it is large.

The halves and their tiles depend on the size of the matrix alone, and a tile is always computed
by the same operations: the bits are the same for any number of threads.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from .._runtime.lapack import (
    add_product,
    divide_by_upper,
    factor_upper,
    invert_upper,
    multiply_by_upper,
    square_of_upper,
)
from .._runtime.threads import run_all

# Smaller matrices are inverted as a whole: threads would wait for each other longer
# than they work.
MIN_POINTS_IN_THREADS = 320
# Rows or columns of a tile, about: smaller ones make slower products, larger ones idle threads.
TILE = 96
# Larger triangles are inverted by LAPACK, which uses products; below, our own loop is faster.
MAX_POINTS_IN_LOOP = 400
NOT_DEFINITE_MESSAGE = (
    "The kernel matrix plus noise on its diagonal should be positive definite, but is not. Choose "
    "another kernel or other kernel parameters, or pass a larger softness."
)


def invert_definite(matrix: np.ndarray, thread_map: Callable = map) -> tuple[np.ndarray, float]:
    """Return the inverse of a positive definite matrix and its log det; m^3 operations.

    The matrix is overwritten, and the inverse takes its memory if it is contiguous. Only one of
    its triangles is read: above the diagonal in Fortran's order, below in C's.
    """
    upper = matrix.T if matrix.flags.c_contiguous else np.asfortranarray(matrix)  # symmetric
    if len(matrix) < MIN_POINTS_IN_THREADS:
        log_det = _factor(upper)
        _invert_triangle(upper)
        square_of_upper(upper)
        _mirror(upper)
    else:
        log_det = _invert_in_halves(upper, thread_map)
    return upper.T, log_det


def _invert_in_halves(matrix: np.ndarray, thread_map: Callable) -> float:
    """Replace an upper triangle by the whole inverse of its matrix; return the log det.

    With factors U'U = A of the first half and W'W = D - T'T of the second half D, where
    T = U^-1' B for the block B beside it, the inverse of the whole factor has the blocks U^-1,
    P = -U^-1 T W^-1 and W^-1. The inverse of the matrix is that times its transpose.
    """
    n = len(matrix)
    half = n // 2
    first, beside = matrix[:half, :half], matrix[:half, half:]
    below, second = matrix[half:, :half], matrix[half:, half:]
    rows, columns = tiles_of(half), tiles_of(n - half)

    def run(*steps: Callable) -> list:
        return run_all(thread_map, lambda step: step(), steps)

    def subtract(some: slice) -> None:
        add_product(
            second[: some.stop, some], beside[:, : some.stop], beside[:, some], -1.0, "left"
        )

    def invert_second() -> float:
        found = _factor(second)
        _invert_triangle(second)
        return found

    def square_first() -> float:
        multiply_by_upper(first, beside)
        square_of_upper(first)
        return 0.0

    def square_beside(some: slice) -> None:
        add_product(first[: some.stop, some], beside[: some.stop], beside[some], 1.0, "right")

    def multiply_below(some: slice) -> None:
        below[:, some] = beside[some].T
        multiply_by_upper(second, below[:, some])

    def finish_second() -> None:
        square_of_upper(second)
        _mirror(second)

    def finish_first() -> None:
        _mirror(first)
        beside[:] = below.T

    log_det = _factor(first)
    run(*(partial(divide_by_upper, first, beside[:, c], transposed=True) for c in columns))
    # The longest steps first: then no thread has much to do at the end.
    run(partial(_invert_triangle, first), *(partial(subtract, c) for c in columns[::-1]))
    log_det += sum(run(invert_second, square_first))
    by_second = partial(multiply_by_upper, second, from_right=True, factor=-1.0)
    run(*(partial(by_second, beside[r]) for r in rows))
    run(
        *(partial(multiply_below, r) for r in rows),
        *(partial(square_beside, r) for r in rows[::-1]),
    )
    run(finish_second, finish_first)
    return log_det


def tiles_of(n: int) -> list[slice]:
    """Return an even number of slices of about equal size; a single one of few rows."""
    number = 2 * round(n / (2 * TILE)) or 1
    return [slice(n * k // number, n * (k + 1) // number) for k in range(number)]


def _factor(matrix: np.ndarray) -> float:
    """Replace a symmetric matrix by its upper Cholesky factor; return its log determinant."""
    if not factor_upper(matrix, clear=False):
        raise np.linalg.LinAlgError(NOT_DEFINITE_MESSAGE)
    return 2 * float(np.sum(np.log(np.diagonal(matrix))))


def _invert_triangle(upper: np.ndarray) -> None:
    """Replace an upper triangular matrix by its inverse."""
    from .._jit.triangle import invert_lower

    if len(upper) <= MAX_POINTS_IN_LOOP:
        invert_lower(upper.T)
    else:
        invert_upper(upper)


def _mirror(upper: np.ndarray) -> None:
    """Copy the part above the diagonal to the part below."""
    from .._jit.triangle import mirror_lower

    mirror_lower(upper.T)
