"""Distances between the rows of two tables, for a mixture of kernels.

The second table is transposed, so that the innermost loop runs along memory and is vectorized
without reordering any sum: the same bits on every machine with the same instructions.
"""

from .compiler import njit


@njit(cache=True, nogil=True, error_model="numpy")
def add_distances(A, BT, absolute, squared):
    """Add absolute and squared distances between the rows of A and the columns of BT.

    Four features at a time, because reading and writing the sums costs more than a difference.
    """
    n, d = A.shape
    p = BT.shape[1]
    whole = d - d % 4
    for i in range(n):
        total, squares = absolute[i], squared[i]
        for f in range(0, whole, 4):
            a, b, c, e = A[i, f], A[i, f + 1], A[i, f + 2], A[i, f + 3]
            of_a, of_b, of_c, of_e = BT[f], BT[f + 1], BT[f + 2], BT[f + 3]
            for j in range(p):
                x, y, z, w = a - of_a[j], b - of_b[j], c - of_c[j], e - of_e[j]
                total[j] += (abs(x) + abs(y)) + (abs(z) + abs(w))
                squares[j] += (x * x + y * y) + (z * z + w * w)
        for f in range(whole, d):
            a, of_a = A[i, f], BT[f]
            for j in range(p):
                x = a - of_a[j]
                total[j] += abs(x)
                squares[j] += x * x


@njit(cache=True, nogil=True, error_model="numpy")
def add_different(A, BT, scale, total):
    """Add the scales of the features in which rows of A and columns of BT differ by over one."""
    n, d = A.shape
    p = BT.shape[1]
    for i in range(n):
        here = total[i]
        for f in range(d):
            a, of_a, s = A[i, f], BT[f], scale[f]
            nothing = s - s
            for j in range(p):
                here[j] += nothing if abs(a - of_a[j]) <= 1 else s  # also if it is NaN
