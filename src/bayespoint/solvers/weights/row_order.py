"""The order in which rows are visited, one by one or in blocks."""

from __future__ import annotations

import numpy as np

# Rows per block: this many, or this many times the number of weights if that is more. Then the
# products of the sites of all blocks need little memory compared with the rows.
BLOCK_ROWS = 4096
BLOCK_ROWS_PER_WEIGHT = 4
# If rows are swept only once, a block is this share of the number of rows before it, but at
# least this many rows.
MAX_BLOCK_SHARE = 1 / 4
MIN_BLOCK_ROWS = 16
# Rows are taken from this many places in turn.
N_PLACES = 8


def even_blocks(n_rows: int, n_weights: int) -> list[slice]:
    """Return large blocks. Each has rows from all over the table, which may be sorted."""
    n_blocks = -(-n_rows // max(BLOCK_ROWS, BLOCK_ROWS_PER_WEIGHT * n_weights))
    return [slice(i, None, n_blocks) for i in range(n_blocks)]


def growing_blocks(n_rows: int, n_known: float) -> list:
    """Return blocks that are small compared with the rows known before, for a single sweep.

    Parameters
    ----------
    n_rows : int
        Number of rows.
    n_known : float
        Number of rows that the prior has learned from.
    """
    ends = [0]
    while ends[-1] < n_rows:
        size = min(max(MIN_BLOCK_ROWS, MAX_BLOCK_SHARE * (n_known + ends[-1])), BLOCK_ROWS)
        ends.append(ends[-1] + int(size))
    return [slice(None)] if len(ends) <= 2 else np.split(mixed_order(n_rows), ends[1:-1])


def mixed_order(n_rows: int) -> np.ndarray:
    """Return an order that takes rows from several places in turn.

    Rows sorted by label would mislead the first sweep. A random order would be slow:
    processors prefetch memory from a few places only.
    """
    length = -(-n_rows // N_PLACES)
    order = np.arange(N_PLACES * length).reshape(N_PLACES, length).T.ravel()
    return order[order < n_rows]


def chosen_rows(n_rows: int, n: int) -> np.ndarray:
    """Return a mask of n rows, always the same: no other step is random."""
    mask = np.zeros(n_rows, dtype=bool)
    mask[np.random.default_rng(n).choice(n_rows, n, replace=False)] = True
    return mask
