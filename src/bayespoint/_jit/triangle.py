"""Small triangular matrices: their inverse, for which LAPACK takes two to three times as long."""

import numpy as np

from .compiler import njit

# Rows of a square that is copied at once.
ROWS_AT_ONCE = 32


@njit(cache=True, nogil=True, error_model="numpy", fastmath={"contract"})
def invert_lower(matrix):
    """Replace the lower triangle of a matrix by its inverse; above the diagonal nothing changes.

    Two rows of the inverse at a time are sums over the rows before them, four at a time.
    """
    n = len(matrix)
    inverse = np.empty((n + 1, n))
    for i in range(0, n, 2):
        row, after = inverse[i], inverse[i + 1]
        below = min(i + 1, n - 1)  # an odd last row comes twice
        row[: i + 4] = 0.0  # of four rows, all are read as far as the last
        after[: i + 4] = 0.0
        whole = i - i % 4
        for k in range(0, whole, 4):
            a, b, c, d = matrix[i, k], matrix[i, k + 1], matrix[i, k + 2], matrix[i, k + 3]
            e, f = matrix[below, k], matrix[below, k + 1]
            g, h = matrix[below, k + 2], matrix[below, k + 3]
            one, two, three, four = inverse[k], inverse[k + 1], inverse[k + 2], inverse[k + 3]
            for j in range(k + 4):
                p, q, r, s = one[j], two[j], three[j], four[j]
                row[j] += (a * p + b * q) + (c * r + d * s)
                after[j] += (e * p + f * q) + (g * r + h * s)
        for k in range(whole, i):
            a, e, one = matrix[i, k], matrix[below, k], inverse[k]
            for j in range(k + 1):
                row[j] += a * one[j]
                after[j] += e * one[j]
        scale = -1.0 / matrix[i, i]
        for j in range(i):
            row[j] *= scale
        row[i] = -scale
        if below > i:
            e, scale = matrix[below, i], -1.0 / matrix[below, below]
            for j in range(below):
                after[j] = scale * (after[j] + e * row[j])
            after[below] = -scale
    for i in range(n):
        matrix[i, : i + 1] = inverse[i, : i + 1]


@njit(cache=True, nogil=True, error_model="numpy")
def mirror_lower(matrix):
    """Copy the part below the diagonal to the part above, in squares that stay in the cache."""
    n = len(matrix)
    for first in range(0, n, ROWS_AT_ONCE):
        last = min(first + ROWS_AT_ONCE, n)
        for before in range(0, last, ROWS_AT_ONCE):
            for i in range(before, min(before + ROWS_AT_ONCE, last)):
                for j in range(max(first, i + 1), last):
                    matrix[i, j] = matrix[j, i]
