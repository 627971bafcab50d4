"""Few points that carry a hypothesis: greedy interpolation until no decision changes much."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy import linalg

# Points that are tried at a time: their kernel with all points is one matrix product.
BLOCK_CARRIERS = 32
# A point joins a block if its change is at least this share of the largest one.
MIN_SHARE_OF_LARGEST = 0.5
# The squared distance of a carrier from the span of the others, for unit points. Below, rounding
# of the kernel decides what is carried: in single and in double precision.
MIN_SQUARED_DISTANCE = {np.dtype(np.float32): 1e-4, np.dtype(np.float64): 1e-11}
# Room for carriers grows by this factor.
ROOM = 1.5


class Carriers(NamedTuple):
    """Points that carry hypotheses, and the coefficients on them."""

    rows: np.ndarray  # (r,), in the order in which they were chosen
    coef: np.ndarray  # (r, n_outputs), on unit points


class NotCarriedError(ValueError):
    """No choice of points keeps the changes within the limits, in this precision."""


class TooManyCarriersError(NotCarriedError):
    """More points are needed than there is room for, in any precision."""


def choose_carriers(
    kernel_of: Callable[[np.ndarray], np.ndarray],
    outputs: np.ndarray,
    limits: np.ndarray,
    max_carriers: int | None = None,
) -> Carriers:
    """Choose points that carry hypotheses, so that no output changes by more than its limit.

    Parameters
    ----------
    kernel_of : callable
        From r indices of points to the kernel of these unit points with all n, shape (r, n).
    outputs : array of shape (n, n_outputs)
        Outputs of the hypotheses at all points.
    limits : array of shape (n,)
        How much the outputs at each point may change, more than zero.
    max_carriers : int, default=None
        Raise `TooManyCarriersError` if more are needed; by default n.

    Returns
    -------
    Carriers
        The chosen points, at least one.

    Notes
    -----
    The carried hypothesis is the orthogonal projection in feature space onto the span of the
    carriers, so it has the right outputs at the carriers. The next carrier is the point where the
    change is largest in units of its limit (Mueller and Schaback's f-greedy method). The Newton
    basis of the carriers, rows of a partial Cholesky factor, grows by blocks: O(n r^2) operations
    and 8 n r bytes for r carriers.
    """
    n = len(outputs)
    max_carriers = n if max_carriers is None else min(max_carriers, n)
    left = np.array(outputs, dtype=float)
    basis = _Basis(n, max_carriers)
    rows, parts = np.empty(0, dtype=np.intp), [np.empty((0, left.shape[1]))]
    free = np.ones(n, dtype=bool)  # neither carriers nor in their span
    while True:
        change = np.abs(left).max(axis=1) / limits
        if change.max() <= 1 and len(rows):
            break
        tried = _next_block(np.where(free, change, -1.0), change.max())
        kernel = np.asarray(kernel_of(tried))
        smallest = MIN_SQUARED_DISTANCE[kernel.dtype]
        kernel = basis.remove(kernel, tried)
        order, triangle, spanned = _factor_block(
            kernel[:, tried], left[tried], limits[tried], change.max(), smallest
        )
        free[tried[order]] = free[tried[spanned]] = False
        if len(order):
            new = linalg.solve_triangular(triangle, kernel[order], lower=True)
            parts.append(linalg.solve_triangular(triangle, left[tried[order]], lower=True))
            left -= new.T @ parts[-1]
            basis.append(new)
            rows = np.append(rows, tried[order])
    return Carriers(
        rows, linalg.solve_triangular(basis.vectors[:, rows], np.concatenate(parts), lower=False)
    )


class _Basis:
    """Outputs of the Newton basis of carriers, an orthonormal basis, at n points."""

    def __init__(self, n: int, max_carriers: int):
        self._room, self._n_used, self._max = np.empty((0, n)), 0, max_carriers

    @property
    def vectors(self) -> np.ndarray:
        """The basis, (r, n)."""
        return self._room[: self._n_used]

    def remove(self, kernel: np.ndarray, tried: np.ndarray) -> np.ndarray:
        """Return the kernel of points with all others, without their parts in the span."""
        return kernel - self.vectors[:, tried].T @ self.vectors

    def append(self, new: np.ndarray) -> None:
        """Add vectors, with more room if necessary."""
        needed = self._n_used + len(new)
        if needed > self._max:
            raise TooManyCarriersError(f"more than {self._max} carriers are needed")
        if needed > len(self._room):
            n_rows = min(max(int(ROOM * len(self._room)), needed), self._max)
            larger = np.empty((n_rows, self._room.shape[1]))
            larger[: self._n_used] = self.vectors
            self._room = larger
        self._room[self._n_used : needed] = new
        self._n_used = needed


def _next_block(change: np.ndarray, largest: float) -> np.ndarray:
    """Return the points to try: those with the largest changes."""
    tried = np.argsort(-change, kind="stable")[: BLOCK_CARRIERS if largest > 1 else 1]
    tried = tried[change[tried] >= _least_change(largest)]
    if not len(tried):
        raise NotCarriedError("the points with a larger change are in the span of carriers")
    return tried


def _least_change(largest: float) -> float:
    """Return the change from which on a point is worth a carrier; there must be at least one."""
    return max(MIN_SHARE_OF_LARGEST * largest, 1.0) if largest > 1 else 0.0


def _factor_block(
    kernel: np.ndarray, left: np.ndarray, limits: np.ndarray, largest: float, smallest: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Choose among a block, one point at a time.

    Returns the chosen points in their order, the triangle of their Cholesky factor, and points
    that the carriers span up to rounding.
    """
    kernel, left = kernel.copy(), left.copy()
    order: list[int] = []
    spanned: list[int] = []
    columns = []
    while len(order) + len(spanned) < len(kernel):
        change = np.abs(left).max(axis=1) / limits
        change[order + spanned] = -1.0
        j = int(np.argmax(change))
        if change[j] < _least_change(largest):
            break
        if kernel[j, j] < smallest:
            spanned.append(j)
            continue
        column = kernel[:, j] / np.sqrt(kernel[j, j])
        left -= np.outer(column, left[j] / column[j])
        kernel -= np.outer(column, column)
        order.append(j)
        columns.append(column)
    chosen = np.array(order, dtype=np.intp)
    triangle = np.tril(np.array(columns).T[chosen]) if order else np.empty((0, 0))
    return chosen, triangle, np.array(spanned, dtype=np.intp)
