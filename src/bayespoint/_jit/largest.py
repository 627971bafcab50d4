"""Which of several independent normal variables is the largest, by quadrature."""

import math

import numpy as np
from numba import njit

# Nothing happens farther from a mean, in standard deviations: 1e-19.
REACH = 9.0
# Panels of so many deviations of the narrowest variable, with the nodes given.
PANEL = 3.0
# Deviations below this share of the largest one count as this.
NARROWEST = 1e-6


@njit(cache=True, nogil=True, error_model="numpy")
def probabilities(mean, variance, nodes, weights):
    """Return the probability that each column is the largest, row by row.

    The integral over t of density_c(t) times the product of all other distribution functions,
    in panels with the nodes and weights of a rule on [0, 1].
    """
    n, n_classes = mean.shape
    result = np.zeros((n, n_classes))
    deviation, cdf, after = np.empty(n_classes), np.empty(n_classes), np.empty(n_classes + 1)
    for i in range(n):
        widest = math.sqrt(max(variance[i].max(), 0.0))
        if widest == 0.0:
            winners = mean[i] == mean[i].max()
            result[i] = winners / winners.sum()
            continue
        low, high = -np.inf, -np.inf
        for c in range(n_classes):
            deviation[c] = max(math.sqrt(max(variance[i, c], 0.0)), NARROWEST * widest)
            low = max(low, mean[i, c] - REACH * deviation[c])
            high = max(high, mean[i, c] + REACH * deviation[c])
        t = low
        while t < high:
            width = high - t
            for c in range(n_classes):
                if t < mean[i, c] + REACH * deviation[c]:
                    width = min(width, PANEL * deviation[c])
            for q in range(nodes.shape[0]):
                x = t + width * nodes[q]
                for c in range(n_classes):
                    z = (x - mean[i, c]) / deviation[c]
                    cdf[c] = 0.5 * math.erfc(-z / math.sqrt(2.0)) if z < REACH else 1.0
                after[n_classes] = 1.0
                for c in range(n_classes - 1, -1, -1):
                    after[c] = after[c + 1] * cdf[c]
                before = width * weights[q] / math.sqrt(2 * math.pi)
                for c in range(n_classes):
                    z = (x - mean[i, c]) / deviation[c]
                    if abs(z) < 2 * REACH:
                        density = math.exp(-0.5 * z * z) / deviation[c]
                        result[i, c] += before * density * after[c + 1]
                    before *= cdf[c]
            t += width
    return result
