"""Small problems for expectation propagation, and its slow, obvious twin."""

import numpy as np
from scipy import special, stats

from bayespoint.geometry.gram import soften
from bayespoint.solvers.propagation.on_gram import propagate
from bayespoint.solvers.propagation.sites import Sites

# Moments match to TIGHT. Each pass reduces the distance to the fixed point by at least a tenth,
# so the distance is at most ten mismatches. Each of about ten other points adds the same to an
# output.
TIGHT = 1e-10
REACHED = 100 * TIGHT


def rbf_matrix(m, seed, n_dimensions=3):
    """Return an invertible rbf Gram matrix and labels with some noise."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((m, n_dimensions))
    y = np.where(X[:, 0] + 0.5 * rng.standard_normal(m) > 0, 1.0, -1.0)
    return np.exp(-np.sum((X[:, None] - X) ** 2, axis=-1)), y


def one_off(m, seed):
    """Return smooth labels except for one, whose site becomes negative."""
    K = np.exp(-0.1 * np.subtract.outer(np.arange(m), np.arange(m)) ** 2)
    y = np.ones(m)
    y[np.random.default_rng(seed).integers(m)] = -1
    return soften(K, 0.05), y


PROBLEMS = {
    "step": lambda: (*rbf_matrix(10, 0), 0.0),
    "soft": lambda: (soften(rbf_matrix(10, 1)[0], 0.3), rbf_matrix(10, 1)[1], 0.0),
    "flip": lambda: (*rbf_matrix(10, 2), 0.1),
    "negative sites": lambda: (*one_off(10, 0), 0.1),
}


def fixed_point(K, y, eta=0.0, **options):
    found = propagate(K, y, eta, **{"tol": TIGHT, "max_iter": 1000, **options})
    assert found.residual <= TIGHT
    return found


def posterior_of(K, sites):
    """Return the mean and covariance of the posterior with given sites."""
    covariance = np.linalg.inv(np.linalg.inv(K) + np.diag(sites.precision))
    return covariance @ sites.shift, covariance


def tilted_moments(mean, variance, y, eta, n_moments=3):
    """Integrate cavity times likelihood times powers of the output, on both sides of zero."""
    nodes, weights = np.polynomial.legendre.leggauss(200)
    far = 12 * np.sqrt(variance)
    moments = np.zeros(n_moments)
    for begin, end, sign in [(min(mean - far, 0), 0, -1), (0, max(mean + far, 0), 1)]:
        f = (begin + end) / 2 + (end - begin) / 2 * nodes
        density = stats.norm.pdf(f, mean, np.sqrt(variance)) * (1 - eta if sign == y else eta)
        moments += [np.sum(weights * density * f**k) * (end - begin) / 2 for k in range(n_moments)]
    return moments


def textbook_site(M, V, y, eta, noise=0.0):
    """Return log Z, precision and shift of a site, from differences of inverses."""
    z = y * M / np.sqrt(V + noise)
    Z = eta + (1 - 2 * eta) * special.ndtr(z)
    a = (1 - 2 * eta) * y * stats.norm.pdf(z) / Z / np.sqrt(V + noise)
    b = a * (a + M / (V + noise))
    mean, variance = M + V * a, V - V * V * b
    return np.log(Z), 1 / variance - 1 / V, mean / variance - M / V


def slow_twin(K, y, eta=0.0, noise=0.0, damping=0.9, weight=1.0):
    """Update one site after the other; return coef, evidence, cavities, sites.

    This is the textbook algorithm. The likelihood is a probit with variance `noise`, a step by
    default. It is taken to the power of `weight`, and so is its site; one copy is left out.
    """
    prior, n = np.linalg.inv(K), len(y)
    w = np.full(n, weight) if np.isscalar(weight) else weight
    out = np.minimum(w, 1.0)
    tau, nu, last = np.zeros(n), np.zeros(n), None
    while last is None or np.abs(tau - last).max() > TIGHT:
        last = tau.copy()
        for i in range(n):
            covariance = np.linalg.inv(prior + np.diag(w * tau))
            mean = covariance @ (w * nu)
            V = 1 / (1 / covariance[i, i] - out[i] * tau[i])
            M = V * (mean[i] / covariance[i, i] - out[i] * nu[i])
            _, precision, shift = textbook_site(M, V, y[i], eta, noise)
            tau[i] += damping * (precision - tau[i])
            nu[i] += damping * (shift - nu[i])
    covariance = np.linalg.inv(prior + np.diag(w * tau))
    mean = covariance @ (w * nu)
    V = 1 / (1 / np.diagonal(covariance) - out * tau)
    M = V * (mean / np.diagonal(covariance) - out * nu)
    evidence = (w * nu) @ mean / 2 - np.linalg.slogdet(np.eye(n) + K * (w * tau))[1] / 2
    for i in range(n):
        log_Z = textbook_site(M[i], V[i], y[i], eta, noise)[0]
        A, B = 1 / V[i] + tau[i], M[i] / V[i] + nu[i]
        evidence += w[i] * (log_Z + np.log(V[i] * A) / 2 - (B**2 / A - M[i] ** 2 / V[i]) / 2)
    return prior @ mean, evidence, M, V, Sites(tau, nu)


def feature_problem(m, n_weights, seed=0, softness=0.2):
    """Return points that are mostly, but not entirely, in the span of some features."""
    rng = np.random.default_rng(seed)
    features = rng.standard_normal((m, n_weights))
    features *= rng.uniform(0.7, 1.0, m)[:, None] / np.linalg.norm(features, axis=1)[:, None]
    output = features @ rng.standard_normal(n_weights)
    signs = np.where(output + 0.5 * rng.standard_normal(m) > 0, 1.0, -1.0)
    noise = softness + 1 - np.sum(features**2, axis=1)
    return features, signs, noise
