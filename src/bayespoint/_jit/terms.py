"""The terms of a mixture for pairs of points, their sums, and sums over pairs for each term.

One call does what several array operations would, and wants Python's lock once: threads that each
call many short operations wait for the lock longer than they work.
"""

import numpy as np

from .compiler import njit

# Pairs whose terms stay in the first-level cache.
PAIRS_AT_ONCE = 512
# exp(x) is 2^m exp(r) with a whole m and |r| <= ln(2) / 2. Smaller x count as this one.
LEAST_EXPONENT = -708.0
INVERSE_OF_LN_2 = 1.4426950408889634
# ln(2) in two parts; products of the first with a whole number of eleven bits are exact.
LN_2_COARSE, LN_2_FINE = 0.693147180369123816490, 1.90821492927058770002e-10
# A number x plus this one is rounded to a whole number, which is then in its last bits.
ROUNDING = 6755399441055744.0  # 1.5 * 2^52
EXPONENT_BIAS, MANTISSA_BITS = 1023, 52


@njit(cache=True, nogil=True, error_model="numpy", fastmath={"contract"})
def fill_terms(distances, which, gammas, weights, constant, start, stop, terms, pairs):
    """Put weight * exp(-gamma * distance) into `terms`, and their sums and a constant into `pairs`.

    For the pairs start, ..., stop - 1. The distances of term k are in row which[k]. The exponential
    is a Taylor polynomial of degree 12, off by at most a few units of the last digit. Loops without
    calls and branches become vector instructions.
    """
    rounded, power = np.empty(PAIRS_AT_ONCE), np.empty(PAIRS_AT_ONCE)
    bits_of_rounded, bits_of_power = rounded.view(np.int64), power.view(np.int64)
    for first in range(start, stop, PAIRS_AT_ONCE):
        last = min(first + PAIRS_AT_ONCE, stop)
        here, n = pairs[first:last], last - first
        here[:] = constant
        for k in range(len(which)):
            apart, term = distances[which[k], first:last], terms[k, first:last]
            gamma, weight = gammas[k], weights[k]
            for p in range(n):
                x = max(-gamma * apart[p], LEAST_EXPONENT)
                rounded[p] = x * INVERSE_OF_LN_2 + ROUNDING
            for p in range(n):
                bits_of_power[p] = (bits_of_rounded[p] + EXPONENT_BIAS) << MANTISSA_BITS
            for p in range(n):
                x, m = max(-gamma * apart[p], LEAST_EXPONENT), rounded[p] - ROUNDING
                r = (x - m * LN_2_COARSE) - m * LN_2_FINE
                q = r / 479001600 + 1 / 39916800
                q = q * r + 1 / 3628800
                q = q * r + 1 / 362880
                q = q * r + 1 / 40320
                q = q * r + 1 / 5040
                q = q * r + 1 / 720
                q = q * r + 1 / 120
                q = q * r + 1 / 24
                q = q * r + 1 / 6
                q = q * r + 0.5
                value = weight * power[p] * (q * r * r + r + 1)
                term[p] = value
                here[p] += value


@njit(cache=True, nogil=True, error_model="numpy", fastmath={"contract", "reassoc", "nsz"})
def sum_over_terms(terms, distances, start, by_pair):
    """Return sums over pairs from `start` on of a slope, slope times term, and that times distance.

    They come one after the other: one number, then one for each term, then one for each term.
    """
    n_terms, stop = len(terms), start + len(by_pair)
    sums = np.zeros(1 + 2 * n_terms)
    for first in range(start, stop, PAIRS_AT_ONCE):
        last = min(first + PAIRS_AT_ONCE, stop)
        slopes, total = by_pair[first - start : last - start], 0.0
        for p in range(last - first):
            total += slopes[p]
        sums[0] += total
        for k in range(n_terms):
            term, apart = terms[k, first:last], distances[k, first:last]
            by_weight, by_gamma = 0.0, 0.0
            for p in range(last - first):
                value = slopes[p] * term[p]
                by_weight += value
                by_gamma += value * apart[p]
            sums[1 + k] += by_weight
            sums[1 + n_terms + k] += by_gamma
    return sums


@njit(cache=True, nogil=True, error_model="numpy", fastmath={"contract"})
def slopes_of_distances(terms, which, gammas, start, by_pair, n_distances):
    """Return derivatives by the distances of some pairs, from those by the sums of their terms."""
    slopes = np.zeros((n_distances, len(by_pair)), dtype=np.float32)
    for first in range(0, len(by_pair), PAIRS_AT_ONCE):
        last = min(first + PAIRS_AT_ONCE, len(by_pair))
        by_sum = by_pair[first:last]
        for k in range(len(which)):
            term, found = terms[k, start + first : start + last], slopes[which[k], first:last]
            gamma = gammas[k]
            for p in range(last - first):
                found[p] -= gamma * term[p] * by_sum[p]
    return slopes
