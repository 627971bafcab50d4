import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import make_classification

from bayespoint.solvers.weights.belief import independent
from bayespoint.solvers.weights.factorized_rows import FactorizedRows
from bayespoint.solvers.weights.full_rows import FullRows
from bayespoint.solvers.weights.iterate import iterate


@pytest.fixture
def data():
    return make_classification(150, 6, n_informative=3, flip_y=0.1, random_state=0)


def rows_of(kind, data, y, weight, noise=1.0):
    """Return rows of either kind, with an intercept."""
    y = 2.0 * y - 1
    if kind is FullRows:
        return FullRows(data, y, weight, noise, [slice(0, None, 2), slice(1, None, 2)])
    return FactorizedRows(sparse.csr_array(data), y, weight, noise, True)


@pytest.mark.parametrize("kind", [FullRows, FactorizedRows])
@pytest.mark.parametrize("before", [0, 3])
def test_lost_sites_are_found_again(data, kind, before, monkeypatch):
    # Recover them from new rows, or from a copy that is some sweeps old.
    monkeypatch.setattr("bayespoint.solvers.weights.rows.RECOVERY_TOL", 1e-12)
    X, y = data
    weight = np.random.default_rng(0).choice([0.5, 1.0, 2.0], len(y))
    prior = independent(np.ones(7), kind is FullRows)
    rows = rows_of(kind, X, y, weight)
    fit = iterate(rows, prior, 10_000, 1e-10)
    product = fit.belief.over(prior)
    again, belief = rows_of(kind, X, y, weight), prior
    for _ in range(before):
        belief = prior.times(again.sweep(belief, 1.0))
    found = again.recover(fit.belief, product, 10_000)
    # As exact as the fit: its last sweep moved it by 1e-10, and each sweep gains a few percent.
    assert prior.times(found).distance(fit.belief) < 1e-8
    constants = [each.log_constant(fit.belief) for each in (rows, again)]
    assert constants[0] == pytest.approx(constants[1], abs=1e-6)
    # Sweeps continue from the same place.
    next_ = prior.times(again.sweep(prior.times(found), 1.0))
    assert next_.distance(fit.belief) < 1e-8


def test_an_old_copy_is_not_learned_from_the_beginning(data):
    X, y = data
    weight, prior = np.ones(len(y)), independent(np.ones(7), False)
    fit = iterate(rows_of(FactorizedRows, X, y, weight), prior, 10_000, 1e-10)
    far = []
    for n_sweeps in (0, 1000):
        rows, belief = rows_of(FactorizedRows, X, y, weight), prior
        for _ in range(n_sweeps):
            belief = prior.times(rows.sweep(belief, 1.0))
        found = rows.recover(fit.belief, fit.belief.over(prior), 1)
        far.append(prior.times(found).distance(fit.belief))
    assert far[0] > 0.1
    assert far[1] < 1e-6
