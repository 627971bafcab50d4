"""The largest margin without bias, against libsvm and other programs."""

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.datasets import make_moons
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.svm import SVC

from bayespoint import BayesPointClassifier, LinearMarginSVC, load, save
from bayespoint.geometry.gram import unit_gram
from bayespoint.geometry.version_space import VersionSpace
from bayespoint.solvers import Billiard, LargestBall
from bayespoint.solvers.largest_ball import largest_margin
from helpers import angle_between, orthant_space, rbf_space, teacher_space


def machine(kernel="rbf", **parameters):
    given = {"softness": 0.0, "fit_intercept": False, "solver": LargestBall()}
    return BayesPointClassifier(kernel, **{**given, **parameters})


def slow_twin(space):
    """Maximize the smallest margin over the unit ball, by sequential quadratic programs."""
    walls, r = space.walls, space.gram.rank
    found = minimize(
        lambda z: -z[-1],
        np.append(space.enter(np.random.default_rng(0)), 0.0),
        jac=lambda z: np.append(np.zeros(r), -1.0),
        method="SLSQP",
        constraints=[
            {"type": "ineq", "fun": lambda z: walls @ z[:-1] - z[-1]},
            {"type": "ineq", "fun": lambda z: 1 - z[:-1] @ z[:-1]},
        ],
        options={"maxiter": 1000, "ftol": 1e-12},
    )
    return -found.fun


@pytest.mark.parametrize(
    "space", [teacher_space(20, 3, seed=1), rbf_space(15, 0.0, seed=3), orthant_space(5)]
)
def test_no_hypothesis_has_a_larger_margin(space, rng):
    w = largest_margin(space)
    margin = space.margins(w).min()
    assert np.linalg.norm(w) == pytest.approx(1)
    assert margin == pytest.approx(slow_twin(space), abs=1e-6)
    # The mean of version space, for one, has a smaller margin.
    other = space.combine(Billiard().solve(space, rng).coef)
    if angle_between(w, other) > 0.1:
        assert margin > space.margins(other / np.linalg.norm(other)).min() + 1e-3


def test_is_a_support_vector_machine_without_bias():
    """An SVM of libsvm has no bias on points symmetric about the origin, here in feature space."""
    X, y = make_moons(60, noise=0.15, random_state=0)
    signs, K = np.where(y > 0, 1, -1), rbf_kernel(X, gamma=2.0)
    doubled = SVC(kernel="precomputed", C=1e8, tol=1e-8).fit(
        np.block([[K, -K], [-K, K]]), np.append(signs, -signs)
    )
    coef = np.zeros(120)
    coef[doubled.support_] = doubled.dual_coef_[0]
    theirs = K @ (coef[:60] - coef[60:])
    ours = machine(gamma=2.0).fit(X, y).decision_function(X)
    np.testing.assert_allclose(ours / np.abs(ours).max(), theirs / np.abs(theirs).max(), atol=1e-4)


def test_linear_kernel_is_the_linear_machine(rng):
    """On points of unit length both have the largest margin."""
    X = rng.standard_normal((20, 3))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    y = np.where(X @ [1, 2, 3] > 0, "b", "a")
    ours = machine("linear").fit(X, y).decision_function(np.eye(3))
    theirs = LinearMarginSVC("l2", C=np.inf, fit_intercept=False).fit(X, y).coef_[0]
    assert angle_between(ours, theirs) < 1e-5


def test_softness_and_three_classes(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 2))
    y = np.array(["x", "y", "z"])[np.argmax(X @ rng.standard_normal((2, 3)), axis=1)]
    model = machine(gamma=1.0, softness=0.1).fit(X, y)
    assert model.score(X, y) > 0.9
    K = rbf_kernel(X, gamma=1.0) + 0.1 * np.eye(60)
    space = VersionSpace(unit_gram(K, 0.0), np.where(y == "x", 1.0, -1.0))
    coef = space.gram.dual(largest_margin(space))
    ours = model.decision_function(X)[:, 0]
    theirs = rbf_kernel(X, gamma=1.0) @ coef
    np.testing.assert_allclose(ours / ours[0], theirs / theirs[0], atol=1e-6)
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1)
    save(model, tmp_path / "ball.bayespoint")
    loaded = load(tmp_path / "ball.bayespoint")
    np.testing.assert_array_equal(loaded.decision_function(X), model.decision_function(X))


def test_refuses_label_noise_and_warns_about_contradictions():
    with pytest.raises(ValueError, match="LargestBall does not support label noise"):
        machine("linear", label_noise=0.1).fit(np.eye(3), [0, 1, 1])
    noisy = orthant_space(3)._replace(label_noise=0.1)
    with pytest.raises(ValueError, match="LargestBall needs walls"):
        LargestBall().solve(noisy, np.random.default_rng(0))
    space = VersionSpace(unit_gram(np.ones((2, 2)), 0.0), np.array([1.0, -1.0]))
    with pytest.warns(ConvergenceWarning, match="largest may be up to"):
        largest_margin(space)
