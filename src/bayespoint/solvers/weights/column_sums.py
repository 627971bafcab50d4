"""Sums of the columns of training rows, which set the units of the prior."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import sparse

from .outputs import entries

# Dense rows are summed this many at a time.
BLOCK_ROWS = 4096


class ColumnSums(NamedTuple):
    """Sums over rows, each counted by its weight."""

    squares: np.ndarray  # of the entries of each feature
    counts: np.ndarray  # of the nonzero entries of each feature
    n_rows: float

    def unit_variances(self) -> np.ndarray:
        """Return prior variances of weights that give outputs a variance of one.

        A feature counts by the mean square of its nonzero entries. With the mean square of all
        entries, rare features would get large weights.
        """
        squares = self.squares
        unit = np.divide(self.counts, squares, out=np.ones(len(squares)), where=squares > 0)
        unit /= squares @ unit / self.n_rows or 1.0
        return unit


def column_sums(X, weight: np.ndarray) -> ColumnSums:
    """Return the sums of the columns of rows."""
    squares, counts = np.zeros(X.shape[1]), np.zeros(X.shape[1])
    if sparse.issparse(X):
        from ..._jit.linear import column_sums as add_entries

        add_entries(*entries(X), weight, squares, counts)
    else:
        for start in range(0, X.shape[0], BLOCK_ROWS):
            block, here = X[start : start + BLOCK_ROWS], weight[start : start + BLOCK_ROWS]
            squares += here @ block**2
            counts += here @ (block != 0)
    return ColumnSums(squares, counts, max(float(weight.sum()), np.finfo(float).tiny))
