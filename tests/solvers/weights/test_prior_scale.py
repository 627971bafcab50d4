import numpy as np
import pytest
from scipy import sparse

from bayespoint.solvers.weights.belief import Belief
from bayespoint.solvers.weights.prior_scale import PriorScale
from weights_helpers import classifier


@pytest.mark.parametrize("covariance", ["full", "factorized"])
@pytest.mark.parametrize("n_features", [4, 60])
def test_the_prior_has_the_largest_evidence(covariance, n_features):
    rng = np.random.default_rng(n_features)
    X = rng.standard_normal((400, n_features))
    y = X @ rng.standard_normal(n_features) / np.sqrt(n_features) + rng.standard_normal(400) > 0
    options = {"covariance": covariance, "fit_intercept": False, "tol": 1e-8, "max_iter": 10_000}
    chosen = classifier(**options).fit(X, y)
    units = X.shape[1] / chosen.prior_variance_.sum() * chosen.prior_variance_

    def score(factor):
        # Use the units of the fit and its imagined weights: inverse gamma with a mode near one.
        variance = factor * chosen.prior_variance_.mean()
        model = classifier(**options, prior_variance=variance).fit(X * np.sqrt(units), y)
        outputs = variance * np.mean(np.sum((X * np.sqrt(units)) ** 2, axis=1))
        half = PriorScale.IMAGINED_WEIGHTS / 2
        return model.log_evidence_ - half * np.log(outputs) - half / outputs

    scores = [score(factor) for factor in (0.8, 0.95, 1.0, 1.05, 1.25)]
    assert np.argmax(scores) == 2


def test_a_scale_is_found_in_few_steps():
    # Secant steps make this fast; the plain rule would take dozens of steps.
    rng = np.random.default_rng(0)
    X = sparse.random_array((2000, 3000), density=0.01, random_state=rng, format="csr")
    y = X @ rng.standard_normal(3000) + 0.1 * rng.standard_normal(2000) > 0
    assert classifier().fit(X, y).n_iter_ <= 12


def test_the_factor_stays_in_its_range_and_takes_limited_steps():
    scale = PriorScale(np.ones(3), 1.0, 0.0, 1)
    scale.go_to(50.0)
    assert scale.log_factor == pytest.approx(PriorScale.MAX_LOG_STEP)
    for _ in range(10):
        scale.step(50.0)
    assert scale.log_factor == pytest.approx(PriorScale.LOG_FACTOR_RANGE[1])


def test_weights_that_the_data_do_not_determine_ask_for_a_factor_of_one():
    scale = PriorScale(np.array([1.0, 4.0]), 1.0, 0.0, 2)
    assert scale.correction(scale.prior(True)) == pytest.approx(0.0, abs=1e-12)
    # Exactly known means, twice as long as the prior expects: a factor of about four.
    variances = np.tile(scale.variances(), 2)
    known = Belief(np.full(4, 1e12), 1e12 * 2 * np.sqrt(variances))
    imagined = PriorScale.IMAGINED_WEIGHTS
    expected = np.log((4 * 4 + imagined) / (4 + imagined))
    assert scale.correction(known) == pytest.approx(expected, abs=1e-9)
