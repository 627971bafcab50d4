"""VersionSpaceDisplay: points inside version space, and problems that cannot be drawn."""

import numpy as np
import pytest
from sklearn.datasets import make_blobs
from sklearn.exceptions import NotFittedError
from sklearn.naive_bayes import GaussianNB

from bayespoint import BayesPointClassifier, VersionSpaceDisplay, solvers
from bayespoint.evaluation.displays.version_space import _hard_version_space
from bayespoint.geometry.conflicts import NoVersionSpaceError
from display_helpers import drawn
from helpers import angle_between, angular_std_error, rejection_sample


def problem(seed, n=10):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, (n, 3))
    return X, np.where(X @ rng.standard_normal(3) > 0, "pro", "con")


def machine(solver="billiard"):
    return BayesPointClassifier(
        "linear", fit_intercept=False, softness=0.0, solver=solver, random_state=0
    )


@pytest.mark.parametrize("seed", range(3))
def test_version_space(seed):
    X, y = problem(seed)
    model = machine(solvers.Billiard(tol=0.005)).fit(X, y)
    display = drawn(VersionSpaceDisplay.from_estimator(model, X, y, random_state=0))
    assert display.path.shape == (101, 3)
    for inside in (display.path, display.corners_):
        np.testing.assert_allclose(np.linalg.norm(inside, axis=1), 1)
        assert (inside @ display.walls.T).min() > -1e-9
    assert np.abs(display.path[1:] @ display.walls.T).min(axis=1).max() < 1e-9  # at a wall
    # Each corner is on two walls.
    assert np.all(np.sum(np.abs(display.corners_ @ display.walls.T) < 1e-9, axis=1) >= 2)
    space = _hard_version_space(model, X, y)
    draws = rejection_sample(space, 5000, np.random.default_rng(0))
    limit = 5 * np.hypot(angular_std_error(draws), model.diagnostics_.angle[0])
    assert angle_between(display.bayes_point, draws.mean(axis=0)) < limit


def test_area_is_that_of_version_space(rng):
    """Lambert's projection keeps areas; Girard's theorem gives the area."""
    X, y = problem(1)
    model = machine().fit(X, y)
    display = VersionSpaceDisplay.from_estimator(model, X, y, n_bounces=0)
    x, z = display.ax_.lines[len(X)].get_data()  # the outline is drawn after the walls
    area = 0.5 * abs(np.sum(x * np.roll(z, -1) - z * np.roll(x, -1)))
    angles = []
    turned = display.corners_
    for before, corner, after in zip(
        np.roll(turned, 1, 0), turned, np.roll(turned, -1, 0), strict=True
    ):
        one, two = np.cross(corner, before), np.cross(corner, after)
        angles.append(angle_between(one, two))
    girard = np.sum(angles) - (len(angles) - 2) * np.pi
    # Arcs are drawn as 39 chords each, which loses about a thousandth of the area.
    assert area == pytest.approx(girard, rel=2e-3)


def test_version_space_of_two_features_and_an_intercept():
    X, y = make_blobs(20, centers=[[-2, 0], [2, 0]], cluster_std=0.5, random_state=0)
    model = BayesPointClassifier("linear", softness=0.1).fit(X, y)
    drawn(VersionSpaceDisplay.from_estimator(model, X, y, n_bounces=5, color="red"))


@pytest.mark.parametrize(
    ("model", "data", "message"),
    [
        (BayesPointClassifier("linear"), problem(0), "but this one has 4"),
        (BayesPointClassifier(gamma=1.0), problem(0), "but this one has 10"),
        (BayesPointClassifier(gamma=1.0, softness=0.3), make_blobs(30), "but there are 3"),
        (GaussianNB(), problem(0), "needs a BayesPointClassifier"),
    ],
)
def test_version_space_refuses(model, data, message):
    with pytest.raises(ValueError, match=message):
        VersionSpaceDisplay.from_estimator(model.fit(*data), *data)


def test_version_space_refuses_other_labels():
    X, y = problem(0)
    model = machine().fit(X, y)
    with pytest.raises(ValueError, match="y should hold a class"):
        VersionSpaceDisplay.from_estimator(model, X, np.arange(10))
    other = "pro" if y[0] == "con" else "con"
    with pytest.raises(NoVersionSpaceError):
        VersionSpaceDisplay.from_estimator(model, np.vstack([X, X[:1]]), np.append(y, other))
    with pytest.raises(NotFittedError):
        VersionSpaceDisplay.from_estimator(machine(), X, y)
