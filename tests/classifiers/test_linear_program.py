"""LinearProgramSVC against the linear program of the paper."""

import numpy as np
import pytest
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.utils.estimator_checks import parametrize_with_checks

from bayespoint import LinearProgramSVC
from linear_programs import OBJECTIVE_TOLERANCE, noisy, reference


@parametrize_with_checks([LinearProgramSVC(C=10.0), LinearProgramSVC(nu=0.1)])
# Some checks use random labels or identical points.
@pytest.mark.filterwarnings("ignore:(With|The margin|The program):UserWarning")
def test_scikit_learn_contract(estimator, check):
    check(estimator)


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("C", [0.3, 1.0, 30.0])
@pytest.mark.filterwarnings("ignore:With C=0.3 no coefficient:UserWarning")
def test_linear_program_equals_the_reference(rng, C, intercept):
    X, y = noisy(rng)
    model = LinearProgramSVC(C=C, gamma=0.5, fit_intercept=intercept).fit(X, y)
    expected = reference(rbf_kernel(X, gamma=0.5), y, penalty=1 / C, intercept=intercept)
    assert abs(model.objective_[0] - expected) < OBJECTIVE_TOLERANCE
    slacks = np.maximum(1 - y * model.decision_function(X), 0).sum()
    assert abs(slacks + np.abs(model.dual_coef_).sum() / C - expected) < OBJECTIVE_TOLERANCE


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("nu", [0.05, 0.3, 0.7])
def test_nu_equals_the_reference_and_a_machine_of_c(rng, nu, intercept):
    X, y = noisy(rng)
    model = LinearProgramSVC(nu=nu, gamma=0.5, fit_intercept=intercept).fit(X, y)
    expected = reference(rbf_kernel(X, gamma=0.5), y, nu=nu, intercept=intercept)
    assert abs(model.objective_[0] - expected) < OBJECTIVE_TOLERANCE
    assert np.isclose(np.abs(model.dual_coef_).sum() * model.margin_[0], 1)
    margins = y * model.decision_function(X)
    # At most a share nu lies inside the margin; at least a share nu lies inside or on it.
    assert np.mean(margins < 1 - 1e-6) <= nu <= np.mean(margins < 1 + 1e-6)
    same = LinearProgramSVC(C=-1 / model.objective_[0], gamma=0.5, fit_intercept=intercept)
    same.fit(X, y)
    objective = np.maximum(1 - margins, 0).sum() + np.abs(model.dual_coef_).sum() / same.C
    assert np.isclose(
        same.objective_[0], objective, rtol=0, atol=OBJECTIVE_TOLERANCE / model.margin_[0]
    )


def test_indefinite_kernels_have_linear_programs(rng):
    X, y = noisy(rng)
    model = LinearProgramSVC("sigmoid", gamma=0.3, coef0=-1.0, C=10.0).fit(X, y)
    K = np.tanh(0.3 * X @ X.T - 1)
    assert abs(model.objective_[0] - reference(K, y, penalty=0.1)) < OBJECTIVE_TOLERANCE
