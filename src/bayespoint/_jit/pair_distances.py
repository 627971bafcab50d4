"""Distances of all pairs of points, and sums of what depends on them, feature by feature.

Points are columns, so that the innermost loops run along memory. Pairs go row by row above the
diagonal of the matrix of points.
"""

import numpy as np

from .compiler import njit


@njit(cache=True, nogil=True, error_model="numpy", fastmath={"contract"})
def pair_distances(XT, absolute, squared):
    """Put the absolute and the squared distances of all pairs into two vectors."""
    d, n = XT.shape
    stop = 0
    for i in range(n - 1):
        start, stop = stop, stop + n - 1 - i
        total, squares = absolute[start:stop], squared[start:stop]
        total[:] = 0.0
        squares[:] = 0.0
        for f in range(d):
            here, others = XT[f, i], XT[f, i + 1 :]
            for j in range(n - 1 - i):
                apart = abs(others[j] - here)
                total[j] += apart
                squares[j] += apart * apart


@njit(cache=True, nogil=True, error_model="numpy", fastmath={"contract", "reassoc", "nsz"})
def sum_over_pairs(XT, first, last, by_absolute, by_squared):
    """Return, for each feature, sums over the pairs of some rows of the matrix of points.

    They are those of `by_absolute` times how far apart two points are in the feature, and of
    `by_squared` times the square of that. The rows are first, ..., last - 1.
    """
    d, n = XT.shape
    sums = np.zeros((2, d))
    stop = 0
    for i in range(first, last):
        start, stop = stop, stop + n - 1 - i
        slopes, slopes_of_squares = by_absolute[start:stop], by_squared[start:stop]
        for f in range(d):
            here, others = XT[f, i], XT[f, i + 1 :]
            total, squares = np.float32(0.0), np.float32(0.0)
            for j in range(n - 1 - i):
                apart = abs(others[j] - here)
                total += slopes[j] * apart
                squares += slopes_of_squares[j] * (apart * apart)
            sums[0, f] += total
            sums[1, f] += squares
    return sums
