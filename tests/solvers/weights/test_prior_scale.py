import numpy as np
import pytest
from scipy import sparse

from bayespoint._runtime.interrupt import Interrupted
from bayespoint.fitting.weights_fit import INTERCEPT_VARIANCE, Settings, Table, learn_all
from bayespoint.solvers.watch import Watch
from bayespoint.solvers.weights.belief import Belief
from bayespoint.solvers.weights.iterate import iterate
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
        # Use the units of the fit and the weak prior of its factor.
        variance = factor * chosen.prior_variance_.mean()
        model = classifier(**options, prior_variance=variance).fit(X * np.sqrt(units), y)
        outputs = variance * np.mean(np.sum((X * np.sqrt(units)) ** 2, axis=1))
        n = PriorScale.IMAGINED_WEIGHTS
        return model.log_evidence_ + n / 2 * np.log(outputs) - n * np.log1p(outputs)

    scores = [score(factor) for factor in (0.8, 0.95, 1.0, 1.05, 1.25)]
    assert np.argmax(scores) == 2


@pytest.mark.parametrize("covariance", ["full", "factorized"])
@pytest.mark.parametrize("kind", ["noisy", "separable", "random", "three classes"])
def test_no_prior_on_a_grid_has_a_larger_evidence(covariance, kind):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((200, 3)) + 100
    noise = {"noisy": 0.3, "separable": 0.0, "random": 1e6, "three classes": 0.5}[kind]
    n_scores = 3 if kind == "three classes" else 1
    scores = (X - 100) @ rng.standard_normal((3, n_scores)) + noise * rng.standard_normal(
        (200, n_scores)
    )
    y = scores.argmax(axis=1) if n_scores > 1 else np.where(scores[:, 0] > 0, 1.0, -1.0)
    settings = Settings(max(n_scores, 2), "auto", 1.0, covariance, True, 5000, 1e-3, 1, "auto")
    table = Table(X, y, np.ones(200))
    model, fit, *_ = learn_all(settings, table, Watch(Interrupted()))
    unit = model.scale**-2 / 3
    evidences = []
    for log_factor in np.linspace(*PriorScale.LOG_FACTOR_RANGE, 24):
        scale = PriorScale(unit, 1.0, INTERCEPT_VARIANCE, model.n_classes - 1)
        scale.log_factor = float(log_factor)
        rows = model.rows(*table)
        evidences.append(iterate(rows, scale.prior(model.full), 5000, 1e-6).log_evidence)
    # The weak prior of the factor stops where another factor e would gain less than 0.05 nats.
    # Where the evidence has a peak, of curvature 1 or so, this costs 0.05^2 / 2; where it is flat,
    # it costs at most half of the nats of a few more factors e.
    flat = kind in ("separable", "random")
    assert fit.log_evidence > max(evidences) - (0.25 if flat else 0.02)


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
    expected = np.log((4 * 4 + imagined / 2) / (4 + imagined / 2))
    assert scale.correction(known) == pytest.approx(expected, abs=1e-9)
