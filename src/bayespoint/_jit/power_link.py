"""Log likelihood of classes whose probabilities are powers of positive outputs, and its slopes."""

import math

import numpy as np

from .compiler import njit


@njit(cache=True, nogil=True, error_model="numpy")
def power_likelihood(F, wanted, weight, power, floor, least, by_outputs):
    """Return the log likelihood and its derivatives by the logarithms of power and floor.

    The positive output of F is floor * log(1 + exp(F / floor)), and F / floor is at least `least`.
    The derivatives by outputs go to `by_outputs`.
    """
    n, n_classes = F.shape
    log_floor = math.log(floor)
    log_positive, share, p = np.empty(n_classes), np.empty(n_classes), np.empty(n_classes)
    value = by_power = by_floor = 0.0
    for i in range(n):
        top = -np.inf
        for c in range(n_classes):
            z = F[i, c] / floor
            if z < least:  # but not if it is NaN
                z = least
            small = math.exp(-abs(z))
            positive = math.log1p(small)
            near = small
            if z > 0:
                positive += z
                near = 1.0
            share[c] = near / ((1.0 + small) * floor * positive)
            log_positive[c] = log_floor + math.log(positive)
            top = max(top, power * log_positive[c])
        total = 0.0
        for c in range(n_classes):
            p[c] = math.exp(power * log_positive[c] - top)
            total += p[c]
        top += math.log(total)
        for c in range(n_classes):
            surprise = weight[i] * (wanted[i, c] - p[c] / total)
            value += weight[i] * wanted[i, c] * (power * log_positive[c] - top)
            by_power += surprise * log_positive[c]
            by_floor += surprise * (1.0 - F[i, c] * share[c])
            by_outputs[i, c] = power * surprise * share[c]
    return value, power * by_power, power * by_floor
