"""Expectation propagation for a linear classifier: row by row, entry by entry."""

import math

import numpy as np
from numba import njit

LOG_SQRT_2PI = 0.5 * math.log(2 * math.pi)
# Far on the wrong side of a hard boundary the variance that is left is lost to rounding.
EPSILON = 2.0**-52


@njit(cache=True, nogil=True, error_model="numpy")
def log_phi(z):
    """Return the logarithm of the normal distribution function."""
    if z > -30.0:
        return math.log(0.5 * math.erfc(-z / math.sqrt(2.0)))
    # Its asymptotic series; what follows is below 2e-14.
    y = 1.0 / (z * z)
    series = 1.0 - y * (1.0 - 3.0 * y * (1.0 - 5.0 * y * (1.0 - 7.0 * y * (1.0 - 9.0 * y))))
    return -0.5 * z * z - math.log(-z) - LOG_SQRT_2PI + math.log(series)


@njit(cache=True, nogil=True, error_model="numpy")
def moments(y, M, V):
    """Return log Z = log Phi(y M / sqrt(V)), its slope in M, and minus its curvature."""
    deviation = math.sqrt(V)
    z = y * M / deviation
    log_z = log_phi(z)
    slope = math.exp(-0.5 * z * z - LOG_SQRT_2PI - log_z)
    return log_z, y * slope / deviation, max(slope * (slope + z), 0.0) / V


@njit(cache=True, nogil=True, error_model="numpy")
def refine(y, weight, mean, variance, noise, share, site_precision, site_shift):
    """Move the sites of all outputs by a share of the way to those that match moments.

    mean and variance are what the posterior says of each output; a site is a factor
    exp(shift f - precision f^2 / 2) of it, which counts weight[i] times. Returns the log
    probability of the labels given the other rows.
    """
    score = 0.0
    for i in range(len(y)):
        s, h = site_precision[i], site_shift[i]
        removed = min(weight[i], 1.0)  # one of a row that counts more than once
        V = variance[i] / (1.0 - removed * s * variance[i])
        M = mean[i] - V * removed * (h - s * mean[i])
        if V + noise <= 0.0:
            score += weight[i] * math.log(0.5)
            continue
        log_z, a, b = moments(y[i], M, V + noise)
        left = max(1.0 - V * b, EPSILON)
        site_precision[i] += share * (b / left - s)
        site_shift[i] += share * ((a + M * b) / left - h)
        score += weight[i] * log_z
    return score


@njit(cache=True, nogil=True, error_model="numpy")
def log_constant(y, weight, mean, variance, noise, site_precision, site_shift):
    """Return the sum over rows of log Z less the logarithm of that of cavity times site.

    With the integrals of prior and posterior, this is the log evidence.
    """
    total = 0.0
    for i in range(len(y)):
        s, h = site_precision[i], site_shift[i]
        removed = min(weight[i], 1.0)
        V = variance[i] / (1.0 - removed * s * variance[i])
        M = mean[i] - V * removed * (h - s * mean[i])
        log_z = moments(y[i], M, V + noise)[0] if V + noise > 0.0 else math.log(0.5)
        q = 1.0 / (1.0 + s * V)
        exponent = 0.5 * q * (h * h * V + 2.0 * h * M - s * M * M)
        total += weight[i] * (log_z - 0.5 * math.log(q) - exponent)
    return total


@njit(cache=True, nogil=True, error_model="numpy")
def column_sums(data, indices, indptr, weight, squares, counts):
    """Add up the squares of the entries of each column of a CSR matrix, and count them."""
    for i in range(len(weight)):
        for k in range(indptr[i], indptr[i + 1]):
            squares[indices[k]] += weight[i] * data[k] * data[k]
            counts[indices[k]] += weight[i] * (data[k] != 0.0)


@njit(cache=True, nogil=True, error_model="numpy")
def output_variances(data, indices, indptr, covariance, intercept, variance):
    """Find <x, covariance x> for the rows of a CSR matrix, in O(nnz^2) for each of them.

    With an intercept, every row has a one for the last weight.
    """
    last = covariance.shape[0] - 1
    for i in range(len(variance)):
        begin, end = indptr[i], indptr[i + 1]
        total = covariance[last, last] if intercept else 0.0
        for k in range(begin, end):
            j = indices[k]
            part = 0.5 * data[k] * covariance[j, j]
            for m in range(begin, k):
                part += data[m] * covariance[j, indices[m]]
            if intercept:
                part += covariance[j, last]
            total += 2.0 * data[k] * part
        variance[i] = total


@njit(cache=True, nogil=True, error_model="numpy")
def add_products(data, indices, indptr, scale, intercept, total):
    """Add the sum of scale[i] x_i x_i^T to a matrix, for the rows of a CSR matrix."""
    last = total.shape[0] - 1
    for i in range(len(scale)):
        begin, end = indptr[i], indptr[i + 1]
        for k in range(begin, end):
            j, x = indices[k], scale[i] * data[k]
            for m in range(begin, end):
                total[j, indices[m]] += x * data[m]
            if intercept:
                total[j, last] += x
                total[last, j] += x
        if intercept:
            total[last, last] += scale[i]


@njit(cache=True, nogil=True, error_model="numpy")
def sweep(
    data, indices, indptr, order, y, weight, noise, precision, shift, site_precision, site_shift
):
    """Refine the sites of all rows once, in an order; the posterior and the sites change.

    Rows are those of a CSR matrix. precision and shift are the natural parameters of the
    posterior of each weight; a site is a factor exp(shift w - precision w^2 / 2) for each
    entry of the matrix, which counts weight[i] times. If there are more sites than entries,
    every row has a one for the last weight, the intercept, whose sites come last.
    """
    n_entries = data.shape[0]
    intercept = 1 if site_shift.shape[0] > n_entries else 0
    last = precision.shape[0] - 1
    longest = 0
    for i in order:
        longest = max(longest, indptr[i + 1] - indptr[i])
    # What all other rows say of the weights of this one.
    means, variances = np.empty(longest + 1), np.empty(longest + 1)
    for i in order:
        begin, end = indptr[i], indptr[i + 1]
        # Of a row that counts more than once, one is taken away, and all are changed: half
        # the way, twice, as they might overshoot.
        removed = min(weight[i], 1.0)
        rounds = 2 if weight[i] > 1.0 else 1
        share = 1.0 / rounds
        for _ in range(rounds):
            M, V = 0.0, noise
            for k in range(begin, end + intercept):
                x, j, s = (data[k], indices[k], k) if k < end else (1.0, last, n_entries + i)
                variance = 1.0 / (precision[j] - removed * site_precision[s])
                mean = variance * (shift[j] - removed * site_shift[s])
                means[k - begin], variances[k - begin] = mean, variance
                M += x * mean
                V += x * x * variance
            if V <= 0.0:
                break
            _, a, b = moments(y[i], M, V)
            # The sites that match the moments of each weight.
            for k in range(begin, end + intercept):
                x, j, s = (data[k], indices[k], k) if k < end else (1.0, last, n_entries + i)
                curve = x * x * b
                scale = 1.0 / max(1.0 - curve * variances[k - begin], EPSILON)
                more_precision = share * (curve * scale - site_precision[s])
                more_shift = share * ((x * a + means[k - begin] * curve) * scale - site_shift[s])
                site_precision[s] += more_precision
                site_shift[s] += more_shift
                precision[j] += weight[i] * more_precision
                shift[j] += weight[i] * more_shift


@njit(cache=True, nogil=True, error_model="numpy")
def learn(data, indices, indptr, order, y, weight, noise, intercept, belief):
    """Do what the first `sweep` does, faster: mean and variance of the weights change.

    Those of a weight are a row of belief, side by side in memory. No sites are kept, and
    nothing is divided. With an intercept, every row has a one for the last weight. Returns the
    log probability of the labels, each given the rows before.
    """
    last, score = len(belief) - 1, 0.0
    for i in order:
        begin, end, w = indptr[i], indptr[i + 1], weight[i]
        M, V = 0.0, noise
        if intercept:
            M, V = belief[last, 0], noise + belief[last, 1]
        for k in range(begin, end):
            x, j = data[k], indices[k]
            M += x * belief[j, 0]
            V += x * x * belief[j, 1]
        if V <= 0.0:
            score += w * math.log(0.5)
            continue
        log_z, a, b = moments(y[i], M, V)
        score += w * log_z
        for k in range(begin, end + intercept):
            x, j = (data[k], indices[k]) if k < end else (1.0, last)
            v = belief[j, 1]
            lost = min(x * x * b * v, 1.0 - EPSILON)
            if w == 1.0:
                belief[j, 0] += x * a * v
                belief[j, 1] = v * (1.0 - lost)
            else:  # the site that this would be, so many times
                times = w / (1.0 - lost)
                shrink = 1.0 / (1.0 + times * lost)
                belief[j, 0] += times * shrink * x * a * v
                belief[j, 1] = v * shrink
    return score


@njit(cache=True, nogil=True, error_model="numpy")
def log_constant_of_entries(
    data, indices, indptr, y, weight, noise, precision, shift, site_precision, site_shift
):
    """Return what `log_constant` does, where every entry has a site."""
    n_entries = data.shape[0]
    intercept = 1 if site_shift.shape[0] > n_entries else 0
    last = precision.shape[0] - 1
    total = 0.0
    for i in range(indptr.shape[0] - 1):
        end = indptr[i + 1]
        removed = min(weight[i], 1.0)
        M, V, change = 0.0, noise, 0.0
        for k in range(indptr[i], end + intercept):
            x, j, s = (data[k], indices[k], k) if k < end else (1.0, last, n_entries + i)
            p = precision[j] - removed * site_precision[s]
            h = shift[j] - removed * site_shift[s]
            M += x * h / p
            V += x * x / p
            more, sum_ = p + site_precision[s], h + site_shift[s]
            change += 0.5 * (h * h / p - sum_ * sum_ / more + math.log(more / p))
        log_z = moments(y[i], M, V)[0] if V > 0.0 else math.log(0.5)
        total += weight[i] * (log_z + change)
    return total
