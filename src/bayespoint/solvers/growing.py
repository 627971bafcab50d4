"""Square matrices that gain and lose rows, and the inverse of such a matrix, in O(m^2) a row."""

from __future__ import annotations

import numpy as np

from .definite_inverse import invert_definite

# A matrix gets room for this many times its rows when it is full.
ROOM = 1.5
# Rows of a matrix that are updated at once: they stay in the processor's cache.
BLOCK_ROWS = 64
# Updates of an inverse lose digits slowly. After so many of them the product with the matrix is
# compared with one, and the inverse is computed anew if it is further from one than this.
UPDATES_BETWEEN_CHECKS = 10
MAX_INVERSE_ERROR = 1e-9


class GrowingSquare:
    """A symmetric matrix with room for more rows and columns, so that a new one copies little."""

    def __init__(self, matrix: np.ndarray):
        self._buffer, self.size = matrix, len(matrix)

    @property
    def values(self) -> np.ndarray:
        """Return the matrix, a view."""
        return self._buffer[: self.size, : self.size]

    def append(self, across: np.ndarray, corner: np.ndarray) -> None:
        """Add rows: their entries with the old rows, (m, n), and with each other, (n, n)."""
        m, n = across.shape
        if m + n > len(self._buffer):
            room = max(int(ROOM * m), m + n)
            larger = np.empty((room, room))
            larger[:m, :m] = self.values
            self._buffer = larger
        self._buffer[:m, m : m + n] = across
        self._buffer[m : m + n, :m] = across.T
        self._buffer[m : m + n, m : m + n] = corner
        self.size = m + n

    def delete(self, rows: np.ndarray) -> None:
        """Remove rows and columns; the others keep their order."""
        kept = np.delete(np.arange(self.size), rows)
        n = len(kept)
        # Row by row to the front: no row is overwritten before it is read.
        for to, row in enumerate(kept):
            self._buffer[to, :n] = self._buffer[row, kept]
        self.size = n

    def add_product(self, left: np.ndarray, right: np.ndarray) -> None:
        """Add left @ right.T, which is symmetric, in blocks that stay in the cache."""
        values = self.values
        for start in range(0, self.size, BLOCK_ROWS):
            rows = slice(start, start + BLOCK_ROWS)
            values[rows] += left[rows] @ right.T


class GrowingInverse:
    """The inverse and the log determinant of a positive definite matrix that gains and loses rows.

    With U = C^-1 B and the Schur complement S = D - B'U, rows [B'; D] that are added to C
    change the inverse by U S^-1 U', and the log determinant by log |S|. Rows are removed by the
    same formula read backwards: C^-1 of the others is P - P_of P_ff^-1 P_fo. Both take
    O(m^2) for a row, where a new factorization takes O(m^3).

    Parameters
    ----------
    matrix : array of shape (m, m)
        The matrix; the object owns it from now on.
    """

    def __init__(self, matrix: np.ndarray):
        self.matrix = GrowingSquare(matrix)
        self._n_updates = 0
        self.n_factorizations = 0
        self._factor()

    @property
    def values(self) -> np.ndarray:
        """Return the inverse, a view."""
        return self._inverse.values

    def add(self, across: np.ndarray, corner: np.ndarray) -> None:
        """Add rows; arguments as those of `GrowingSquare.append`."""
        solved = self.values @ across
        try:
            inverse, log_det = invert_definite(corner - across.T @ solved)
        except np.linalg.LinAlgError:
            inverse, log_det = np.full(corner.shape, np.nan), np.nan  # rounding; see below
        self.matrix.append(across, corner)
        on_new = -solved @ inverse
        self._inverse.add_product(-on_new, solved)
        self._inverse.append(on_new, inverse)
        self.log_det += log_det
        self._check()

    def remove(self, rows: np.ndarray) -> None:
        """Remove rows."""
        removed = self.values[:, rows]
        corner = removed[rows].copy()
        self._inverse.add_product(-np.linalg.solve(corner, removed.T).T, removed)
        self._inverse.delete(rows)
        self.matrix.delete(rows)
        self.log_det += float(np.linalg.slogdet(corner)[1])
        self._check()

    def error(self) -> float:
        """Return how far the product with the matrix is from one, along one direction."""
        signs = np.random.default_rng(self.matrix.size).choice([-1.0, 1.0], self.matrix.size)
        return float(np.abs(self.values @ (self.matrix.values @ signs) - signs).max())

    def _check(self) -> None:
        self._n_updates += 1
        due = self._n_updates % UPDATES_BETWEEN_CHECKS == 0
        if not np.isfinite(self.log_det) or (due and not self.error() <= MAX_INVERSE_ERROR):
            self._factor()

    def _factor(self) -> None:
        """Compute the inverse anew."""
        inverse, self.log_det = invert_definite(self.matrix.values.copy())
        self._inverse = GrowingSquare(inverse)
        self.n_factorizations += 1
