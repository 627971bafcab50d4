"""Sums of the columns of training rows, which set the center and the unit of each feature."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import sparse

from .points import entries

# Dense rows are summed this many at a time.
BLOCK_ROWS = 4096


class Votes(NamedTuple):
    """For each column, the only value that may have more than half of the weight."""

    value: np.ndarray
    lead: np.ndarray  # weight that no other value has made up for

    def plus(self, other: Votes) -> Votes:
        """Return the result for the rows of both."""
        same, mine = self.value == other.value, self.lead >= other.lead
        lead = np.where(same, self.lead + other.lead, np.abs(self.lead - other.lead))
        return Votes(np.where(mine, self.value, other.value), lead)


class ColumnSums(NamedTuple):
    """Sums over rows of differences from a reference, each counted by its weight."""

    sums: np.ndarray  # of the differences of each feature
    squares: np.ndarray
    counts: np.ndarray  # of the differences that are not zero
    n_rows: float

    def plus(self, other: ColumnSums) -> ColumnSums:
        """Return the sums over the rows of both."""
        return ColumnSums(
            self.sums + other.sums,
            self.squares + other.squares,
            self.counts + other.counts,
            self.n_rows + other.n_rows,
        )


def column_votes(X, weight: np.ndarray) -> Votes:
    """Return the most common value of each column, if more than half of the rows have it."""
    from ..._jit import columns

    value, lead = np.zeros((2, X.shape[1]))
    if sparse.issparse(X):
        counts = np.zeros(X.shape[1])
        columns.count_entries(*entries(X), weight, counts)
        zeros = Votes(np.zeros(X.shape[1]), np.maximum(weight.sum() - counts, 0.0))
        # Elsewhere zero has the majority, whatever the others are: they need not vote.
        frequent = counts > zeros.lead
        if frequent.any():
            columns.vote_entries(*entries(X), weight, frequent, value, lead)
        return Votes(value, np.where(frequent, lead, counts)).plus(zeros)
    for block, here in _blocks(X, weight):
        columns.vote(block, here, value, lead)
    return Votes(value, lead)


def column_sums(X, weight: np.ndarray, reference: np.ndarray) -> ColumnSums:
    """Return sums of the differences of columns from a reference; infinite if they overflow."""
    from ..._jit import columns

    n_rows = max(float(weight.sum()), np.finfo(float).tiny)
    if not sparse.issparse(X):
        sums, squares, counts = np.zeros((3, X.shape[1]))
        for block, here in _blocks(X, weight):
            columns.add_rows(block, here, reference, sums, squares, counts)
        return ColumnSums(sums, squares, counts, n_rows)
    totals = np.zeros((X.shape[1], 4))
    columns.add_entries(*entries(X), weight, reference, totals)
    sums, squares, counts, stored = totals.T.copy()
    zeros = np.maximum(n_rows - stored, 0.0)  # weights of the entries that are not stored
    with np.errstate(over="ignore", invalid="ignore"):
        sums -= zeros * reference
        squares += np.where(zeros > 0, zeros * reference**2, 0.0)
    counts += np.where(reference != 0, zeros, 0.0)
    return ColumnSums(sums, squares, counts, n_rows)


def _blocks(X: np.ndarray, weight: np.ndarray):
    """Yield blocks of dense rows that are contiguous in memory, with their weights."""
    for start in range(0, X.shape[0], BLOCK_ROWS):
        here = slice(start, start + BLOCK_ROWS)
        yield np.ascontiguousarray(X[here]), np.ascontiguousarray(weight[here])
