"""Exact medians of numbers that are spread over a cluster."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..geometry.equal_rows import SIGN_BIT, ordered_bits

# A number has 64 bits; this many are found in each round.
BITS_PER_ROUND = 8
N_BINS = 1 << BITS_PER_ROUND


def medians_of(count: Callable[[int, np.ndarray], list[np.ndarray]], n_columns: int) -> np.ndarray:
    """Return the median of each column, as `geometry.columns.medians` defines it.

    Parameters
    ----------
    count : callable
        It gets a number of bits and, for each of two searches and each column, the leading bits
        found so far. It returns what `count_bits` returns, from each part of the numbers.
    n_columns : int
        Number of columns.

    Notes
    -----
    Bits of numbers are found from the first to the last, by how much weight the next bits have
    (a radix search), in eight rounds of 2 kB for each column. Of the two searches, one finds
    the first number at which half of the weight is reached, the other the first beyond it.
    """
    prefix = np.zeros((2, n_columns), dtype=np.uint64)
    below = np.zeros((2, n_columns))
    total = None
    for known in range(0, 64, BITS_PER_ROUND):
        weight = np.sum(count(known, prefix), axis=0)  # (2, n_columns, N_BINS)
        reached = below[..., None] + np.cumsum(weight, axis=-1)
        if total is None:
            total = reached[:, :, -1:]
        enough = np.stack([2 * reached[0] >= total[0], 2 * reached[1] > total[1]])
        # Rounding of sums may keep a total from being reached: then it is the last number.
        last = N_BINS - 1 - np.argmax(weight[..., ::-1] > 0, axis=-1)
        digit = np.where(enough.any(axis=-1), np.argmax(enough, axis=-1), last)
        digit = np.minimum(digit, last)
        before = np.take_along_axis(reached - weight, digit[..., None], axis=-1)
        below = before[..., 0]
        prefix = (prefix << np.uint64(BITS_PER_ROUND)) | digit.astype(np.uint64)
    low, high = _number_of(prefix)
    return 0.5 * low + 0.5 * high


def count_bits(
    values: np.ndarray, weight: np.ndarray, known: int, prefix: np.ndarray
) -> np.ndarray:
    """Return the weight of numbers by their next bits, given their leading bits.

    NaN does not count. The result has shape (2, n_columns, N_BINS).
    """
    found = np.zeros((2, values.shape[1], N_BINS))
    for j in range(values.shape[1]):
        present = ~np.isnan(values[:, j])
        bits, of_bits = ordered_bits(values[present, j]), weight[present]
        digit = (bits >> np.uint64(64 - BITS_PER_ROUND - known)) & np.uint64(N_BINS - 1)
        for search in range(2):
            if search == 1 and prefix[1, j] == prefix[0, j]:
                found[1, j] = found[0, j]
                continue
            if known:
                same = (bits >> np.uint64(64 - known)) == prefix[search, j]
                found[search, j] = _weights(digit[same], of_bits[same])
            else:
                found[search, j] = _weights(digit, of_bits)
    return found


def _weights(digit: np.ndarray, weight: np.ndarray) -> np.ndarray:
    return np.bincount(digit.astype(np.intp), weight, N_BINS)


def _number_of(bits: np.ndarray) -> np.ndarray:
    """Return the numbers that `ordered_bits` maps to these bits."""
    return np.where(bits & SIGN_BIT, bits ^ SIGN_BIT, ~bits).view(np.float64)
