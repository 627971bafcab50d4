"""The probability that a correlated normal score is the largest, by quadrature in one dimension.

Class c wins if e_j > -z_j for all other classes j, where z_j is the mean of the difference
s_c - s_j in units of its deviation, and the e_j are standard normal with correlations R. If
R_jk = a_j a_k, then e_j = a_j t + sqrt(1 - a_j^2) times independent noise, and P_c is the integral
of phi(t) prod_j Phi((z_j + a_j t) / sqrt(1 - a_j^2)). Such loadings a_j always exist for two other
classes. For more, the best approximation is used, with most weight on undecided comparisons.

`log_phi` is a copy: numba caches a loop by the file that it is in, and would not notice that a
function of another file has changed.
"""

import math

import numpy as np

from .compiler import njit

# As in `_jit/linear.py`.
LOG_SQRT_2PI = 0.5 * math.log(2 * math.pi)
SQRT_HALF = math.sqrt(0.5)
SERIES_BELOW = -30.0
# Integrate t up to this many standard deviations; 1e-19 of the mass is farther out.
INTEGRATION_LIMIT = 9.0
# Comparisons with a larger z are lost with probability 4e-11, and are skipped.
MAX_UNDECIDED_Z = 6.5
# Stop at a panel that adds less than this share of the integral.
PANEL_RTOL = 1e-11
# Stop multiplying factors at a node that contributes less than this share.
NODE_RTOL = 1e-13
# Width of a panel, in deviations of the narrowest factor.
PANEL_DEVIATIONS = 3.0
# The largest loading, which makes a factor a step of width 1e-4.
MAX_LOADING = 1 - 1e-8
# The search for loadings ends after this many rounds, or when all moves are below the tolerance.
MAX_SEARCH_ROUNDS = 50
LOADING_TOL = 1e-5
# For smaller integrals, take a bound: the smallest probability of a single comparison.
MIN_INTEGRAL = 1e-12


@njit(cache=True, nogil=True, error_model="numpy")
def log_phi(z):
    """Return the logarithm of the normal distribution function, as in `_jit/linear.py`."""
    if z > SERIES_BELOW:
        return math.log(0.5 * math.erfc(-z * SQRT_HALF))
    y = 1.0 / (z * z)
    series = 1.0 - y * (1.0 - 3.0 * y * (1.0 - 5.0 * y * (1.0 - 7.0 * y * (1.0 - 9.0 * y))))
    return -0.5 * z * z - math.log(-z) - LOG_SQRT_2PI + math.log(series)


@njit(cache=True, nogil=True, error_model="numpy")
def phi(z):
    """Return the normal distribution function."""
    return 0.5 * math.erfc(-z / math.sqrt(2.0))


@njit(cache=True, nogil=True, error_model="numpy")
def one_factor(R, z, n, a):
    """Set the first n loadings a so that a_j a_k is near R_jk, best for undecided classes."""
    if n == 2:
        a[0] = min(math.sqrt(abs(R[0, 1])), MAX_LOADING)
        a[1] = math.copysign(a[0], R[0, 1])
        return
    weight = np.empty(n)
    for j in range(n):
        a[j] = math.sqrt(0.5)
        # How fast log Phi(z) changes, squared.
        weight[j] = math.exp(-z[j] * z[j] - 2.0 * log_phi(z[j]))
    for _ in range(MAX_SEARCH_ROUNDS):
        moved = 0.0
        for j in range(n):
            above, below = 0.0, 0.0
            for k in range(n):
                if k != j:
                    above += weight[k] * R[j, k] * a[k]
                    below += weight[k] * a[k] * a[k]
            new = above / below if below > 0.0 else 0.0
            new = min(max(new, -MAX_LOADING), MAX_LOADING)
            moved = max(moved, abs(new - a[j]))
            a[j] = new
        if moved < LOADING_TOL:
            break


@njit(cache=True, nogil=True, error_model="numpy")
def integrate(z, a, n, nodes, weights):
    """Return the integral of phi(t) prod_j Phi((z_j + a_j t) / sqrt(1 - a_j^2)) over t."""
    steepness = np.empty(n)
    worst = 0
    for j in range(n):
        steepness[j] = 1.0 / math.sqrt(1.0 - a[j] * a[j])
        worst = j if z[j] < z[worst] else worst
    # The integrand has one peak: go to both sides from a place where it is large.
    middle = -a[worst] * min(z[worst], 0.0)
    total = 0.0
    for direction in (1.0, -1.0):
        t = middle
        while direction * t < INTEGRATION_LIMIT:
            width = min(PANEL_DEVIATIONS, INTEGRATION_LIMIT - direction * t)
            for j in range(n):
                slope = abs(a[j]) * steepness[j]
                if slope > 1.0:
                    ahead = direction * (-z[j] / a[j] - t)  # where this factor is one half
                    if ahead > (INTEGRATION_LIMIT + 1e-3) / slope:
                        width = min(width, ahead - INTEGRATION_LIMIT / slope)
                    elif ahead > -INTEGRATION_LIMIT / slope:
                        width = min(width, PANEL_DEVIATIONS / slope)
            density = 0.0
            for q in range(nodes.shape[0]):
                x = t + direction * width * nodes[q]
                product = weights[q] * math.exp(-0.5 * x * x)
                for j in range(n):
                    product *= phi((z[j] + a[j] * x) * steepness[j])
                    if product < NODE_RTOL * total:
                        break
                density += product
            total += width * density
            if density < PANEL_RTOL * total:
                break
            t += direction * width
    return total / math.sqrt(2.0 * math.pi)


@njit(cache=True, nogil=True, error_model="numpy")
def log_probabilities(mean, covariance, noise, nodes, weights):
    """Return log P(class c has the largest noisy score) for each row; rows are normalized.

    nodes and weights belong to a quadrature rule on [0, 1].
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
                if score < MAX_UNDECIDED_Z and variance > 0.0:
                    others[m], z[m], deviation[m] = j, score, math.sqrt(variance)
                    m += 1
            result[i, c] = log_phi(max(bound, -1e150))
            if m < 2 or result[i, c] < math.log(MIN_INTEGRAL):
                continue
            for j in range(m):
                for k in range(m):
                    u, v = others[j], others[k]
                    shared = S[c, c] - S[c, u] - S[c, v] + S[u, v] + noise
                    R[j, k] = min(max(shared / (deviation[j] * deviation[k]), -1.0), 1.0)
            one_factor(R, z, m, a)
            found = integrate(z, a, m, nodes, weights)
            if found > MIN_INTEGRAL:
                result[i, c] = math.log(found)
        top = result[i].max()
        total = 0.0
        for c in range(n_classes):
            total += math.exp(result[i, c] - top)
        for c in range(n_classes):
            result[i, c] -= top + math.log(total)
    return result
