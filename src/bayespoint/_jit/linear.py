"""Factorized expectation propagation for a linear classifier: one row at a time."""

import math

from numba import njit

LOG_SQRT_2PI = 0.5 * math.log(2 * math.pi)
# Far on the wrong side of a hard boundary the variance that is left is lost to rounding.
EPSILON = 2.0**-52


@njit(cache=True, nogil=True, error_model="numpy")
def log_phi(z):
    """Return the logarithm of the normal distribution function."""
    if z > -10.0:
        return math.log(0.5 * math.erfc(-z / math.sqrt(2.0)))
    # Its asymptotic series; the next term is below 1e-4 of the last one here.
    y = 1.0 / (z * z)
    series = 1.0 - y * (1.0 - 3.0 * y * (1.0 - 5.0 * y * (1.0 - 7.0 * y * (1.0 - 9.0 * y))))
    return -0.5 * z * z - math.log(-z) - LOG_SQRT_2PI + math.log(series)


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
    for i in order:
        begin, end = indptr[i], indptr[i + 1]
        # Of a row that counts more than once, one is taken away, and all are changed: half
        # the way, twice, as they might overshoot.
        removed = min(weight[i], 1.0)
        rounds = 2 if weight[i] > 1.0 else 1
        share = 1.0 / rounds
        for _ in range(rounds):
            # What all other rows say of the output of this one.
            M, V = 0.0, noise
            for k in range(begin, end + intercept):
                x, j, s = (data[k], indices[k], k) if k < end else (1.0, last, n_entries + i)
                cavity = precision[j] - removed * site_precision[s]
                M += x * (shift[j] - removed * site_shift[s]) / cavity
                V += x * x / cavity
            if V == 0.0:
                break
            deviation = math.sqrt(V)
            z = y[i] * M / deviation
            slope = math.exp(-0.5 * z * z - LOG_SQRT_2PI - log_phi(z))
            a = y[i] * slope / deviation
            b = max(slope * (slope + z), 0.0) / V
            # The sites that match the moments of each weight.
            for k in range(begin, end + intercept):
                x, j, s = (data[k], indices[k], k) if k < end else (1.0, last, n_entries + i)
                cavity = precision[j] - removed * site_precision[s]
                mean = (shift[j] - removed * site_shift[s]) / cavity
                left = max(1.0 - x * x * b / cavity, EPSILON)
                more_precision = share * (x * x * b / left - site_precision[s])
                more_shift = share * ((x * a + mean * x * x * b) / left - site_shift[s])
                site_precision[s] += more_precision
                site_shift[s] += more_shift
                precision[j] += weight[i] * more_precision
                shift[j] += weight[i] * more_shift


@njit(cache=True, nogil=True, error_model="numpy")
def log_constants(
    data, indices, indptr, y, weight, noise, precision, shift, site_precision, site_shift
):
    """Return the sum over rows of log Z less that of cavity times sites.

    With the integrals of prior and posterior, this is the log evidence.
    """
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
            change += 0.5 * (h * h / p - math.log(p))
            p, h = p + site_precision[s], h + site_shift[s]
            change -= 0.5 * (h * h / p - math.log(p))
        z = y[i] * M / math.sqrt(V) if V > 0.0 else 0.0
        total += weight[i] * (log_phi(z) + change)
    return total
