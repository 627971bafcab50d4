import numpy as np
import pytest

from bayespoint.solvers.weights.belief import Belief
from bayespoint.solvers.weights.multiclass.probabilities import log_probabilities
from multiclass_helpers import KINDS, fit, make_rows, prior_of, problem


@pytest.mark.parametrize("share", [1.0, 0.3])
def test_the_product_is_that_of_the_sites(share):
    X, y = problem(3)
    weight = np.random.default_rng(1).uniform(0.5, 2, len(y))
    prior = prior_of(4, 3, "factorized")
    rows = make_rows("factorized", X, y, 3, prior, weight, 1.0)
    belief = prior
    for _ in range(3):
        belief = prior.times(rows.sweep(belief, share))
    n_entries = X.size
    for product, sites in zip(rows.product, rows.sites[:2], strict=True):
        of_entries = np.einsum("i,ijk->kj", weight, sites[:n_entries].reshape(*X.shape, 2))
        of_intercept = weight @ sites[n_entries:]
        expected = np.column_stack([of_entries, of_intercept])
        np.testing.assert_allclose(product.reshape(2, 4), expected, atol=1e-10)


def test_an_intercept_with_a_wide_prior_does_not_oscillate():
    # The fit used to need hundreds of sweeps to recover from the first rows of the first sweep.
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((600, 20)), rng.integers(0, 10, 600)
    X += np.eye(20)[y]
    precision = np.tile(np.append(np.full(20, 10.0), 1e-3), 9)
    found = fit("factorized", X, y, 10, Belief(precision, 0 * precision), tol=0.02, max_iter=100)
    assert found.n_iter < 15


def test_independent_outputs_come_close_to_the_truth():
    X, y = problem(4, n=200, d=3)
    found = [
        np.exp(log_probabilities(X, fit(kind, X, y, 4, tol=1e-4).belief, 4, 1.0)) for kind in KINDS
    ]
    assert np.abs(found[0] - found[1]).max() < 0.05
    assert np.sqrt(np.mean((found[0] - found[1]) ** 2)) < 0.02
