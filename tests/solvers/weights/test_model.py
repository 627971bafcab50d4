import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import make_classification

from bayespoint.solvers.weights.belief import Belief, independent
from bayespoint.solvers.weights.factorized_rows import FactorizedRows
from bayespoint.solvers.weights.full_rows import FullRows
from bayespoint.solvers.weights.iterate import iterate
from bayespoint.solvers.weights.model import LinearModel
from bayespoint.solvers.weights.row_order import even_blocks, growing_blocks
from weights_helpers import classifier, exact

COVARIANCES = ["full", "factorized"]


@pytest.fixture
def data():
    return make_classification(150, 6, n_informative=3, flip_y=0.1, random_state=0)


@pytest.mark.parametrize("covariance", COVARIANCES)
def test_the_intercept_is_a_feature_that_is_always_one(data, covariance):
    X, y = data
    model = exact(covariance=covariance, fit_intercept=True, standardize=False).fit(X, y)
    prior = independent(model.prior_variance_, covariance == "full")
    X, rest = np.column_stack([X, np.ones(len(X))]), (2.0 * y - 1, np.ones(len(y)), 1.0)
    if covariance == "full":
        rows = FullRows(X, *rest, even_blocks(*X.shape))
    else:
        rows = FactorizedRows(sparse.csr_array(X), *rest, False)
    mean = iterate(rows, prior, 10_000, 1e-10).belief.mean()
    np.testing.assert_allclose(mean, np.append(model.coef_, model.intercept_), atol=1e-6)


def test_blocks_grow_with_what_is_known_in_rows(monkeypatch):
    # Sample weights do not matter.
    known = []

    def noted(n_rows, n_known):
        known.append((n_rows, n_known))
        return growing_blocks(n_rows, n_known)

    monkeypatch.setattr("bayespoint.solvers.weights.model.growing_blocks", noted)
    X, y = make_classification(3000, 6, random_state=0)
    for weight in (1.0, 30.0):
        model = classifier(covariance="full").partial_fit(X, y, sample_weight=weight)
        model.partial_fit(X[:100], y[:100], sample_weight=weight)
    assert known == [(1000, 2000.0), (100, 3000.0)] * 2


@pytest.mark.parametrize("full", [True, False])
@pytest.mark.parametrize("n_classes", [2, 4])
def test_the_prior_is_the_same_for_all_outputs(full, n_classes):
    units = np.zeros(2), np.ones(2)
    model = LinearModel(n_classes, 1.0, full, True, np.array([1.0, 2.0, 100.0]), *units)
    assert model.n_weights == 3 * (n_classes - 1)
    prior = model.prior()
    assert prior.is_full == full
    np.testing.assert_allclose(prior.variances(), [1, 2, 100] * (n_classes - 1))
    again = model.with_prior(prior.to_the(0.5))
    np.testing.assert_allclose(again.prior_variances, [2, 4, 200])


@pytest.mark.parametrize("full", [True, False])
def test_features_that_do_not_vary_say_nothing_and_take_units_of_others(full):
    scale = np.array([1.0, np.nan])
    model = LinearModel(3, 1.0, full, False, np.array([2.0, 1e-300]), np.zeros(2), scale)
    other = model._replace(prior_variances=np.array([5.0, 3.0]), scale=np.array([4.0, 7.0]))
    prior = model.prior()
    # A belief whose second prior precision has a rounding error.
    precision = prior.precision * (1 + 1e-15)
    said = model.said_by_rows(Belief(precision, prior.shift))
    assert np.abs(said.precision).max() < 1e-14
    joined = model.with_units_of(other)
    np.testing.assert_array_equal(joined.prior_variances, [2.0, 3.0])
    np.testing.assert_array_equal(joined.scale, [1.0, 7.0])
