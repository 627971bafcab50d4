"""Expectation propagation for more than two classes: compare the right class with all others.

A row of class y has the differences u_j = s_y - s_j of its noisy scores, all of which have
to be positive. Each comparison has a site exp(nu_j u_j - tau_j u_j^2 / 2). Arrays have a place
for u_y = 0, too, whose site stays empty.

`log_phi` and `far_above` are copies: numba caches a loop by the file that it is in, and would not
notice that a function of another file has changed.
"""

import math

import numpy as np

from .compiler import njit

# As in `_jit/linear.py`.
LOG_SQRT_2PI = 0.5 * math.log(2 * math.pi)
SQRT_HALF = math.sqrt(0.5)
SERIES_BELOW = -30.0
EPSILON = 2.0**-52
# A site that would move the differences by at most this, in standard deviations, stays as it is.
# Most classes are not in question for most rows, and so cost nothing.
MIN_SITE_MOVE = 1e-12
# Rounds of comparisons end when no site moves by more than this, in standard deviations. Rounding
# errors may decide which round is the last one, which should not show in probabilities.
ROUND_TOL = 1e-5


@njit(cache=True, nogil=True, error_model="numpy")
def log_phi(z):
    """Return the logarithm of the normal distribution function, as in `_jit/linear.py`."""
    if z > SERIES_BELOW:
        return math.log(0.5 * math.erfc(-z * SQRT_HALF))
    y = 1.0 / (z * z)
    series = 1.0 - y * (1.0 - 3.0 * y * (1.0 - 5.0 * y * (1.0 - 7.0 * y * (1.0 - 9.0 * y))))
    return -0.5 * z * z - math.log(-z) - LOG_SQRT_2PI + math.log(series)


@njit(cache=True, nogil=True, error_model="numpy")
def far_above(z):
    """Return the mean of N(z, 1) truncated to positive values, as in `_jit/linear.py`."""
    y = 1.0 / (z * z)
    return -(1.0 - y * (2.0 - y * (10.0 - y * (74.0 - 706.0 * y)))) / z


@njit(cache=True, nogil=True, error_model="numpy")
def half_line(m, v):
    """Return the site that truncates N(m, v) to positive values: precision and shift."""
    deviation = math.sqrt(v)
    z = m / deviation
    if z > SERIES_BELOW:
        slope = math.exp(-0.5 * z * z - LOG_SQRT_2PI - log_phi(z))
        above = slope + z  # the mean after truncation, in units of the deviation
        left = 1.0 - slope * above  # the variance after truncation, in units of v
    else:
        y = 1.0 / (z * z)
        above = far_above(z)
        left = y * (1.0 - y * (6.0 - y * (50.0 - y * (518.0 - 6354.0 * y))))
    left = min(max(left, EPSILON), 1.0)
    return (1.0 - left) / (v * left), (above / (deviation * left) - m / v)


@njit(cache=True, nogil=True, error_model="numpy")
def multiply(mean, covariance, column, j, precision, shift):
    """Multiply a Gaussian by exp(shift u_j - precision u_j^2 / 2); return the log determinant."""
    n = mean.shape[0]
    for k in range(n):
        column[k] = covariance[k, j]
    factor = 1.0 + precision * column[j]
    step = (shift - precision * mean[j]) / factor
    scale = precision / factor
    for k in range(n):
        mean[k] += step * column[k]
        part = scale * column[k]
        for m in range(n):
            covariance[k, m] -= part * column[m]
    return math.log(factor)


@njit(cache=True, nogil=True, error_model="numpy")
def log_integral(M, mean, tau, nu, log_determinant):
    """Return the log of the integral of N(M, .) times sites; `mean` is the product's mean."""
    total = -0.5 * log_determinant
    for j in range(M.shape[0]):
        total += 0.5 * (nu[j] * mean[j] + M[j] * (nu[j] - tau[j] * mean[j]))
    return total


@njit(cache=True, nogil=True, error_model="numpy")
def compare(M, S, tau, nu, rounds, mean, covariance, column):
    """Refine the sites of u > 0 for u ~ N(M, S), one after the other.

    mean and covariance are set for the product. Differences without variance are skipped.
    Returns log P(u > 0), and the log integral with the sites before the first round.
    """
    n = M.shape[0]
    mean[:] = M
    covariance[:] = S
    log_determinant = 0.0
    for j in range(n):
        if tau[j] != 0.0 or nu[j] != 0.0:
            log_determinant += multiply(mean, covariance, column, j, tau[j], nu[j])
    before = log_integral(M, mean, tau, nu, log_determinant)
    for _ in range(rounds):
        largest = 0.0
        for j in range(n):
            s = covariance[j, j]
            q = 1.0 - tau[j] * s
            if s <= 0.0 or q <= 0.0:
                continue
            new_tau, new_nu = half_line((mean[j] - nu[j] * s) / q, s / q)
            more, more_shift = new_tau - tau[j], new_nu - nu[j]
            moved = max(abs(more) * s, abs(more_shift - more * mean[j]) * math.sqrt(s))
            if moved > MIN_SITE_MOVE:
                tau[j], nu[j] = new_tau, new_nu
                log_determinant += multiply(mean, covariance, column, j, more, more_shift)
                largest = max(largest, moved)
        if largest < ROUND_TOL:
            break
    log_z = log_integral(M, mean, tau, nu, log_determinant)
    for j in range(n):
        s = covariance[j, j]
        q = 1.0 - tau[j] * s
        if s <= 0.0 or q <= 0.0:
            continue
        m, v = (mean[j] - nu[j] * s) / q, s / q
        log_z += log_phi(m / math.sqrt(v)) - 0.5 * math.log(q)
        log_z -= 0.5 * q * (nu[j] * nu[j] * v + 2.0 * nu[j] * m - tau[j] * m * m)
    return log_z, before


@njit(cache=True, nogil=True, error_model="numpy")
def without_noise(tau, nu, noise, pi, eta):
    """Integrate the noise of the scores out of the sites of a row.

    On differences u without noise, the sites are exp(<eta, u> - sum_j pi_j u_j^2 / 2) times
    exp(-kappa total <pi, u> + kappa <pi, u>^2 / 2) times exp(log_scale).
    """
    rho, total, log_scale = 0.0, 0.0, 0.0
    for j in range(tau.shape[0]):
        factor = 1.0 + noise * tau[j]
        pi[j], eta[j] = tau[j] / factor, nu[j] / factor
        rho += noise * pi[j]
        total += eta[j]
        log_scale += 0.5 * (noise * nu[j] * eta[j] - math.log(factor))
    kappa = noise / (1.0 + rho)
    log_scale += 0.5 * (kappa * total * total - math.log(1.0 + rho))
    return kappa, total, log_scale


@njit(cache=True, nogil=True, error_model="numpy")
def divide_row(mean, covariance, column, pi, eta, kappa, total, removed):
    """Divide a Gaussian by a row's sites without noise; return whether the result is proper."""
    n = mean.shape[0]
    # First the factor that makes it more precise.
    s, m = 0.0, 0.0
    for k in range(n):
        column[k] = 0.0
        for j in range(n):
            column[k] += covariance[k, j] * pi[j]
        s += pi[k] * column[k]
        m += pi[k] * mean[k]
    scale = removed * kappa / (1.0 + removed * kappa * s)
    for k in range(n):
        mean[k] += scale * (total - m) * column[k]
        for j in range(n):
            covariance[k, j] -= scale * column[k] * column[j]
    for j in range(n):
        if pi[j] != 0.0 or eta[j] != 0.0:
            if 1.0 - removed * pi[j] * covariance[j, j] <= EPSILON:
                return False
            multiply(mean, covariance, column, j, -removed * pi[j], -removed * eta[j])
    return True


@njit(cache=True, nogil=True, error_model="numpy")
def add_noise(covariance, y, noise):
    """Add the covariance of the noise of differences with the score of class y."""
    n = covariance.shape[0]
    for j in range(n):
        for k in range(n):
            if j != y and k != y:
                covariance[j, k] += 2.0 * noise if j == k else noise


@njit(cache=True, nogil=True, error_model="numpy")
def refine(mean, covariance, y, weight, noise, share, rounds, tau, nu):
    """Move the sites of each row a share of the way to sites that match moments.

    mean and covariance describe the differences of each row without noise, given all rows.
    They are overwritten. Returns the sum over rows of log Z minus the log integral of cavity
    times sites.
    """
    n_classes = tau.shape[1]
    M, S, column, pi, eta, new_tau, new_nu = (
        np.empty(n_classes),
        np.empty((n_classes, n_classes)),
        np.empty(n_classes),
        np.empty(n_classes),
        np.empty(n_classes),
        np.empty(n_classes),
        np.empty(n_classes),
    )
    constants = 0.0
    for i in range(y.shape[0]):
        kappa, total, log_scale = without_noise(tau[i], nu[i], noise, pi, eta)
        removed = min(weight[i], 1.0)
        if not divide_row(mean[i], covariance[i], column, pi, eta, kappa, total, removed):
            continue
        add_noise(covariance[i], y[i], noise)
        M[:] = mean[i]
        S[:] = covariance[i]
        new_tau[:] = tau[i]
        new_nu[:] = nu[i]
        log_z, before = compare(M, S, new_tau, new_nu, rounds, mean[i], covariance[i], column)
        constants += weight[i] * (log_z - before + log_scale)
        for j in range(n_classes):
            tau[i, j] += share * (new_tau[j] - tau[i, j])
            nu[i, j] += share * (new_nu[j] - nu[i, j])
    return constants


@njit(cache=True, nogil=True, error_model="numpy")
def row_differences(A, M, V, y, noise, mean, covariance):
    """Set mean and covariance of noisy differences A f, with f ~ N(M, diag(V))."""
    n_classes, n_outputs = A.shape
    for j in range(n_classes):
        mean[j] = 0.0
        for o in range(n_outputs):
            mean[j] += A[j, o] * M[o]
        for k in range(j + 1):
            s = 0.0
            for o in range(n_outputs):
                s += A[j, o] * V[o] * A[k, o]
            covariance[j, k] = s
            covariance[k, j] = s
    add_noise(covariance, y, noise)


@njit(cache=True, nogil=True, error_model="numpy")
def sweep(
    data,
    indices,
    indptr,
    order,
    y,
    weight,
    noise,
    differences,
    precision,
    shift,
    site_precision,
    site_shift,
    tau,
    nu,
    rounds,
):
    """Refine the sites of all rows once, in an order; the posterior and the sites change.

    As with two classes, but precision and shift have a row for each weight and a column for
    each output, and sites have a row for each entry. differences[c] turns outputs into the
    differences of the score of class c with all others. Returns the log probability of the
    labels given the other rows.
    """
    n_entries = data.shape[0]
    intercept = 1 if site_shift.shape[0] > n_entries else 0
    last, n_outputs = precision.shape
    last -= 1
    n_classes = n_outputs + 1
    M, V, a, b = np.empty(n_outputs), np.empty(n_outputs), np.empty(n_outputs), np.empty(n_outputs)
    u, mean, column = np.empty(n_classes), np.empty(n_classes), np.empty(n_classes)
    S, covariance = np.empty((n_classes, n_classes)), np.empty((n_classes, n_classes))
    score = 0.0
    for i in order:
        begin, end = indptr[i], indptr[i + 1]
        A = differences[y[i]]
        removed = min(weight[i], 1.0)
        steps = 2 if weight[i] > 1.0 else 1
        share = 1.0 / steps
        for _ in range(steps):
            M[:] = 0.0
            V[:] = 0.0
            for k in range(begin, end + intercept):
                x, w, s = (data[k], indices[k], k) if k < end else (1.0, last, n_entries + i)
                for o in range(n_outputs):
                    variance = 1.0 / (precision[w, o] - removed * site_precision[s, o])
                    M[o] += x * (shift[w, o] - removed * site_shift[s, o]) * variance
                    V[o] += x * x * variance
            row_differences(A, M, V, y[i], noise, u, S)
            log_z, _ = compare(u, S, tau[i], nu[i], rounds, mean, covariance, column)
            # Gradient and curvature of log Z, from differences to outputs.
            for o in range(n_outputs):
                a[o], b[o] = 0.0, 0.0
                for j in range(n_classes):
                    t = tau[i, j] * A[j, o]
                    a[o] += A[j, o] * (nu[i, j] - tau[i, j] * mean[j])
                    if t != 0.0:
                        inner = 0.0
                        for k in range(n_classes):
                            inner += covariance[j, k] * tau[i, k] * A[k, o]
                        b[o] += t * (A[j, o] - inner)
                b[o] = max(b[o], 0.0)
            for k in range(begin, end + intercept):
                x, w, s = (data[k], indices[k], k) if k < end else (1.0, last, n_entries + i)
                for o in range(n_outputs):
                    variance = 1.0 / (precision[w, o] - removed * site_precision[s, o])
                    m = (shift[w, o] - removed * site_shift[s, o]) * variance
                    curvature = x * x * b[o]
                    left = max(1.0 - curvature * variance, EPSILON)
                    more = share * (curvature / left - site_precision[s, o])
                    more_shift = share * ((x * a[o] + m * curvature) / left - site_shift[s, o])
                    site_precision[s, o] += more
                    site_shift[s, o] += more_shift
                    precision[w, o] += weight[i] * more
                    shift[w, o] += weight[i] * more_shift
        score += weight[i] * log_z
    return score


@njit(cache=True, nogil=True, error_model="numpy")
def log_constants(
    data,
    indices,
    indptr,
    y,
    weight,
    noise,
    differences,
    precision,
    shift,
    site_precision,
    site_shift,
    tau,
    nu,
    rounds,
):
    """Return the sum of log Z minus log integrals of cavity times sites; tau and nu change."""
    n_entries = data.shape[0]
    intercept = 1 if site_shift.shape[0] > n_entries else 0
    last, n_outputs = precision.shape
    last -= 1
    n_classes = n_outputs + 1
    M, V = np.empty(n_outputs), np.empty(n_outputs)
    u, mean, column = np.empty(n_classes), np.empty(n_classes), np.empty(n_classes)
    S, covariance = np.empty((n_classes, n_classes)), np.empty((n_classes, n_classes))
    total = 0.0
    for i in range(indptr.shape[0] - 1):
        end = indptr[i + 1]
        removed = min(weight[i], 1.0)
        M[:] = 0.0
        V[:] = 0.0
        change = 0.0
        for k in range(indptr[i], end + intercept):
            x, w, s = (data[k], indices[k], k) if k < end else (1.0, last, n_entries + i)
            for o in range(n_outputs):
                p = precision[w, o] - removed * site_precision[s, o]
                h = shift[w, o] - removed * site_shift[s, o]
                M[o] += x * h / p
                V[o] += x * x / p
                change += 0.5 * (h * h / p - math.log(p))
                p, h = p + site_precision[s, o], h + site_shift[s, o]
                change -= 0.5 * (h * h / p - math.log(p))
        row_differences(differences[y[i]], M, V, y[i], noise, u, S)
        log_z = compare(u, S, tau[i], nu[i], rounds, mean, covariance, column)[0]
        total += weight[i] * (log_z + change)
    return total
