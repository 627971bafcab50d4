"""AdaptiveMarginSVC against the linear program of the paper."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.utils.estimator_checks import parametrize_with_checks

from bayespoint import AdaptiveMarginSVC, LinearProgramSVC
from linear_programs import OBJECTIVE_TOLERANCE, coefficients, noisy, reference


@parametrize_with_checks(
    [
        AdaptiveMarginSVC(),
        AdaptiveMarginSVC(kernel="linear", fit_intercept=True, adaptivity=0.5),
    ]
)
# Some checks use random labels or identical points.
@pytest.mark.filterwarnings("ignore:(With|The margin|The program):UserWarning")
def test_scikit_learn_contract(estimator, check):
    check(estimator)


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("adaptivity", [0.2, 1.0, 3.0])
@pytest.mark.parametrize("kernel", ["rbf", "linear", "laplacian"])
def test_adaptive_margins_equal_the_reference(rng, kernel, adaptivity, intercept):
    X, y = noisy(rng)
    # k(x, x) is not 1 for the linear kernel: margins adapt to k(x, x).
    model = AdaptiveMarginSVC(kernel, adaptivity=adaptivity, fit_intercept=intercept, gamma=0.5)
    model.fit(X, y)
    K = {
        "rbf": rbf_kernel(X, gamma=0.5),
        "linear": X @ X.T,
        "laplacian": np.exp(-0.5 * np.abs(X[:, None] - X).sum(axis=-1)),
    }[kernel]
    expected = reference(K, y, adaptivity=adaptivity, intercept=intercept)
    assert abs(model.objective_[0] - expected) < OBJECTIVE_TOLERANCE
    assert abs(model.dual_gap_[0]) < OBJECTIVE_TOLERANCE
    coef = coefficients(model, y)
    assert np.all(coef >= 0)
    # The reported objective follows from the coefficients.
    margins = y * model.decision_function(X) - adaptivity * coef * np.diag(K)
    assert abs(np.maximum(1 - margins, 0).sum() - expected) < OBJECTIVE_TOLERANCE


def test_leave_one_out_meaning(rng):
    """With adaptivity 1, a point's own coefficient does not affect its own slack."""
    X, y = noisy(rng)
    model = AdaptiveMarginSVC(gamma=0.5).fit(X, y)
    K = rbf_kernel(X, gamma=0.5)
    np.fill_diagonal(K, 0.0)
    without = y * (K[:, model.support_] @ model.dual_coef_[0])
    assert np.isclose(np.maximum(1 - without, 0).sum(), model.objective_[0])


def test_path_equals_separate_fits(rng):
    X, y = noisy(rng)
    y = y + (X[:, 0] > 1)  # three or more classes
    adaptivities = [1.0, 0.3, np.inf, 3.0]
    base = AdaptiveMarginSVC(gamma=0.5)
    models = base.fit_path(X, y, adaptivities)
    assert not hasattr(base, "classes_")
    for adaptivity, model in zip(adaptivities, models, strict=True):
        single = clone(base).set_params(adaptivity=adaptivity).fit(X, y)
        assert model.adaptivity == adaptivity
        np.testing.assert_allclose(
            model.objective_, single.objective_, rtol=0, atol=OBJECTIVE_TOLERANCE
        )
        # Coefficients are not unique where slacks are zero; outputs are unique elsewhere.
        unique = single.objective_ > 1
        np.testing.assert_allclose(
            model.decision_function(X)[:, unique], single.decision_function(X)[:, unique], atol=1e-6
        )


@pytest.mark.parametrize("bad", [[-1.0], [np.nan], 1.0, [[1.0]]])
def test_path_refuses(rng, bad):
    with pytest.raises(ValueError, match="adaptivities should be"):
        AdaptiveMarginSVC().fit_path(*noisy(rng), bad)


def test_infinite_adaptivity_is_parzen_windows(rng):
    X, y = noisy(rng)
    model = AdaptiveMarginSVC(gamma=0.5, adaptivity=np.inf).fit(X, y)
    new = rng.standard_normal((20, 3))
    np.testing.assert_allclose(
        model.decision_function(new), rbf_kernel(new, X, gamma=0.5) @ y / len(y)
    )


def test_limit_of_adaptivity(rng):
    """At the limit and above it all coefficients are zero; just below it they are not."""
    X, y = noisy(rng)
    limit = np.max(y * (rbf_kernel(X, gamma=0.5) @ y))
    below = AdaptiveMarginSVC(gamma=0.5, adaptivity=0.999 * limit).fit(X, y)
    assert len(below.support_) > 0
    with pytest.warns(UserWarning, match=f"an adaptivity below {limit:.4g}"):
        above = AdaptiveMarginSVC(gamma=0.5, adaptivity=1.001 * limit).fit(X, y)
    assert len(above.support_) == 0
    assert above.objective_[0] == len(y)
    assert np.all(above.decision_function(X) == 0)
    with pytest.warns(UserWarning, match="choose a larger C"):
        LinearProgramSVC(gamma=0.5, C=1e-6).fit(X, y)
