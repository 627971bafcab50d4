"""Merge equal rows, so that an answer depends on neither their order nor their number."""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np
from scipy import sparse

# Columns that are compared at once; others are compared only among rows that are equal so far.
COLUMNS_AT_ONCE = 32
SIGN_BIT = np.uint64(1 << 63)
# How a sparse row goes on: with a negative entry, not at all, or with a positive entry.
BEFORE_END, END, AFTER_END = np.uint64(0), np.uint64(1), np.uint64(2)


class EqualRows(NamedTuple):
    """Sets of rows with the same features and the same label."""

    first: np.ndarray  # the first row of each set, in an order that depends on the sets alone
    weight: np.ndarray  # the total weight of each set
    member_of: np.ndarray  # the set of each row; -1 if the row has weight zero


def merge_equal_rows(X, target: np.ndarray, weight: np.ndarray) -> EqualRows:
    """Return the sets of equal rows among those with a positive weight."""
    used = np.flatnonzero(weight)
    X = X if len(used) == len(target) else X[used]  # without a copy of a large table
    first, inverse = _distinct(X, target[used])
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
    rank = content_ranks(X)
    # Labels last: the order of the classes must not matter.
    number = rank * (int(target.max(initial=0)) + 1) + target
    _, first, inverse = np.unique(number, return_index=True, return_inverse=True)
    return first, inverse


def content_ranks(X) -> np.ndarray:
    """Return numbers that sort rows by their content; equal rows have equal numbers."""
    return _rank_sparse(X.tocsr()) if sparse.issparse(X) else _rank_dense(X)


def _rank_dense(X: np.ndarray) -> np.ndarray:
    """Return for each row how many rows come before it, comparing column by column.

    Equal rows have the same rank. A few columns at a time are compared, and only among rows that
    are equal so far, which needs little memory.
    """
    rank = np.zeros(len(X), dtype=np.int64)
    undecided = np.arange(len(X))
    for start in range(0, X.shape[1], COLUMNS_AT_ONCE):
        if not len(undecided):
            break
        keys = _sortable(rank[undecided], X[undecided, start : start + COLUMNS_AT_ONCE])
        order = np.argsort(keys, kind="stable")
        is_new = np.r_[True, keys[order[1:]] != keys[order[:-1]]]
        sorted_rows, begins = undecided[order], np.flatnonzero(is_new)
        number = np.cumsum(is_new) - 1
        # `undecided` holds whole groups of equal ranks, one after another in `order`.
        old = rank[sorted_rows]
        first_of_group = np.searchsorted(old, old)
        rank[sorted_rows] = old + begins[number] - first_of_group
        sizes = np.diff(np.r_[begins, len(order)])
        undecided = sorted_rows[sizes[number] > 1]
    return rank


def _sortable(rank: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Return a string of bytes for each row that sorts like its rank, then its values."""
    keys = np.column_stack([rank.astype(np.uint64), ordered_bits(values)]).astype(">u8")
    return keys.view(f"V{8 * keys.shape[1]}").ravel()


def ordered_bits(values: np.ndarray) -> np.ndarray:
    """Return whole numbers that have the order of the values."""
    # Adding zero makes -0.0 equal to 0.0 in every bit.
    bits = np.ascontiguousarray(values + 0.0, dtype=np.float64).view(np.uint64)
    return np.where(bits & SIGN_BIT, ~bits, bits | SIGN_BIT)


def _rank_sparse(X) -> np.ndarray:
    """Return numbers that are equal for equal rows, and have the order of `_rank_dense`.

    A string of bytes stands for each row. A positive entry makes a row the larger, the earlier it
    comes; a negative one makes it the smaller.
    """
    X = X.copy()
    X.eliminate_zeros()
    X.sort_indices()
    column = X.indices.astype(np.uint64)
    entries = np.column_stack(
        [
            np.where(X.data > 0, AFTER_END, BEFORE_END),
            np.where(X.data > 0, ~column, column),
            ordered_bits(X.data),
        ]
    ).astype(">u8")
    text, end, width = entries.tobytes(), np.array(END, ">u8").tobytes(), 8 * entries.shape[1]
    bounds = (width * X.indptr.astype(np.int64)).tolist()
    keys = np.empty(X.shape[0], dtype=object)
    keys[:] = [text[a:b] + end for a, b in pairwise(bounds)]
    return np.unique(keys, return_inverse=True)[1]
