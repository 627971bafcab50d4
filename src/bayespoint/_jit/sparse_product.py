"""The product of a dense and a sparse matrix."""

import numpy as np
from numba import njit

# Results for this many rows of the sparse matrix are collected before they are added to the
# output, where they are neighbors in memory.
ROWS_PER_TILE = 16


@njit(cache=True, nogil=True, fastmath={"contract"})
def add_product(left, indptr, indices, data, out):
    """Add left.T @ right.T to out, for dense left and right in CSR form.

    Takes four entries of a row of right at a time, in their order, so that the digits of a
    result depend only on its column of left and its row of right.
    """
    width = left.shape[1]
    n = len(indptr) - 1
    tile = np.empty((ROWS_PER_TILE, width), dtype=np.float32)
    for start in range(0, n, ROWS_PER_TILE):
        stop = min(start + ROWS_PER_TILE, n)
        for i in range(start, stop):
            total = tile[i - start]
            for r in range(width):
                total[r] = 0.0
            k, end = indptr[i], indptr[i + 1]
            while k + 4 <= end:
                a, b, c, d = data[k], data[k + 1], data[k + 2], data[k + 3]
                row_a, row_b = left[indices[k]], left[indices[k + 1]]
                row_c, row_d = left[indices[k + 2]], left[indices[k + 3]]
                for r in range(width):
                    sum_ = total[r] + a * row_a[r]
                    sum_ += b * row_b[r]
                    sum_ += c * row_c[r]
                    total[r] = sum_ + d * row_d[r]
                k += 4
            while k < end:
                a, row_a = data[k], left[indices[k]]
                for r in range(width):
                    total[r] += a * row_a[r]
                k += 1
        for r in range(width):
            for i in range(start, stop):
                out[r, i] += tile[i - start, r]
