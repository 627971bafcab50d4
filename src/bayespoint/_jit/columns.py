"""Columns of training rows: their most common values, sums, and differences from a center.

CSR matrices come with unsigned indices, as in `_jit/linear.py`.
"""

import numpy as np

from .compiler import njit


@njit(cache=True, nogil=True, error_model="numpy")
def vote(X, weight, value, lead):
    """Find the value that has more than half of the weight of its column, if there is one.

    This is the majority vote of Boyer and Moore (1991): a value that differs from the leading one
    takes away as much of its lead as it weighs. What leads at the end need not have a majority.
    """
    for i in range(X.shape[0]):
        w = weight[i]
        for j in range(X.shape[1]):
            if X[i, j] == value[j]:
                lead[j] += w
            elif lead[j] >= w:
                lead[j] -= w
            else:
                value[j] = X[i, j]
                lead[j] = w - lead[j]


@njit(cache=True, nogil=True, error_model="numpy")
def count_entries(data, indices, indptr, weight, counts):
    """Add up the weights of the nonzero entries of each column of a CSR matrix."""
    for i in range(len(weight)):
        w = weight[i]
        for k in range(indptr[i], indptr[i + 1]):
            if data[k] != 0.0:
                counts[indices[k]] += w


@njit(cache=True, nogil=True, error_model="numpy")
def vote_entries(data, indices, indptr, weight, frequent, value, lead):
    """Let the nonzero entries of a CSR matrix vote, as in `vote`, in columns that are frequent."""
    for i in range(len(weight)):
        w = weight[i]
        for k in range(indptr[i], indptr[i + 1]):
            j = indices[k]
            if not frequent[j] or data[k] == 0.0:
                continue
            if data[k] == value[j]:
                lead[j] += w
            elif lead[j] >= w:
                lead[j] -= w
            else:
                value[j] = data[k]
                lead[j] = w - lead[j]


@njit(cache=True, nogil=True, error_model="numpy")
def add_rows(X, weight, reference, sums, squares, counts):
    """Add up the differences of each column from a reference, their squares, and their number."""
    for i in range(X.shape[0]):
        w = weight[i]
        for j in range(X.shape[1]):
            x = X[i, j] - reference[j]
            sums[j] += w * x
            squares[j] += w * x * x
            counts[j] += w if x != 0.0 else 0.0


@njit(cache=True, nogil=True, error_model="numpy")
def add_entries(data, indices, indptr, weight, reference, totals):
    """Do the same for the stored entries of a CSR matrix, and add up their weights.

    The four sums of a column are a row of `totals`: columns come in any order, and this row is
    in one place in memory.
    """
    for i in range(len(weight)):
        w = weight[i]
        for k in range(indptr[i], indptr[i + 1]):
            j = indices[k]
            x = data[k] - reference[j]
            totals[j, 0] += w * x
            totals[j, 1] += w * x * x
            totals[j, 2] += w if x != 0.0 else 0.0
            totals[j, 3] += w


@njit(cache=True, nogil=True, error_model="numpy")
def find_entries(indices, chosen, places):
    """Find the entries whose columns are chosen, in order; return how many there are."""
    n = 0
    for k in range(len(indices)):
        if chosen[indices[k]]:
            places[n] = k
            n += 1
    return n


@njit(cache=True, nogil=True, error_model="numpy")
def subtract(data, indices, indptr, columns, center, new_data, new_indices, new_indptr):
    """Subtract centers from some columns of a CSR matrix with sorted indices.

    `columns` are in order, and unsigned, too. Their differences that are zero are left out.
    Returns the number of entries of the new matrix.
    """
    n, one = np.uint64(0), np.uint64(1)
    for i in range(len(indptr) - 1):
        k, end = np.uint64(indptr[i]), np.uint64(indptr[i + 1])
        for j in columns:
            while k < end and indices[k] < j:
                new_data[n], new_indices[n] = data[k], indices[k]
                n += one
                k += one
            x = -center[j]
            if k < end and indices[k] == j:
                x += data[k]
                k += one
            if x != 0.0:
                new_data[n], new_indices[n] = x, j
                n += one
        while k < end:
            new_data[n], new_indices[n] = data[k], indices[k]
            n += one
            k += one
        new_indptr[i + 1] = n
    return n
