import numpy as np
import pytest
from sklearn.datasets import make_moons

from bayespoint import BayesPointClassifier
from bayespoint.geometry.gram import unit_gram
from bayespoint.geometry.version_space import VersionSpace
from bayespoint.solvers import Billiard, Corners
from bayespoint.solvers.corners import corners
from helpers import angle_between, orthant_space, rbf_space, teacher_space

SPACES = {
    "linear": lambda: teacher_space(7, 10, seed=1),
    "soft rbf": lambda: rbf_space(40, 0.1),
    "hard rbf": lambda: rbf_space(15, 0.0, seed=3),
    "orthant": lambda: orthant_space(6),
    "one point": lambda: orthant_space(1),
}


@pytest.fixture(params=SPACES, ids=str)
def space(request):
    return SPACES[request.param]()


def rounding(space):
    """Return the relative error of solving with the factor, whose condition is a square root."""
    return 10 * len(space.signs) * np.finfo(float).eps * np.sqrt(np.linalg.cond(space.gram.matrix))


def test_a_corner_is_on_all_walls_but_one(space):
    points = corners(space)
    np.testing.assert_allclose(np.linalg.norm(points, axis=1), 1, rtol=1e-12)
    margins = space.margins(points)
    assert np.all(np.diagonal(margins) > 0)
    off = margins - np.diag(np.diagonal(margins))
    np.testing.assert_allclose(off, 0, atol=rounding(space))


def test_agrees_with_the_inverse(space, rng):
    signed = space.gram.matrix * np.outer(space.signs, space.signs)
    inverse = np.linalg.inv(signed)
    twin = np.mean(inverse / np.sqrt(np.diagonal(inverse)), axis=1)
    coef = Corners().solve(space, rng).coef
    # The twin inverts the square of the factor.
    error = rounding(space) * np.sqrt(np.linalg.cond(signed))
    np.testing.assert_allclose(coef / np.linalg.norm(coef), twin / np.linalg.norm(twin), atol=error)


def test_the_middle_of_the_orthant_is_its_diagonal(rng):
    space = orthant_space(5)
    posterior = Corners().solve(space, rng)
    np.testing.assert_allclose(posterior.coef / posterior.coef[0], 1, rtol=1e-12)


def test_a_wedge_has_its_bisector_in_the_middle(rng):
    normals = np.array([[0.0, 1.0], [np.sin(0.3), -np.cos(0.3)]])
    space = VersionSpace(unit_gram(normals @ normals.T, 0.0), np.ones(2))
    w = Corners().solve(space, rng).coef @ normals
    assert angle_between(w, np.array([np.cos(0.15), np.sin(0.15)])) < 1e-7


def test_answer_and_draws_are_in_version_space(space, rng):
    posterior = Corners(n_draws=500).solve(space, rng)
    assert space.contains(space.combine(posterior.coef))
    draws = space.combine(posterior.draws)
    # A draw may touch a wall up to rounding of the coefficients.
    assert space.margins(draws).min() > -rounding(space)
    np.testing.assert_allclose(np.linalg.norm(draws, axis=1), 1, atol=1e-7)


def test_draws_are_uniform_on_the_flat_simplex(rng):
    # Margins of a draw divided by the margins of the corners are its barycentric coordinates
    # up to scale. These have mean 1 / m and variance (m - 1) / (m^2 (m + 1)).
    space, n = rbf_space(10, 0.1), 20_000
    draws = space.combine(Corners(n_draws=n).solve(space, rng).draws)
    shares = space.margins(draws) / np.diagonal(space.margins(corners(space)))
    shares /= shares.sum(axis=1, keepdims=True)
    m = 10
    std = np.sqrt((m - 1) / (m**2 * (m + 1)))
    np.testing.assert_allclose(shares.mean(axis=0), 1 / m, atol=4 * std / np.sqrt(n))
    # The excess kurtosis of Dirichlet components is below 6, so the relative standard error
    # of a standard deviation is below sqrt((6 + 2) / n) / 2.
    np.testing.assert_allclose(shares.std(axis=0), std, rtol=4 * np.sqrt(8 / n) / 2)


def angle_to_bayes_point(space, rng):
    """Return the angle between the middle of the corners and the billiard's answer."""
    middle = space.combine(Corners().solve(space, rng).coef)
    posterior = Billiard(tol=0.03).solve(space, rng)
    return angle_between(middle, space.combine(posterior.coef)), posterior.info["angle"]


def test_is_the_bayes_point_where_all_walls_are_alike(rng):
    # The Gram matrix is the identity up to m / softness: an orthant up to 0.002.
    angle, error = angle_to_bayes_point(rbf_space(20, 1e4), rng)
    assert angle < 3 * error + 0.002


@pytest.mark.parametrize("seed", range(3))
def test_is_not_the_bayes_point_elsewhere(seed, rng):
    # The angle is 0.3 to 0.7 rad here. The docstring warns of it; drop the warning if this fails.
    angle, error = angle_to_bayes_point(rbf_space(30, 0.1, seed), rng)
    assert angle > 3 * error


def test_says_that_its_error_is_unknown(rng):
    seen = []
    posterior = Corners().solve(orthant_space(4), rng, on_round=seen.append)
    assert np.isnan(posterior.info["angle"])
    assert not posterior.info["mixed"]
    assert posterior.info["stop"] == "done"
    assert seen == [posterior.info]


def test_dependent_points(rng):
    with pytest.raises(ValueError, match="20 span only 5 dimensions"):
        Corners().solve(teacher_space(20, 5, seed=1), rng)


def test_label_noise(rng):
    with pytest.raises(ValueError, match=r"label_noise is 0\.1"):
        Corners().solve(orthant_space(3)._replace(label_noise=0.1), rng)


def test_wrong_parameters(rng):
    with pytest.raises(ValueError, match="n_draws"):
        Corners(n_draws=1).solve(orthant_space(3), rng)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_in_a_classifier():
    X, y = make_moons(100, noise=0.2, random_state=0)
    model = BayesPointClassifier(solver=Corners(), softness=1.0, random_state=0).fit(X, y)
    # Each class has half of the points; guessing gets 50 right, with a deviation of 5.
    assert np.sum(model.predict(X) == y) > 50 + 4 * 5
    assert np.all(np.isinf(model.decision_std_error(X)))
    again = BayesPointClassifier(solver=Corners(), softness=1.0, random_state=0).fit(X, y)
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))
