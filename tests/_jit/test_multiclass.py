import numpy as np
import pytest
from scipy import integrate, special

from bayespoint._jit import linear
from bayespoint._jit import multiclass as loops
from helpers import normal_cdf
from multiclass_helpers import comparisons, random_scores


def orthant(M, S, rounds=500):
    """Return log P(u > 0) for u ~ N(M, S), its moments and sites."""
    n = len(M)
    tau, nu, mean, covariance = np.zeros(n), np.zeros(n), np.empty(n), np.empty((n, n))
    log_z, _ = loops.compare(M, S, tau, nu, rounds, mean, covariance, np.empty(n))
    return log_z, mean, covariance, tau, nu


def test_copies_agree_with_the_linear_loops():
    for name in ("LOG_SQRT_2PI", "SQRT_HALF", "SERIES_BELOW", "EPSILON"):
        assert getattr(loops, name) == getattr(linear, name)
    z = np.concatenate([np.linspace(-60, 40, 501), [-1e5, -30.0, np.nextafter(-30.0, 0)]])
    assert [loops.log_phi(value) for value in z] == [linear.log_phi(value) for value in z]
    z = z[z < -1]
    assert [loops.far_above(value) for value in z] == [linear.far_above(value) for value in z]


@pytest.mark.parametrize("m", [3.0, 0.0, -4.0, -20.0, -29.9, -30.1, -1e4])
def test_half_line_has_the_moments_of_a_truncated_normal(m):
    v = 1.7
    tau, nu = loops.half_line(m * np.sqrt(v), v)
    variance = 1 / (1 / v + tau)
    mean = variance * (m / np.sqrt(v) + nu)
    unit = 1 / (1 + abs(m))
    rule = {"epsabs": 0, "epsrel": 1e-12}
    moments = [
        integrate.quad(
            lambda u, k=k: u**k * np.exp(m * u * unit - (u * unit) ** 2 / 2), 0, 50, **rule
        )[0]
        for k in range(3)
    ]
    first, second = moments[1] / moments[0], moments[2] / moments[0]
    # Differences lose m^4 and m^6 ulp, most just above -30, where 1e-16 m^6 is 7e-8.
    assert mean == pytest.approx(np.sqrt(v) * unit * first, rel=1e-8)
    assert variance == pytest.approx(v * unit**2 * (second - first**2), rel=2e-7)


def test_sites_without_noise_are_those_of_the_noisy_ones_integrated():
    rng = np.random.default_rng(0)
    C, y, noise = 5, 2, 0.6
    tau, nu = rng.uniform(0.1, 3, C), rng.standard_normal(C)
    tau[y] = nu[y] = 0
    pi, eta = np.empty(C), np.empty(C)
    kappa, total, log_scale = loops.without_noise(tau, nu, noise, pi, eta)
    A = np.eye(C)[y] - np.eye(C)
    ours = A.T @ (np.diag(pi) - kappa * np.outer(pi, pi)) @ A
    shift = A.T @ (eta - kappa * total * pi)
    # Scores are s = f + e, e ~ N(0, noise): compute the factor of f by brute force.
    G, h = A.T @ np.diag(tau) @ A, A.T @ nu
    R = np.linalg.inv(np.eye(C) + noise * G)
    np.testing.assert_allclose(ours, G @ R, atol=1e-12)
    np.testing.assert_allclose(shift, R @ h, atol=1e-12)
    constant = 0.5 * (np.linalg.slogdet(R)[1] + noise * h @ R @ h)
    assert log_scale == pytest.approx(constant, abs=1e-12)
    # The same in terms of classes: diag(p) - p p' / sum(p), with 1 / noise for the right class.
    p = pi + np.eye(C)[y] / noise
    np.testing.assert_allclose(ours, np.diag(p) - np.outer(p, p) / p.sum(), atol=1e-12)
    # Dividing this factor out of a Gaussian that contains it gives back the Gaussian.
    L = rng.standard_normal((C - 1, C - 1))
    u = np.delete(np.arange(C), y)
    mean, S = rng.standard_normal(C - 1), L @ L.T
    precision = np.linalg.inv(S) + (np.diag(pi) - kappa * np.outer(pi, pi))[np.ix_(u, u)]
    both, covariance = np.zeros(C), np.zeros((C, C))
    covariance[np.ix_(u, u)] = np.linalg.inv(precision)
    both[u] = np.linalg.solve(precision, np.linalg.solve(S, mean) + (eta - kappa * total * pi)[u])
    assert loops.divide_row(both, covariance, np.empty(C), pi, eta, kappa, total, 1.0)
    np.testing.assert_allclose(covariance[np.ix_(u, u)], S, atol=1e-10)
    np.testing.assert_allclose(both[u], mean, atol=1e-10)


def test_independent_comparisons_are_exact():
    M, S = np.array([0.3, -2.0, 5.0]), np.diag([1.0, 0.2, 3.0])
    log_z, *_ = orthant(M, S)
    assert log_z == pytest.approx(special.log_ndtr(M / np.sqrt(np.diag(S))).sum(), abs=1e-12)


@pytest.mark.parametrize("n_classes", [3, 5, 8])
def test_comparisons_against_the_normal_distribution_function(n_classes):
    # Measured: at most 0.056, and 0.03 (root mean square) for 8 classes. Errors are largest for
    # large random covariances.
    rng = np.random.default_rng(n_classes)
    A, errors, broken = comparisons(n_classes), [], []
    for size in [0.1, 0.3, 1.0, 3.0] * 2:
        mean, S = random_scores(n_classes, rng, size)
        S = A @ (S + np.eye(n_classes)) @ A.T
        accuracy = {"abseps": 1e-7, "releps": 1e-5, "maxpts": 200_000}
        exact = np.log(normal_cdf(A @ mean, S, **accuracy))
        errors.append(orthant(A @ mean, S)[0] - exact)
        # Negative control: give each comparison its own noise, though all share the right class.
        broken.append(orthant(A @ mean, S - 1 + np.eye(n_classes - 1))[0] - exact)
    assert np.abs(errors).max() < 0.08
    assert np.sqrt(np.mean(np.square(errors))) < 0.05
    assert np.sqrt(np.mean(np.square(broken))) > 0.15
