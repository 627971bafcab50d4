import numpy as np
import pytest
from scipy import special

from bayespoint._jit.linear import log_phi, moments, recover, refine


def test_log_phi_is_scipys():
    z = np.concatenate([np.linspace(-40, 10, 2001), [-1e5, -10.0, -10.000001, 37.0]])
    ours = np.array([log_phi(value) for value in z])
    np.testing.assert_allclose(ours, special.log_ndtr(z), rtol=1e-9, atol=1e-15)


def test_far_tails_are_those_of_the_scaled_error_function():
    z = -np.geomspace(30, 1e3)
    slope = np.sqrt(2 / np.pi) / special.erfcx(-z / np.sqrt(2))
    log_z, a, b = np.transpose([moments(1.0, value, 1.0) for value in z])
    np.testing.assert_allclose(log_z, special.log_ndtr(z), rtol=1e-12)
    np.testing.assert_allclose(a, slope, rtol=1e-12)
    # The series omits 2e-10; the difference below loses digits, a share of 1e-16 z^2.
    assert np.all(np.abs(b / (slope * (slope + z)) - 1) < 2e-10 + 1e-15 * z**2)


@pytest.mark.parametrize("noise", [1.0, 1e-2, 0.0])
@pytest.mark.parametrize("weight", [0.3, 1.0, 3.0])
def test_a_posterior_knows_the_sites_of_its_rows(noise, weight):
    # This holds for any influence of a row: variances of outputs span eight decades.
    rng, n = np.random.default_rng(0), 20_000
    y, weights = rng.choice([-1.0, 1.0], n), np.full(n, weight)
    V = 10.0 ** rng.uniform(-4, 4, n)
    M = rng.uniform(-8, 8, n) * np.sqrt(V + noise)
    (precision, shift), found = np.zeros((2, n)), np.zeros((2, n))
    refine(y, weights, M, V, noise, 1.0, precision, shift)  # M and V come from the other rows
    part = min(weight, 1.0)
    v = 1 / (1 / V + part * precision)
    recover(y, weights, v * (M / V + part * shift), v, noise, *found)
    # The search stops when a step is below 1e-10. Errors shrink by a factor of 0.9 or less per
    # round, so the remaining error is at most ten times as large.
    assert np.abs((found[0] - precision) * v).max() < 1e-9
    assert np.abs((found[1] - shift) * np.sqrt(v)).max() < 1e-9


def test_a_row_that_the_posterior_contradicts_gets_no_site():
    sites = np.ones((2, 1))
    # All weights are on the wrong side of the row, by 50 standard deviations.
    recover(np.ones(1), np.ones(1), np.full(1, -5.0), np.full(1, 0.01), 0.0, *sites)
    np.testing.assert_array_equal(sites, 0.0)
