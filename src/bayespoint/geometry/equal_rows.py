"""Merge equal rows, so that an answer depends on neither their order nor their number."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import sparse


class EqualRows(NamedTuple):
    """Sets of rows with the same features and the same label."""

    first: np.ndarray  # the first row of each set, in an order that depends on the sets alone
    weight: np.ndarray  # the total weight of each set
    member_of: np.ndarray  # the set of each row; -1 if the row has weight zero


def merge_equal_rows(X, target: np.ndarray, weight: np.ndarray) -> EqualRows:
    """Return the sets of equal rows among those with a positive weight."""
    used = np.flatnonzero(weight)
    first, inverse = _distinct(X[used], target[used])
    totals = np.bincount(inverse, weights=weight[used])
    member_of = np.full(len(target), -1)
    member_of[used] = inverse
    return EqualRows(used[first], totals, member_of)


def keep_all_rows(weight: np.ndarray) -> EqualRows:
    """Return sets of one row, in their order, as for kernel matrices: rows say nothing there."""
    used = np.flatnonzero(weight)
    member_of = np.full(len(weight), -1)
    member_of[used] = np.arange(len(used))
    return EqualRows(used, weight[used], member_of)


def _distinct(X, target: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the first row of each set, sorted by content, and the set of each row."""
    if not sparse.issparse(X):
        # Adding zero makes -0.0 equal to 0.0 in every bit.
        # Labels last: the order of the classes must not matter.
        table = np.column_stack([X, target]) + 0.0
        _, first, inverse = np.unique(table, axis=0, return_index=True, return_inverse=True)
        return first, inverse.ravel()
    X = X.tocsr()
    ends = zip(X.indptr[:-1], X.indptr[1:], strict=True)
    keys = np.array(
        [
            f"{label} {X.indices[a:b].tolist()} {(X.data[a:b] + 0.0).tolist()}"
            for label, (a, b) in zip(target, ends, strict=True)
        ],
        dtype=object,
    )
    _, first, inverse = np.unique(keys, return_index=True, return_inverse=True)
    return first, inverse.ravel()
