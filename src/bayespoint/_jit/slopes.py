"""Derivatives of a function of left-out outputs by the Gram matrix of a label regression.

With R the derivative by the outputs, U = C^-1 (R / q) and
h_i = (dq_i / dC^-1_ii) sum_c R_ic A_ic / q_i^2 it is U A' - C^-1 diag(h) C^-1.
"""

import numpy as np

from .compiler import njit


@njit(cache=True, nogil=True, error_model="numpy")
def prepare_slopes(inverse, coef, freedom, slope, by_outputs):
    """Return -2 h, and two matrices whose product is U A' + A U'.

    `coef` is A, `freedom` q, `slope` the derivative of q, and `by_outputs` R.
    """
    n, n_outputs = coef.shape
    scaled, by_diagonal = np.empty((n, n_outputs)), np.empty(n)
    for i in range(n):
        total = 0.0
        for c in range(n_outputs):
            scaled[i, c] = by_outputs[i, c] / freedom[i]
            total += scaled[i, c] * coef[i, c]
        by_diagonal[i] = -2.0 * total * slope[i] / freedom[i]
    pull = np.dot(inverse, scaled)
    left, right = np.empty((n, 2 * n_outputs)), np.empty((n, 2 * n_outputs))
    for i in range(n):
        for c in range(n_outputs):  # assignments of whole columns take seconds to compile
            left[i, c] = right[i, n_outputs + c] = pull[i, c]
            left[i, n_outputs + c] = right[i, c] = coef[i, c]
    return by_diagonal, left, right


@njit(cache=True, nogil=True, error_model="numpy")
def slopes_of_rows(inverse, by_diagonal, left, right, borders):
    """Return derivatives by the pairs of the rows between the first and last border, and a sum.

    Pairs go row by row above the diagonal, and count for both of their entries. The sum is that of
    the derivatives by the diagonal entries of these rows, twice. Rows between two borders share
    products, which reach no further down than the first of them.
    """
    n, begin, end = len(inverse), borders[0], borders[-1]
    by_pair, on_diagonal, stop = np.empty((end - begin) * (2 * n - begin - end - 1) // 2), 0.0, 0
    for tile in range(len(borders) - 1):
        first, last = borders[tile], borders[tile + 1]
        # A symmetric matrix: its last columns are its last rows, which are contiguous.
        here = np.dot(inverse[first:last] * by_diagonal, inverse[first:].T)
        more = np.dot(left[first:last], right[first:].T)
        for i in range(last - first):
            on_diagonal += here[i, i] + more[i, i]
            start, stop = stop, stop + n - first - i - 1
            found, one, other = by_pair[start:stop], here[i, i + 1 :], more[i, i + 1 :]
            for j in range(stop - start):
                found[j] = one[j] + other[j]
    return by_pair, on_diagonal
