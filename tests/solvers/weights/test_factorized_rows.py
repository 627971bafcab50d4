import numpy as np
import pytest
from scipy import sparse, special, stats
from sklearn.datasets import make_classification

from bayespoint.solvers.weights.belief import Belief, independent
from bayespoint.solvers.weights.factorized_rows import FactorizedRows


@pytest.fixture
def data():
    return make_classification(150, 6, n_informative=3, flip_y=0.1, random_state=0)


@pytest.mark.parametrize("intercept", [True, False])
def test_one_pass_is_one_sweep(data, intercept):
    # The same numbers, computed without sites and divisions.
    X, y = data
    weight = np.random.default_rng(0).choice([0.5, 1.0], len(y))
    rows = sparse.csr_array(np.where(X > 0, X, 0)), 2.0 * y - 1, weight, 0.7
    rows = FactorizedRows(*rows, intercept)
    prior = independent(np.linspace(1, 2, 6 + intercept), full=False)
    found, swept = rows.learn_once(prior), prior.times(rows.sweep(prior, 1.0))
    np.testing.assert_allclose(found.belief.precision, swept.precision, rtol=1e-10)
    np.testing.assert_allclose(found.belief.shift, swept.shift, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("far", [10.0, 1e4, 1e8, 1e12])
def test_some_variance_is_left_however_wrong_a_hard_boundary_is(far):
    # Beyond 1e7 deviations the remaining share of variance is below double precision.
    one = FactorizedRows(sparse.csr_array([[3.0]]), np.ones(1), np.ones(1), 0.0, False)
    prior = Belief(np.ones(1), np.full(1, -far))
    for belief in one.learn_once(prior).belief, prior.times(one.sweep(prior, 1.0)):
        assert 0 < belief.variances()[0] < 1
        assert np.isfinite(belief.mean()[0])
        if far == 10.0:  # the moments of a normal distribution truncated at zero
            left = stats.truncnorm(far, np.inf, loc=-far)
            np.testing.assert_allclose([belief.mean()[0], belief.variances()[0]], left.stats())


def test_the_evidence_of_long_rows_does_not_overflow():
    # The row makes each of five hundred weights ten times as precise.
    n = 500
    rows = FactorizedRows(sparse.csr_array(np.ones((1, n))), np.ones(1), np.ones(1), 1.0, False)
    rows.sites = np.full(n, 9.0), np.full(n, 0.3)
    mean, variance = 0.1, 2.0  # of the other rows
    belief = Belief(np.full(n, 1 / variance + 9.0), np.full(n, mean / variance + 0.3))
    site = stats.norm(0.3 / 9.0, np.sqrt(1 / 9.0 + variance)).logpdf(mean)
    # A site is a normal density up to a factor.
    site += 0.5 * np.log(2 * np.pi / 9.0) + 0.5 * 0.3**2 / 9.0
    expected = special.log_ndtr(n * mean / np.sqrt(1 + n * variance)) - n * site
    assert rows.log_constant(belief) == pytest.approx(expected, rel=1e-10)


def test_a_share_of_an_update_is_a_share_of_the_sites(data):
    X, y = data
    prior = independent(np.ones(7), False)
    whole, part = (
        FactorizedRows(sparse.csr_array(X), 2.0 * y - 1, np.ones(len(y)), 1.0, True)
        for _ in range(2)
    )
    products = whole.sweep(prior, 1.0), part.sweep(prior, 0.25)
    for full, quarter in zip(
        [*whole.sites, *products[0]], [*part.sites, *products[1]], strict=True
    ):
        np.testing.assert_allclose(quarter, 0.25 * full, rtol=1e-12, atol=1e-15)
