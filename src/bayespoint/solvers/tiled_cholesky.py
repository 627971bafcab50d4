"""Cholesky factor and its inverse in tiles: all cores, in place, the same bits for any number.

A tile is always computed by the same operations in the same order, whichever thread does it.
BLAS itself should be limited to one thread meanwhile.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy import linalg

# Rows and columns of a tile. Smaller tiles make slower products, larger ones leave cores idle.
TILE = 512


def factor(
    matrix: np.ndarray,
    thread_map: Callable = map,
    tile: int = TILE,
    is_over: Callable[[int], bool] | None = None,
) -> tuple[int, float]:
    """Replace the lower triangle of a positive definite matrix by its Cholesky factor.

    The upper triangle is left alone. m^3 / 3 operations. The factor of a leading part of the
    matrix is the leading part of the factor, so it is complete if the work stops early.

    Parameters
    ----------
    matrix : array of shape (m, m)
        Symmetric; only its lower triangle is read.
    thread_map : callable, default=map
        A `map` that may use threads.
    tile : int, default=512
        Size of the tiles.
    is_over : callable, default=None
        Called with the number of finished rows after each tile; a true answer stops the work.

    Returns
    -------
    n_rows : int
        The number of finished rows: the size of the leading part that was factored.
    log_det : float
        The log determinant of this part.

    Raises
    ------
    numpy.linalg.LinAlgError
        If the matrix is not positive definite.
    """
    log_det = 0.0
    tiles = tiles_of(len(matrix), tile)
    for k, here in enumerate(tiles):
        corner = _corner(matrix[here, here])
        matrix[here, here] = corner
        log_det += 2 * float(np.sum(np.log(np.diagonal(corner).astype(np.float64))))
        to_column = np.ascontiguousarray(_inverse(corner).T)

        def divide(rows: slice, here=here, to_column=to_column) -> None:
            matrix[rows, here] = matrix[rows, here] @ to_column

        def subtract(rows: slice, here=here) -> None:
            left = slice(here.stop, rows.stop)
            matrix[rows, left] -= matrix[rows, here] @ matrix[left, here].T

        below = tiles[k + 1 :]
        if is_over is not None and is_over(here.stop):
            return here.stop, log_det
        _run(thread_map, divide, below)
        _run(thread_map, subtract, below[::-1])  # the longest first
    return len(matrix), log_det


def invert(lower: np.ndarray, thread_map: Callable = map, tile: int = TILE) -> None:
    """Replace a lower triangular matrix by its inverse, and clear the upper triangle.

    m^3 / 3 operations.
    """
    tiles = tiles_of(len(lower), tile)
    for k in range(len(tiles) - 1, -1, -1):
        here = tiles[k]
        corner = _inverse(np.tril(lower[here, here]))
        below = tiles[k + 1 :]
        column = lower[here.stop :, here] @ -corner

        def multiply(rows: slice, here=here, column=column) -> None:
            inverted = lower[rows, here.stop : rows.stop]
            lower[rows, here] = inverted @ column[: rows.stop - here.stop]

        _run(thread_map, multiply, below[::-1])
        lower[here, here] = corner
        lower[here, here.stop :] = 0.0


def times_upper(left: np.ndarray, upper: np.ndarray, tile: int = TILE) -> np.ndarray:
    """Return left @ upper for an upper triangular matrix, in about half the time of a product."""
    out = np.empty((len(left), upper.shape[1]), dtype=left.dtype)
    for here in tiles_of(upper.shape[1], tile):
        np.matmul(left[:, : here.stop], upper[: here.stop, here], out=out[:, here])
    return out


def multiply_by_lower(lower: np.ndarray, right: np.ndarray, tile: int = TILE) -> None:
    """Replace a matrix by a lower triangular matrix times it, in half the time of a product."""
    for here in tiles_of(len(lower), tile)[::-1]:  # rows that are still needed come first
        right[here] = lower[here, : here.stop] @ right[: here.stop]


def subtract_square(matrix: np.ndarray, rows: np.ndarray, tile: int = TILE) -> None:
    """Subtract the products of all pairs of rows from the lower triangle of a matrix."""
    for here in tiles_of(len(matrix), tile):
        matrix[here, : here.stop] -= rows[here] @ rows[: here.stop].T


def tiles_of(m: int, tile: int = TILE) -> list[slice]:
    return [slice(start, min(start + tile, m)) for start in range(0, m, tile)]


def _run(thread_map: Callable, function: Callable, items: list[slice]) -> None:
    for _ in thread_map(function, items):
        pass


def _corner(matrix: np.ndarray) -> np.ndarray:
    """Return the Cholesky factor of a tile on the diagonal."""
    return linalg.cholesky(np.tril(matrix), lower=True, check_finite=False)


def _inverse(lower: np.ndarray) -> np.ndarray:
    """Return the inverse of a triangular tile."""
    trtri = linalg.get_lapack_funcs("trtri", (lower,))
    return np.ascontiguousarray(trtri(lower, lower=1)[0])
