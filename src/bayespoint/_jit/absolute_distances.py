"""Absolute distances in double precision; the second table is transposed, as in `mixture`."""

from .compiler import njit

# Columns whose sums are made together: they stay in the cache while all rows go by.
COLUMNS_AT_ONCE = 256


@njit(cache=True, nogil=True, error_model="numpy")
def absolute_distances(A, BT, total):
    """Put the distances between the rows of A and the first columns of BT into `total`."""
    n, d = A.shape
    whole = d - d % 4
    for start in range(0, total.shape[1], COLUMNS_AT_ONCE):
        stop = min(start + COLUMNS_AT_ONCE, total.shape[1])
        for i in range(n):
            here = total[i, start:stop]
            here[:] = 0.0
            for f in range(0, whole, 4):
                a, b, c, e = A[i, f], A[i, f + 1], A[i, f + 2], A[i, f + 3]
                x, y = BT[f, start:stop], BT[f + 1, start:stop]
                z, w = BT[f + 2, start:stop], BT[f + 3, start:stop]
                for j in range(stop - start):
                    here[j] += (abs(a - x[j]) + abs(b - y[j])) + (abs(c - z[j]) + abs(e - w[j]))
            for f in range(whole, d):
                a, x = A[i, f], BT[f, start:stop]
                for j in range(stop - start):
                    here[j] += abs(a - x[j])
