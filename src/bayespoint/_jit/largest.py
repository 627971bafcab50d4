"""Which of several correlated normal scores is the largest, by one-dimensional quadrature.

Class c wins if e_j > -z_j for all others, where z_j is the mean of the difference s_c - s_j in
units of its deviation, and the e_j are standard normal with correlations R. With
R_jk = a_j a_k, all e_j = a_j t + sqrt(1 - a_j^2) independent noise, and P_c is the integral of
phi(t) prod_j Phi((z_j + a_j t) / sqrt(1 - a_j^2)). Two others always have such a_j; for more, they
come as close as possible where it matters.
"""

import math

import numpy as np
from numba import njit

from .linear import log_phi

# Nothing happens farther out, in standard deviations: 1e-19.
REACH = 9.0
# Comparisons that are lost with less than 4e-11 do not count,
CLEAR = 6.5
# nor does what is farther out than a panel with this share of the integral.
ENOUGH = 1e-11
NOTHING = 1e-13
# Panels of so many deviations of the narrowest factor, with the nodes given.
PANEL = 3.0
# Correlations of this size make a factor a step of width 1e-4.
STEEPEST = 1 - 1e-8
# Rounds of the search for a, and when it ends.
ROUNDS = 50
FOUND = 1e-5
# Integrals below this are replaced by a bound: the smallest probability of a single comparison.
SMALL = 1e-12


@njit(cache=True, nogil=True, error_model="numpy")
def phi(z):
    """Return the normal distribution function."""
    return 0.5 * math.erfc(-z / math.sqrt(2.0))


@njit(cache=True, nogil=True, error_model="numpy")
def one_factor(R, z, n, a):
    """Set a with a_j a_k near R_jk, for the first n; most where comparisons are undecided."""
    if n == 2:
        a[0] = min(math.sqrt(abs(R[0, 1])), STEEPEST)
        a[1] = math.copysign(a[0], R[0, 1])
        return
    weight = np.empty(n)
    for j in range(n):
        a[j] = math.sqrt(0.5)
        # How fast log Phi(z) changes, squared.
        weight[j] = math.exp(-z[j] * z[j] - 2.0 * log_phi(z[j]))
    for _ in range(ROUNDS):
        moved = 0.0
        for j in range(n):
            above, below = 0.0, 0.0
            for k in range(n):
                if k != j:
                    above += weight[k] * R[j, k] * a[k]
                    below += weight[k] * a[k] * a[k]
            new = above / below if below > 0.0 else 0.0
            new = min(max(new, -STEEPEST), STEEPEST)
            moved = max(moved, abs(new - a[j]))
            a[j] = new
        if moved < FOUND:
            break


@njit(cache=True, nogil=True, error_model="numpy")
def integrate(z, a, n, nodes, weights):
    """Return the integral of phi(t) prod_j Phi((z_j + a_j t) / sqrt(1 - a_j^2)) over t."""
    steepness = np.empty(n)
    worst = 0
    for j in range(n):
        steepness[j] = 1.0 / math.sqrt(1.0 - a[j] * a[j])
        worst = j if z[j] < z[worst] else worst
    # From where the integrand, which has one peak, is large, to both sides.
    middle = -a[worst] * min(z[worst], 0.0)
    total = 0.0
    for direction in (1.0, -1.0):
        t = middle
        while direction * t < REACH:
            width = min(PANEL, REACH - direction * t)
            for j in range(n):
                slope = abs(a[j]) * steepness[j]
                if slope > 1.0:
                    ahead = direction * (-z[j] / a[j] - t)  # where this factor is one half
                    if ahead > (REACH + 1e-3) / slope:
                        width = min(width, ahead - REACH / slope)
                    elif ahead > -REACH / slope:
                        width = min(width, PANEL / slope)
            density = 0.0
            for q in range(nodes.shape[0]):
                x = t + direction * width * nodes[q]
                product = weights[q] * math.exp(-0.5 * x * x)
                for j in range(n):
                    product *= phi((z[j] + a[j] * x) * steepness[j])
                    if product < NOTHING * total:
                        break
                density += product
            total += width * density
            if density < ENOUGH * total:
                break
            t += direction * width
    return total / math.sqrt(2.0 * math.pi)


@njit(cache=True, nogil=True, error_model="numpy")
def log_probabilities(mean, covariance, noise, nodes, weights):
    """Return log P(class c has the largest noisy score) for each row; rows are normalized.

    nodes and weights are those of a rule on [0, 1].
    """
    n, n_classes = mean.shape
    result = np.empty((n, n_classes))
    others = np.empty(n_classes, np.int64)
    z, deviation, a = np.empty(n_classes), np.empty(n_classes), np.empty(n_classes)
    R = np.empty((n_classes, n_classes))
    for i in range(n):
        S = covariance[i]
        for c in range(n_classes):
            bound, m = np.inf, 0
            for j in range(n_classes):
                if j == c:
                    continue
                variance = max(S[c, c] + S[j, j] - 2.0 * S[c, j], 0.0) + 2.0 * noise
                difference = mean[i, c] - mean[i, j]
                score = difference / math.sqrt(variance) if difference != 0.0 else 0.0
                bound = min(bound, score)
                if score < CLEAR and variance > 0.0:
                    others[m], z[m], deviation[m] = j, score, math.sqrt(variance)
                    m += 1
            result[i, c] = log_phi(max(bound, -1e150))
            if m < 2 or result[i, c] < math.log(SMALL):
                continue
            for j in range(m):
                for k in range(m):
                    u, v = others[j], others[k]
                    shared = S[c, c] - S[c, u] - S[c, v] + S[u, v] + noise
                    R[j, k] = min(max(shared / (deviation[j] * deviation[k]), -1.0), 1.0)
            one_factor(R, z, m, a)
            found = integrate(z, a, m, nodes, weights)
            if found > SMALL:
                result[i, c] = math.log(found)
        top = result[i].max()
        total = 0.0
        for c in range(n_classes):
            total += math.exp(result[i, c] - top)
        for c in range(n_classes):
            result[i, c] -= top + math.log(total)
    return result
