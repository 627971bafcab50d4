"""Expectation propagation for a linear classifier: row by row, entry by entry.

CSR matrices come with unsigned indices: loops would have to test signed ones for negative values.
"""

import math

import numpy as np

from .compiler import njit

LOG_SQRT_2PI = 0.5 * math.log(2 * math.pi)
SQRT_HALF = math.sqrt(0.5)
# Below this, asymptotic series replace the normal distribution function, which underflows, and
# differences, which lose their digits. The omitted terms are 2e-10 of the result.
SERIES_BELOW = -30.0
# Far on the wrong side of a hard boundary, the remaining variance is lost to rounding.
EPSILON = 2.0**-52
# A row takes at most this share of the variance of its output.
MAX_LOST_SHARE = 1.0 - 8.0 * EPSILON
# Take the logarithm of a product that exceeds this, before it can overflow.
MAX_PRODUCT = 1e100
# The search for lost sites ends after this many rounds, or when a round moves an output by less
# than the tolerance, in standard deviations and shares of its precision.
MAX_RECOVERY_ROUNDS = 200
RECOVERY_TOL = 1e-10


@njit(cache=True, nogil=True, error_model="numpy")
def log_phi(z):
    """Return the logarithm of the normal distribution function."""
    if z > SERIES_BELOW:
        return math.log(0.5 * math.erfc(-z * SQRT_HALF))
    # The next term of the series is below 2e-14.
    y = 1.0 / (z * z)
    series = 1.0 - y * (1.0 - 3.0 * y * (1.0 - 5.0 * y * (1.0 - 7.0 * y * (1.0 - 9.0 * y))))
    return -0.5 * z * z - math.log(-z) - LOG_SQRT_2PI + math.log(series)


@njit(cache=True, nogil=True, error_model="numpy")
def far_above(z):
    """Return the mean of N(z, 1) truncated to positive values, for z far below zero."""
    y = 1.0 / (z * z)
    return -(1.0 - y * (2.0 - y * (10.0 - y * (74.0 - 706.0 * y)))) / z


@njit(cache=True, nogil=True, error_model="numpy")
def moments(y, M, V):
    """Return log Z = log Phi(y M / sqrt(V)), its slope in M, and minus its curvature."""
    scale = 1.0 / math.sqrt(V)
    z = y * M * scale
    if z > SERIES_BELOW:  # as in log_phi, but the slope need not wait for the logarithm
        mass = 0.5 * math.erfc(-z * SQRT_HALF)
        log_z = math.log(mass)
        slope = math.exp(-0.5 * z * z - LOG_SQRT_2PI) / mass
        above = slope + z
    else:
        log_z, above = log_phi(z), far_above(z)
        slope = above - z
    return log_z, y * slope * scale, max(slope * above, 0.0) / V


@njit(cache=True, nogil=True, error_model="numpy")
def without_site(mean, variance, removed, precision, shift):
    """Return mean and variance of an output after removing its site, or a part of it."""
    V = variance / (1.0 - removed * precision * variance)
    return mean - V * removed * (shift - precision * mean), V


@njit(cache=True, nogil=True, error_model="numpy")
def match_output(y, mean, variance, noise, removed, precision, shift):
    """Return log Z given the other rows, and the site of an output that matches its moments.

    mean and variance of the output come from the posterior. Its site, a factor
    exp(shift f - precision f^2 / 2), or a part of it, is removed first.
    """
    M, V = without_site(mean, variance, removed, precision, shift)
    if V + noise <= 0.0:
        return math.log(0.5), precision, shift
    log_z, a, b = moments(y, M, V + noise)
    left = max(1.0 - V * b, EPSILON)
    return log_z, b / left, (a + M * b) / left


@njit(cache=True, nogil=True, error_model="numpy")
def refine(y, weight, mean, variance, noise, share, site_precision, site_shift):
    """Move the sites of all outputs a share of the way to sites that match moments.

    mean and variance of each output come from the posterior. Its site counts weight[i] times.
    Returns the log probability of the labels given the other rows.
    """
    score = 0.0
    for i in range(len(y)):
        s, h = site_precision[i], site_shift[i]
        removed = min(weight[i], 1.0)  # one copy of a row that counts more than once
        log_z, precision, shift = match_output(y[i], mean[i], variance[i], noise, removed, s, h)
        site_precision[i] += share * (precision - s)
        site_shift[i] += share * (shift - h)
        score += weight[i] * log_z
    return score


@njit(cache=True, nogil=True, error_model="numpy")
def recover(y, weight, mean, variance, noise, site_precision, site_shift):
    """Find the sites of outputs from the mean and variance that the posterior gives them.

    After the last sweep, each site matches the moments without it: one equation for each row.
    The larger the share of the site in the precision, the more full steps overshoot, up to
    three times. Steps of 1 / (1 + 2 share) do not. If the posterior still moves, it may
    contradict a row, which then gets no site until the next sweep.
    """
    for i in range(len(y)):
        s, h, v = 0.0, 0.0, variance[i]
        removed = min(weight[i], 1.0)
        for _ in range(MAX_RECOVERY_ROUNDS):
            _, precision, shift = match_output(y[i], mean[i], v, noise, removed, s, h)
            share = 1.0 / (1.0 + 2.0 * removed * s * v)
            step, side_step = share * (precision - s), share * (shift - h)
            s += step
            h += side_step
            if abs(step) * v + abs(side_step) * math.sqrt(v) < RECOVERY_TOL:
                break
        possible = removed * s * v < 1.0
        site_precision[i], site_shift[i] = (s, h) if possible else (0.0, 0.0)


@njit(cache=True, nogil=True, error_model="numpy")
def with_site(mean, variance, precision, shift):
    """Return q, the factor by which a site raises the precision of a Gaussian, and an exponent.

    The product of Gaussian and site integrates to exp(exponent) / sqrt(q).
    """
    q = 1.0 + precision * variance
    return q, 0.5 * (shift * shift * variance + 2.0 * shift * mean - precision * mean * mean) / q


@njit(cache=True, nogil=True, error_model="numpy")
def log_constant(y, weight, mean, variance, noise, site_precision, site_shift):
    """Return the sum over rows of log Z minus the log integral of cavity times site.

    With the integrals of prior and posterior, this is the log evidence.
    """
    total = 0.0
    for i in range(len(y)):
        s, h = site_precision[i], site_shift[i]
        M, V = without_site(mean[i], variance[i], min(weight[i], 1.0), s, h)
        log_z = moments(y[i], M, V + noise)[0] if V + noise > 0.0 else math.log(0.5)
        q, exponent = with_site(M, V, s, h)
        total += weight[i] * (log_z + 0.5 * math.log(q) - exponent)
    return total


@njit(cache=True, nogil=True, error_model="numpy")
def output_variances(data, indices, indptr, covariance, intercept, variance):
    """Set variance to <x, covariance x> for the rows of a CSR matrix, in O(nnz^2) per row.

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
def without(precision, shift, removed, site_precision, site_shift):
    """Return mean and variance of a weight after removing its site, or a part of it."""
    variance = 1.0 / (precision - removed * site_precision)
    return variance * (shift - removed * site_shift), variance


@njit(cache=True, nogil=True, error_model="numpy")
def match(x, j, s, mean, variance, a, b, share, weight, precision, shift, sites):
    """Move site s of weight j a share of the way to the one that matches its moments."""
    site_precision, site_shift = sites
    curve = x * x * b
    scale = 1.0 / (1.0 - curve * variance)
    more_precision = share * (curve * scale - site_precision[s])
    more_shift = share * ((x * a + mean * curve) * scale - site_shift[s])
    site_precision[s] += more_precision
    site_shift[s] += more_shift
    precision[j] += weight * more_precision
    shift[j] += weight * more_shift


@njit(cache=True, nogil=True, error_model="numpy")
def sweep(
    data, indices, indptr, order, y, weight, noise, precision, shift, site_precision, site_shift
):
    """Refine the sites of all rows once, in an order; the posterior and the sites change.

    Rows are given as a CSR matrix. precision and shift are the natural parameters of the
    posterior of each weight; a site is a factor exp(shift w - precision w^2 / 2) for each
    entry of the matrix, which counts weight[i] times. If there are more sites than entries,
    every row has a one for the last weight, the intercept, whose sites come last.
    """
    n_entries, last = len(data), len(precision) - 1
    intercept = len(site_shift) > n_entries
    sites = site_precision, site_shift
    longest = np.int64(0)
    for i in order:
        longest = max(longest, np.int64(indptr[i + 1] - indptr[i]))
    # Means and variances of the weights of a row, given all other rows.
    means, variances = np.empty(longest), np.empty(longest)
    mean, variance = 0.0, 0.0  # of the intercept
    for i in order:
        begin, row, w = indptr[i], range(indptr[i], indptr[i + 1]), weight[i]
        s = n_entries + i  # the site of the intercept
        # If a row counts more than once, one copy is removed and all copies change. Two half
        # steps keep them from overshooting.
        removed = min(w, 1.0)
        rounds = 2 if w > 1.0 else 1
        share = 1.0 / rounds
        for _ in range(rounds):
            M, V = 0.0, noise
            for k in row:
                x, j = data[k], indices[k]
                m, v = without(precision[j], shift[j], removed, site_precision[k], site_shift[k])
                means[k - begin], variances[k - begin] = m, v
                M += x * m
                V += x * x * v
            if intercept:
                mean, variance = without(
                    precision[last], shift[last], removed, site_precision[s], site_shift[s]
                )
                M += mean
                V += variance
            if V <= 0.0:
                break
            _, a, b = moments(y[i], M, V)
            b = min(b, MAX_LOST_SHARE / V)  # as x^2 v <= V, all sites are finite
            for k in row:
                x, j, m, v = data[k], indices[k], means[k - begin], variances[k - begin]
                match(x, j, k, m, v, a, b, share, w, precision, shift, sites)
            if intercept:
                match(1.0, last, s, mean, variance, a, b, share, w, precision, shift, sites)


@njit(cache=True, nogil=True, error_model="numpy")
def learn_weight(belief, j, x, a, b, weight):
    """Change mean and variance of weight j as a site that counts weight times would."""
    v = belief[j, 1]
    part = x * v
    if weight == 1.0:
        belief[j, 0] += a * part
        belief[j, 1] = v - b * part * part
    else:
        lost = b * x * part
        times = weight / (1.0 - lost)
        shrink = 1.0 / (1.0 + times * lost)
        belief[j, 0] += times * shrink * a * part
        belief[j, 1] = v * shrink


@njit(cache=True, nogil=True, error_model="numpy")
def learn(data, indices, indptr, order, y, weight, noise, intercept, belief):
    """Do what the first `sweep` does, faster, by updating means and variances of weights.

    A row of belief holds mean and variance of a weight, side by side in memory. No sites are
    kept, and no divisions are needed. With an intercept, every row has a one for the last
    weight. Returns the log probability of the labels, each given the rows before it.
    """
    last, score = len(belief) - 1, 0.0
    for i in order:
        row, w = range(indptr[i], indptr[i + 1]), weight[i]
        M, V = 0.0, noise
        if intercept:
            M, V = belief[last, 0], noise + belief[last, 1]
        for k in row:
            x, j = data[k], indices[k]
            M += x * belief[j, 0]
            V += x * x * belief[j, 1]
        if V <= 0.0:
            score += w * math.log(0.5)
            continue
        log_z, a, b = moments(y[i], M, V)
        score += w * log_z
        b = min(b, MAX_LOST_SHARE / V)  # as x^2 v <= V, every weight keeps some variance
        for k in row:
            learn_weight(belief, indices[k], data[k], a, b, w)
        if intercept:
            learn_weight(belief, last, 1.0, a, b, w)
    return score


@njit(cache=True, nogil=True, error_model="numpy")
def log_constant_of_entries(
    data, indices, indptr, y, weight, noise, precision, shift, site_precision, site_shift
):
    """Return the same as `log_constant`, if every entry has a site."""
    n_entries, last = len(data), len(precision) - 1
    intercept = len(site_shift) > n_entries
    total = 0.0
    for i in range(len(y)):
        removed = min(weight[i], 1.0)
        M, V, change, product = 0.0, noise, 0.0, 1.0
        for k in range(indptr[i], indptr[i + 1]):
            x, j, site = data[k], indices[k], (site_precision[k], site_shift[k])
            mean, variance = without(precision[j], shift[j], removed, *site)
            M += x * mean
            V += x * x * variance
            q, exponent = with_site(mean, variance, *site)
            change -= exponent
            product *= q
            if product > MAX_PRODUCT:  # a logarithm for each entry would take most of the time
                change += 0.5 * math.log(product)
                product = 1.0
        if intercept:
            site = site_precision[n_entries + i], site_shift[n_entries + i]
            mean, variance = without(precision[last], shift[last], removed, *site)
            M += mean
            V += variance
            q, exponent = with_site(mean, variance, *site)
            change -= exponent
            product *= q
        log_z = moments(y[i], M, V)[0] if V > 0.0 else math.log(0.5)
        total += weight[i] * (log_z + 0.5 * math.log(product) + change)
    return total
