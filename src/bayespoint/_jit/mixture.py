"""A mixture of kernels between the rows of two tables, in single precision.

The second table is transposed, so that the innermost loop runs along memory and is vectorized
without reordering any sum: the same bits on every machine with the same instructions. A row of
each distance and of the result stays in the fastest cache.
"""

import numpy as np

from .compiler import njit

# exp(x) is 2^m exp(r) with a whole m and |r| <= ln(2) / 2. Smaller x count as this one.
LEAST_EXPONENT = np.float32(-80.0)
INVERSE_OF_LN_2 = np.float32(1.4426950408889634)
# ln(2) in two parts; products of the first with a whole number of eight bits are exact.
LN_2_COARSE, LN_2_FINE = np.float32(0.693359375), np.float32(-2.12194440e-4)
# A number x plus this one is rounded to a whole number, which is then in its last bits.
ROUNDING = np.float32(12582912.0)  # 1.5 * 2^23
EXPONENT_BIAS, MANTISSA_BITS = np.int32(127), np.int32(23)
# 1 / k! for k from 2 on: the rest of the series is at most a unit of the last digit.
C2, C3, C4, C5, C6 = (np.float32(1 / k) for k in (2, 6, 24, 120, 720))
ONE = np.float32(1.0)
# So many columns of the second table are worked on together: their distances stay in the fastest
# cache. Fewer if they have more coordinates than this, which stay in the second-level cache.
MAX_COLUMNS, MIN_COLUMNS, MAX_COORDINATES = 512, 128, 2**16
# The distances that terms may ask for.
ABSOLUTE, SQUARED, RANK_ABSOLUTE, RANK_SQUARED, DIFFERENT = range(5)


@njit(cache=True, nogil=True, error_model="numpy", fastmath={"contract"})
def mix(A, BT, scale, which, gammas, weights, constant, out):
    """Write constant + sum_k weight_k exp(-gamma_k distance_k) of rows of A and columns of BT.

    Both tables have four parts: coordinates, coordinates beside ranks, these ranks, and categories.
    The first part counts for distances of coordinates and of ranks. Term k has the distance
    which[k]. Categories differ by more than one; `scale` says how much each counts.
    """
    p, d = out.shape[1], 0
    for part in BT:
        d += len(part)
    width = min(p, MAX_COLUMNS, max(MIN_COLUMNS, MAX_COORDINATES // max(d, 1)))
    memory = np.empty(10 * width, dtype=np.float32)
    rounded, power = np.empty(width, dtype=np.float32), np.empty(width, dtype=np.float32)
    buffer = np.empty(d * width, dtype=np.float32)
    for first in range(0, p, width):
        n = min(width, p - first)
        before = 0
        plain, before = columns(BT[0], first, n, buffer, before)
        position, before = columns(BT[1], first, n, buffer, before)
        rank, before = columns(BT[2], first, n, buffer, before)
        category, before = columns(BT[3], first, n, buffer, before)
        distances = memory[: 10 * n].reshape(5, 2, n)  # of two rows
        for i in range(0, len(out), 2):
            other = min(i + 1, len(out) - 1)  # an odd last row comes twice
            distances[:] = 0
            add_distances(A[0][i], A[0][other], plain, distances[ABSOLUTE], distances[SQUARED])
            distances[RANK_ABSOLUTE] = distances[ABSOLUTE]
            distances[RANK_SQUARED] = distances[SQUARED]
            add_distances(A[1][i], A[1][other], position, distances[ABSOLUTE], distances[SQUARED])
            add_distances(
                A[2][i], A[2][other], rank, distances[RANK_ABSOLUTE], distances[RANK_SQUARED]
            )
            for row in range(i, other + 1):
                different = distances[DIFFERENT, row - i]
                add_different_of_row(A[3][row], category, scale, different)
                here = out[row, first : first + n]
                here[:] = constant
                for k in range(len(which)):
                    distance = distances[which[k], row - i]
                    add_term(distance, gammas[k], weights[k], rounded, power, here)


@njit(cache=True, nogil=True, error_model="numpy")
def columns(part, first, n, buffer, before):
    """Copy some columns to a place in the buffer, without gaps; return them and the next place."""
    d = len(part)
    found = buffer[before : before + d * n].reshape(d, n)
    for f in range(d):
        found[f] = part[f, first : first + n]
    return found, before + d * n


@njit(cache=True, nogil=True, error_model="numpy", fastmath={"contract"})
def add_term(distance, gamma, weight, rounded, power, total):
    """Add weight * exp(-gamma * distance) to the total; loops without branches become vectors."""
    bits_of_rounded, bits_of_power = rounded.view(np.int32), power.view(np.int32)
    p = len(total)
    for j in range(p):
        rounded[j] = max(-gamma * distance[j], LEAST_EXPONENT) * INVERSE_OF_LN_2 + ROUNDING
    for j in range(p):
        bits_of_power[j] = (bits_of_rounded[j] + EXPONENT_BIAS) << MANTISSA_BITS
    for j in range(p):
        m = rounded[j] - ROUNDING
        r = max(-gamma * distance[j], LEAST_EXPONENT) - m * LN_2_COARSE
        r = r - m * LN_2_FINE
        q = (((C6 * r + C5) * r + C4) * r + C3) * r + C2
        total[j] += weight * power[j] * (q * r * r + r + ONE)


@njit(cache=True, nogil=True, error_model="numpy", fastmath={"contract"})
def add_distances(a, b, CT, absolute, squared):
    """Add absolute and squared distances between two rows a and b and the columns of CT.

    Four features and two rows at a time: reading numbers costs more than what is done with them.
    """
    d, p = len(a), CT.shape[1]
    whole = d - d % 4
    absolute_a, absolute_b = absolute[0], absolute[1]
    squared_a, squared_b = squared[0], squared[1]
    for f in range(0, whole, 4):
        a_0, a_1, a_2, a_3 = a[f], a[f + 1], a[f + 2], a[f + 3]
        b_0, b_1, b_2, b_3 = b[f], b[f + 1], b[f + 2], b[f + 3]
        c_0, c_1, c_2, c_3 = CT[f], CT[f + 1], CT[f + 2], CT[f + 3]
        for j in range(p):
            to_0, to_1, to_2, to_3 = c_0[j], c_1[j], c_2[j], c_3[j]
            x, y, z, w = a_0 - to_0, a_1 - to_1, a_2 - to_2, a_3 - to_3
            absolute_a[j] += (abs(x) + abs(y)) + (abs(z) + abs(w))
            squared_a[j] += (x * x + y * y) + (z * z + w * w)
            x, y, z, w = b_0 - to_0, b_1 - to_1, b_2 - to_2, b_3 - to_3
            absolute_b[j] += (abs(x) + abs(y)) + (abs(z) + abs(w))
            squared_b[j] += (x * x + y * y) + (z * z + w * w)
    for f in range(whole, d):
        a_0, b_0, c_0 = a[f], b[f], CT[f]
        for j in range(p):
            x, y = a_0 - c_0[j], b_0 - c_0[j]
            absolute_a[j] += abs(x)
            squared_a[j] += x * x
            absolute_b[j] += abs(y)
            squared_b[j] += y * y


@njit(cache=True, nogil=True, error_model="numpy")
def add_different(A, BT, scale, total):
    """Add the scales of the features in which rows of A and columns of BT differ by over one."""
    for i in range(len(A)):
        add_different_of_row(A[i], BT, scale, total[i])


@njit(cache=True, nogil=True, error_model="numpy")
def add_different_of_row(a, BT, scale, total):
    """Do the same for one row. A difference that is NaN counts, too."""
    for f in range(len(a)):
        a_0, b_0, s = a[f], BT[f], scale[f]
        nothing = s - s
        for j in range(len(total)):
            total[j] += nothing if abs(a_0 - b_0[j]) <= 1 else s
