"""Rows of numbers between -2 and 2 as 16-bit whole numbers."""

import numpy as np

from .compiler import njit

LARGEST = 32767


@njit(cache=True, nogil=True, error_model="numpy")
def store_rows(source, these, unit, target, there):
    """Put rows `these` of source, in units, into rows `there` of target.

    Values are rounded, and those that are too large count as the largest. Returns the largest
    absolute value.
    """
    most, scale = np.float32(0.0), np.float32(1 / unit)
    for n in range(len(these)):
        from_row, to_row = source[these[n]], target[there[n]]
        for j in range(len(from_row)):
            most = max(most, abs(from_row[j]))
            value = np.rint(from_row[j] * scale)
            to_row[j] = np.int16(min(max(value, np.float32(-LARGEST)), np.float32(LARGEST)))
    return most
