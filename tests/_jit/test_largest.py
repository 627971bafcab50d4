import numpy as np
import pytest
from scipy import integrate, special, stats

from bayespoint._jit import largest, linear
from bayespoint.solvers.weights.multiclass.probabilities import PANEL_NODES
from helpers import normal_cdf
from multiclass_helpers import comparisons, random_scores


def test_copies_agree_with_the_linear_loops():
    for name in ("LOG_SQRT_2PI", "SQRT_HALF", "SERIES_BELOW"):
        assert getattr(largest, name) == getattr(linear, name)
    z = np.concatenate([np.linspace(-60, 40, 501), [-1e150, -30.0, np.nextafter(-30.0, 0)]])
    assert [largest.log_phi(value) for value in z] == [linear.log_phi(value) for value in z]


def by_quadrature(mean, variance):
    """Return P(each of independent scores is the largest), on a fine grid."""
    deviation = np.sqrt(variance)
    low, high = (mean - 10 * deviation).max(), (mean + 10 * deviation).max()
    t = np.linspace(low, high, int((high - low) / min(0.2 * deviation.min(), 0.01)) + 2)
    z = (t[:, None] - mean) / deviation
    cdf, density = special.ndtr(z), np.exp(-(z**2) / 2) / np.sqrt(2 * np.pi * variance)
    others = [np.delete(cdf, c, axis=1).prod(axis=1) for c in range(len(mean))]
    return np.sum(density * np.transpose(others), axis=0) * (t[1] - t[0])


def rule(n_nodes=PANEL_NODES):
    nodes, weights = np.polynomial.legendre.leggauss(n_nodes)
    return (nodes + 1) / 2, weights / 2


def log_p_of(mean, covariance, noise):
    return largest.log_probabilities(mean[None], covariance[None], noise, *rule())[0]


@pytest.mark.parametrize("n", [1, 3, 25])
@pytest.mark.parametrize("steep", [0.5, 0.99, 1 - 1e-8])
def test_integral_against_scipy(n, steep):
    rng = np.random.default_rng(n)
    for _ in range(5):
        z, a = 2 * rng.standard_normal(n), rng.uniform(-0.3, 1, n) * steep
        a[0] = steep

        def integrand(t, z=z, a=a):
            return stats.norm.pdf(t) * special.ndtr((z + a * t) / np.sqrt(1 - a * a)).prod()

        width = 9 * np.sqrt(1 - steep**2) / steep
        points = np.concatenate([-z / a, -z[:1] / steep - width, -z[:1] / steep + width])
        points = np.unique(points[np.abs(points) < 9])
        exact = integrate.quad(integrand, -9, 9, points=points, limit=1000, epsabs=1e-14)[0]
        ours = largest.integrate(z, a, n, *rule())
        assert ours == pytest.approx(exact, rel=1e-8, abs=1e-13)


@pytest.mark.parametrize("sizes", [(1, 1, 1), (0.01, 1, 30), (1e-6, 1, 1)])
def test_three_classes_are_exact(sizes):
    rng = np.random.default_rng(0)
    for _ in range(5):
        mean, variance = rng.standard_normal(3), np.array(sizes, dtype=float)
        log_p = log_p_of(mean, np.diag(variance), 0.0)
        np.testing.assert_allclose(np.exp(log_p), by_quadrature(mean, variance), atol=1e-8)


def test_three_classes_with_opposite_comparisons_are_exact():
    # No independent scores have these differences: the first score has almost no variance.
    L = np.array([[0.02, 0.01], [1.0, 0.3], [-1.02, -0.31]])
    mean, S = np.array([0.2, -0.3, 0.1]), L @ L.T
    exact = []
    for c in range(3):
        A = comparisons(3, c)
        accuracy = {"abseps": 1e-10, "releps": 1e-10, "maxpts": 1_000_000}
        exact.append(normal_cdf(A @ mean, A @ S @ A.T + 1e-3 * A @ A.T, **accuracy))
    np.testing.assert_allclose(np.exp(log_p_of(mean, S, 1e-3)), exact, atol=1e-7)


@pytest.mark.parametrize("n_classes", [4, 10, 26])
def test_independent_scores_of_many_classes(n_classes):
    # A common factor exists; the search stops when it moves by less than 1e-4.
    rng = np.random.default_rng(n_classes)
    for spread in (0.5, 3.0):
        mean, variance = spread * rng.standard_normal(n_classes), rng.uniform(0.2, 5, n_classes)
        p = np.exp(log_p_of(mean, np.diag(variance), 0.0))
        np.testing.assert_allclose(p, by_quadrature(mean, variance), atol=1e-4)


@pytest.mark.parametrize("n_classes", [5, 12])
@pytest.mark.parametrize("noise", [1.0, 0.0])
def test_probabilities_against_draws(n_classes, noise):
    rng = np.random.default_rng(n_classes)
    n, errors, broken = 200_000, [], []
    for size in (0.3, 1.0, 3.0):
        mean, S = random_scores(n_classes, rng, size)
        draws = rng.multivariate_normal(mean, S + noise * np.eye(n_classes), n, method="eigh")
        exact = np.bincount(draws.argmax(axis=1), minlength=n_classes) / n
        errors.append(np.exp(log_p_of(mean, S, noise)) - exact)
        # Negative control: treat comparisons as independent.
        S += noise * np.eye(n_classes)
        difference = np.subtract.outer(mean, mean)
        variance = np.add.outer(np.diag(S), np.diag(S)) - 2 * S + np.eye(n_classes)
        product = special.ndtr(difference / np.sqrt(variance)).prod(axis=1)
        broken.append(product / product.sum() - exact)
    # Random covariances are the worst case; real posteriors were within sampling error.
    assert np.abs(errors).max() < 0.02 + 4.5 * np.sqrt(0.25 / n)
    assert np.abs(broken).max() > 0.05
