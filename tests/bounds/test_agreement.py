"""Definition 9's Bayes point and epsilon(z), against known version spaces and brute force."""

import numpy as np
import pytest
from scipy import optimize

from bayespoint import BayesPointClassifier
from bayespoint.bounds import compare_center, kappa
from bayespoint.bounds.agreement import best_agreement, smallest_possible
from bayespoint.geometry.gram import unit_gram
from bayespoint.geometry.version_space import VersionSpace
from bayespoint.solvers import Billiard, Gibbs
from bayespoint.solvers.corners import corners


def unit(vectors):
    return vectors / np.linalg.norm(vectors, axis=-1, keepdims=True)


def sampled(X, y, **parameters):
    given = {"softness": 0.0, "fit_intercept": False, "solver": Billiard(tol=0.02)}
    return BayesPointClassifier("linear", random_state=0, **{**given, **parameters}).fit(X, y)


def orthant(r):
    """Return a model whose version space is an orthant: points are the axes."""
    signs = np.where(np.arange(r) % 2, 1, -1)
    return sampled(np.eye(r), signs), signs


# The fixed point


def mean_angle(v, hypotheses, weights):
    return weights @ np.arccos(np.clip(hypotheses @ unit(v), -1, 1)) / weights.sum()


@pytest.mark.parametrize("r", [2, 3, 5])
def test_agrees_with_a_general_minimizer(r, rng):
    hypotheses = unit(rng.standard_normal((12, r)) + 2 * np.eye(r)[0])
    weights = rng.exponential(size=12)
    found = best_agreement(hypotheses, weights)
    # A derivative-free minimizer, started in several places.
    best = min(
        (
            optimize.minimize(
                mean_angle, start, (hypotheses, weights), "Nelder-Mead", options={"xatol": 1e-9}
            )
            for start in hypotheses
        ),
        key=lambda result: result.fun,
    )
    assert mean_angle(found, hypotheses, weights) <= best.fun + 1e-7
    # The center of mass is another point.
    assert mean_angle(weights @ hypotheses, hypotheses, weights) > best.fun + 1e-6


def test_is_the_fixed_point_of_the_appendix(rng):
    hypotheses = unit(rng.standard_normal((50, 4)) + 2 * np.eye(4)[0])
    v = best_agreement(hypotheses)
    sines = np.sqrt(1 - (hypotheses @ v) ** 2)
    np.testing.assert_allclose(unit((hypotheses / sines[:, None]).mean(axis=0)), v, atol=1e-9)
    # Without the sines it is the center of mass.
    assert np.abs(unit(hypotheses.mean(axis=0)) - v).max() > 1e-3


def test_agreement_on_gaussian_points(rng):
    """Definition 9 by brute force: the share of random points on which hypotheses differ."""
    hypotheses = unit(rng.standard_normal((7, 3)) + 2 * np.eye(3)[0])
    points = rng.standard_normal((20_000, 3))
    v = best_agreement(hypotheses)
    differ = np.mean((points @ hypotheses.T > 0) != (points @ v > 0)[:, None])
    error = np.sqrt(differ * (1 - differ) / len(points))  # hypotheses are fixed
    assert abs(differ - mean_angle(v, hypotheses, np.ones(7)) / np.pi) < 4 * error


# Epsilon


@pytest.mark.parametrize("r", [2, 3, 4])
def test_epsilon_of_an_orthant(r):
    """The center is (1, ..., 1) / sqrt(r), the corners are the axes."""
    model, signs = orthant(r)
    found = compare_center(model)
    assert found.epsilon_low <= 1 / np.sqrt(r) <= found.epsilon
    assert found.epsilon_low > 0
    # By symmetry the Bayes point of definition 9 is the same as the center of mass.
    assert found.excess == pytest.approx(0, abs=4 * found.excess_error + 1e-3)
    by_axis = unit(found.coef * signs[model.support_])
    np.testing.assert_allclose(by_axis, 1 / np.sqrt(r), atol=0.15)


def test_intervals_of_epsilon_hold(rng):
    """In 100 wedges with known ends, about 5 intervals of 95 % may miss the end."""
    missed, wrong = 0, 0
    for _ in range(100):
        half = rng.uniform(0.2, 1.2)
        cosines = np.cos(rng.uniform(-half, half, 64))
        missed += smallest_possible(cosines, 1, 0.05) > np.cos(half)
        wrong += smallest_possible(cosines, 1, 0.8) > np.cos(half)
    assert missed <= 14  # exceeded with probability 2e-4 if it is 5 of 100
    assert wrong > 14


def test_epsilon_against_the_corners():
    """Independent points: the smallest cosine is at a corner, which `corners` knows exactly."""
    rng = np.random.default_rng(3)
    X = rng.standard_normal((4, 4))
    y = np.where(X @ [1, 1, 0, 0] > 0, 1, -1)
    model = sampled(X, y)
    space = VersionSpace(unit_gram(X @ X.T, 0.0), y.astype(float))
    center = space.gram.factor.T @ (model.dual_coef_[0] * space.gram.lengths[model.support_])
    exact = (corners(space) @ unit(center)).min()
    found = compare_center(model)
    assert found.epsilon_low <= max(exact, 0) <= found.epsilon


# The comparison


def test_limit_is_that_of_theorem_10():
    found = compare_center(orthant(2)[0])
    low = found.epsilon_low
    assert found.limit == kappa(low) * (2 if low <= np.sqrt(0.5) else 1)
    assert found.excess <= found.limit


def test_excess_of_a_lopsided_version_space():
    """A thin triangle: the center of mass and the best agreement differ, by known amounts."""
    X = np.array([[0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [1.0, -3.0, -3.0]])
    model = sampled(np.vstack([X, -X[:1]]), [1, 1, 1, 0], solver=Billiard(tol=0.01, n_draws=1000))
    rng = np.random.default_rng(0)
    w = unit(rng.standard_normal((400_000, 3)))
    w = w[(w @ X.T > 0).all(axis=1)]
    ones = np.ones(len(w))
    mean, best = unit(w.mean(axis=0)), best_agreement(w)
    expected = (mean_angle(mean, w, ones) - mean_angle(best, w, ones)) / np.pi
    found = compare_center(model)
    assert expected > 0
    assert abs(found.excess - expected) < 4 * found.excess_error
    angle = np.arccos(mean @ best)
    assert found.angle == pytest.approx(angle, abs=0.05)


@pytest.mark.parametrize("solver", ["billiard", Gibbs(n_samples=4000)])
def test_softness_and_other_kernels(solver):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((30, 2))
    y = np.where(X[:, 0] + 0.5 * rng.standard_normal(30) > 0, "b", "a")
    model = BayesPointClassifier("rbf", gamma=0.5, softness=0.3, solver=solver, random_state=0)
    found = compare_center(model.fit(X, y))
    assert 0 <= found.epsilon_low <= found.epsilon < 1
    # In thirty dimensions hypotheses are all about as far from the center.
    assert abs(found.excess) < 0.01 < found.limit
    other = model.dual_coef_[0] @ model.decision_function(model.support_vectors_)
    assert other > 0
    assert found.coef.shape == (len(model.support_),)


def test_refuses():
    X, y = np.eye(3), [0, 1, 1]
    for parameters in ({"solver": "ep"}, {"label_noise": 0.1, "solver": "billiard"}):
        model = sampled(X, y, **parameters)
        with pytest.raises(ValueError, match="draws hypotheses of version space"):
            compare_center(model)
    given = BayesPointClassifier("precomputed", solver="billiard", softness=0.1, random_state=0)
    with pytest.raises(TypeError, match="precomputed"):
        compare_center(given.fit(X, y))
    with pytest.raises(ValueError, match="confidence"):
        compare_center(sampled(X, y), confidence=2)
