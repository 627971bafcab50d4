"""Label regression and expectation propagation against twins in 50 digits (benchmarks/)."""

import sys
from pathlib import Path

import numpy as np
import pytest
from scipy import special

from bayespoint import BayesPointClassifier, solvers
from bayespoint.fitting.power_link import PowerLink, power_probabilities

pytest.importorskip("mpmath")
sys.path.append(str(Path(__file__).parents[1] / "benchmarks"))

import high_precision

EPS = np.finfo(float).eps
# Points of a pair are this far from each other: the kernel matrix is singular up to rounding.
GAPS = [1.0, 1e-4, 1e-8]


def fitted(K, y, softness, solver):
    model = BayesPointClassifier(
        "precomputed", fit_intercept=False, softness=softness, solver=solver, random_state=0
    )
    return model.fit(K, y)


@pytest.mark.parametrize("gap", GAPS)
@pytest.mark.parametrize("softness", [1.0, 1e-3, 1e-6])
def test_label_regression_to_all_digits(gap, softness):
    K, y, across = high_precision.nearly_singular(8, gap)
    model = fitted(K, y, softness, "regression")
    codes, left_out, evidence = high_precision.regression(K, y / 2, softness, across)
    # An inverse of m points has errors of about m eps condition, relative to its norm.
    known = 8 * EPS * np.linalg.cond(K + softness * np.eye(8))
    scale = np.abs(codes).max()
    ours = model.decision_function(across) * model.probit_scale_
    np.testing.assert_allclose(ours, codes, atol=10 * known * scale)
    np.testing.assert_allclose(model.log_evidence_, evidence, atol=100 * known)
    link = PowerLink(model.link_power_, model.link_floor_)
    by_twin = power_probabilities(left_out[:, None], link)
    # The power amplifies relative errors; it is at most 100 here.
    np.testing.assert_allclose(model.loo_proba_, by_twin, atol=1000 * known)


@pytest.mark.parametrize("gap", GAPS)
@pytest.mark.parametrize("softness", [1.0, 1e-6])
def test_propagation_finds_its_fixed_point_to_all_digits(gap, softness):
    K, y, across = high_precision.nearly_singular(6, gap)
    tol = 1e-10
    model = fitted(K, y, softness, solvers.EP(tol=tol, max_iter=1000))
    outputs, left_out, evidence = high_precision.propagation(K, y, softness, across)
    ours = model.decision_function(across) * model.probit_scale_
    # The distance to the fixed point is at most ten mismatches, and six points add up.
    assert model.diagnostics_.residual[0] <= tol
    np.testing.assert_allclose(ours, outputs, atol=100 * tol * np.abs(outputs).max())
    np.testing.assert_allclose(model.loo_proba_[:, 1], special.ndtr(left_out), atol=100 * tol)
    np.testing.assert_allclose(model.log_evidence_, evidence, atol=100 * tol)
