"""Pictures without a screen: what is drawn where, and what is refused."""

import subprocess
import sys

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import make_blobs, make_moons
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC

from bayespoint import (
    BayesPointClassifier,
    DecisionConfidenceDisplay,
    RejectionCurveDisplay,
    RejectOptionClassifier,
    TrajectoryDisplay,
    VersionSpaceDisplay,
    rejection_curve,
    solvers,
)
from bayespoint.evaluation.displays.version_space import (
    _hard_version_space,
    _Lambert,
    corners,
    largest_ball,
)
from bayespoint.geometry.version_space import NoVersionSpaceError
from helpers import angle_between, angular_std_error, rejection_sample


@pytest.fixture(autouse=True)
def no_screen():
    mpl.use("Agg")
    import matplotlib.pyplot as plt

    yield
    plt.close("all")


def drawn(display):
    """Render it, which is when matplotlib finds fault."""
    display.figure_.canvas.draw()
    return display


def texts(display):
    return [text.get_text() for text in display.ax_.get_legend().get_texts()]


@pytest.fixture(scope="module")
def moons():
    return make_moons(600, noise=0.3, random_state=0)


@pytest.fixture(scope="module")
def rejecting(moons):
    return RejectOptionClassifier(GaussianNB(), reject_rate=0.2, random_state=0).fit(*moons)


# Rejection curve


def test_curve_of_predictions(moons, rejecting):
    X, y = moons
    y_pred, confidence = rejecting.estimator_.predict(X), rejecting.confidence(X)
    display = drawn(RejectionCurveDisplay.from_predictions(y, y_pred, confidence, name="bayes"))
    curve = rejection_curve(y, y_pred, confidence)
    np.testing.assert_array_equal(display.line_.get_xdata(), curve.reject_rate)
    np.testing.assert_array_equal(display.line_.get_ydata(), curve.error)
    assert texts(display) == [f"bayes (mean error {curve.area:.2g})"]


def test_curve_of_an_estimator_marks_its_threshold(moons, rejecting):
    X, y = moons
    display = drawn(RejectionCurveDisplay.from_estimator(rejecting, X, y, color="red"))
    marker = display.ax_.lines[-1]
    assert marker.get_xdata() == pytest.approx([1 - rejecting.accept(X).mean()])
    assert marker.get_ydata() == pytest.approx([1 - rejecting.score(X, y)])
    assert display.line_.get_color() == "red"
    again = drawn(RejectionCurveDisplay.from_estimator(LinearSVC().fit(X, y), X, y))
    assert "LinearSVC" in texts(again)[0]
    assert again.ax_ is not display.ax_
    both = RejectionCurveDisplay.from_estimator(rejecting.at(), X, y, ax=display.ax_)
    assert both.ax_ is display.ax_
    assert both.figure_ is display.figure_


def test_curve_shows_the_promise(moons, rejecting):
    display = RejectionCurveDisplay.from_estimator(rejecting.at(max_error=0.2), *moons)
    assert "promised: 0.2" in texts(display)
    with pytest.warns(UserWarning, match="No threshold can promise"):
        hopeless = rejecting.at(max_error=0.001)
    display = drawn(RejectionCurveDisplay.from_estimator(hopeless, *moons))
    assert len(texts(display)) == 1  # nothing is promised, and no place on the curve


def test_curve_refuses(moons, rejecting):
    with pytest.raises(NotFittedError):
        RejectionCurveDisplay.from_estimator(GaussianNB(), *moons)
    with pytest.raises(ValueError, match="inconsistent"):
        RejectionCurveDisplay.from_estimator(rejecting, moons[0], moons[1][:5])


# Confidence in the plane


def test_confidence_on_the_grid(moons, rejecting):
    X, y = moons
    display = drawn(DecisionConfidenceDisplay.from_estimator(rejecting, X, y, grid_resolution=7))
    points = np.column_stack([part.ravel() for part in display.grid])
    np.testing.assert_allclose(display.confidence.ravel(), rejecting.confidence(points))
    np.testing.assert_array_equal(
        display.classes[display.winner.ravel()], rejecting.estimator_.predict(points)
    )
    for i in range(2):
        assert display.grid[i].min() < X[:, i].min()
        assert display.grid[i].max() > X[:, i].max()
    assert texts(display) == ["rejected", "0", "1"]
    image = display.surface_.get_array()
    certain = np.unravel_index(display.confidence.argmax(), display.confidence.shape)
    unsure = np.unravel_index(display.confidence.argmin(), display.confidence.shape)
    assert image[certain].min() < image[unsure].min()  # less white


@pytest.mark.parametrize("model", [LogisticRegression(), LinearSVC(), SVC()], ids=str)
def test_confidence_of_any_classifier(model):
    X, y = make_blobs(90, centers=4, random_state=0)
    y = np.array(["ash", "birch", "elm", "oak"])[y]
    display = DecisionConfidenceDisplay.from_estimator(model.fit(X, y), X, y, grid_resolution=20)
    assert texts(drawn(display)) == ["ash", "birch", "elm", "oak"]
    drawn(DecisionConfidenceDisplay.from_estimator(model, X, threshold=1e9, grid_resolution=9))


def test_confidence_keeps_names(moons):
    table = pd.DataFrame(moons[0], columns=["height", "weight"])
    model = LogisticRegression().fit(table, moons[1])
    display = drawn(DecisionConfidenceDisplay.from_estimator(model, table, grid_resolution=9))
    assert display.ax_.get_xlabel() == "height"
    assert display.ax_.get_ylabel() == "weight"


def test_confidence_of_points_in_one_place():
    model = LogisticRegression().fit([[0.0, 0.0], [1.0, 0.0]], [0, 1])
    drawn(DecisionConfidenceDisplay.from_estimator(model, [[0.5, 0.0]], grid_resolution=5))


@pytest.mark.parametrize(
    ("X", "arguments", "message"),
    [
        (np.ones((3, 3)), {}, r"\(n_samples, 2\), but it has \(3, 3\)"),
        (np.ones(3), {}, "two features"),
        (np.ones((0, 2)), {}, "two features"),
        ([[0.0, np.nan]], {}, "finite"),
        (np.ones((3, 2)), {"grid_resolution": 1}, "at least 2"),
    ],
)
def test_confidence_refuses(rejecting, X, arguments, message):
    with pytest.raises(ValueError, match=message):
        DecisionConfidenceDisplay.from_estimator(rejecting, X, **arguments)


@pytest.mark.parametrize("display", [DecisionConfidenceDisplay, RejectionCurveDisplay])
def test_rejecting_inside_is_refused(moons, display):
    rejecting = RejectOptionClassifier(GaussianNB(), reject_rate=0.3)
    inside = make_pipeline(StandardScaler(), rejecting).fit(*moons)
    with pytest.raises(ValueError, match=r"Pipeline predicts labels that .* put it outside"):
        display.from_estimator(inside, *moons)
    outside = RejectOptionClassifier(make_pipeline(StandardScaler(), GaussianNB()))
    drawn(display.from_estimator(outside.fit(*moons), *moons))


def test_confidence_refuses_labels_of_other_points(moons, rejecting):
    with pytest.raises(ValueError, match="inconsistent"):
        DecisionConfidenceDisplay.from_estimator(rejecting, moons[0], moons[1][:5])


# Version space


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
    """Lambert's projection keeps areas: girard's theorem says how large it is."""
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
    # Arcs are drawn as chords of a fortieth of them: an area less by a thousandth.
    assert area == pytest.approx(girard, rel=2e-3)


def test_largest_ball_is_the_hard_margin_machine():
    for seed in range(5):
        X, y = problem(seed)
        X /= np.linalg.norm(X, axis=1, keepdims=True)
        walls = X * np.where(y == "pro", 1.0, -1.0)[:, None]
        # A mirror image makes its threshold zero.
        svm = SVC(kernel="linear", C=1e9, tol=1e-9).fit(
            np.vstack([walls, -walls]), [1] * 10 + [0] * 10
        )
        # libsvm stops at 1e-9 of its own margin.
        assert angle_between(largest_ball(walls), svm.coef_[0]) < 1e-5


def test_corners_of_the_orthant():
    walls = np.vstack([np.eye(3), np.eye(3), [[0.6, 0.8, 0.0]]])  # twice, and one too many
    found = corners(walls, np.ones(3) / np.sqrt(3))
    assert len(found) == 3
    np.testing.assert_allclose(np.sort(found.argmax(axis=1)), [0, 1, 2])
    np.testing.assert_allclose(np.sort(found, axis=1), [[0, 0, 1]] * 3, atol=1e-12)


def test_projection_keeps_distances_from_the_center(rng):
    center = np.array([0.0, 0.6, 0.8])
    points = rng.standard_normal((20, 3))
    points /= np.linalg.norm(points, axis=1, keepdims=True)
    flat = _Lambert(center, points)(points)
    np.testing.assert_allclose(
        np.linalg.norm(flat, axis=1), 2 * np.sin(np.arccos(points @ center) / 2)
    )


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


# Trajectory


@pytest.mark.parametrize(
    "solver", ["billiard", solvers.Billiard(tol=0.02), solvers.Gibbs(tol=0.3)], ids=str
)
def test_trajectory_is_that_of_the_fit(solver):
    X, y = make_blobs(60, centers=3, cluster_std=2.0, random_state=0)
    model = BayesPointClassifier(gamma=1.0, softness=0.3, solver=solver, random_state=0)
    display = drawn(TrajectoryDisplay.from_estimator(model, X, y))
    fitted = model.fit(X, y)  # as it was: the display has a clone
    assert len(display.lines_) == 3
    for i in range(3):
        assert np.all(np.diff(display.n_steps[i]) > 0)
        assert display.angle[i][-1] == fitted.diagnostics_.angle[i]
        assert display.n_steps[i][-1] == fitted.diagnostics_["n_" + display.steps][i]
    assert texts(display)[:3] == ["class 0", "class 1", "class 2"]
    assert model.get_params()["solver"] is solver


@pytest.mark.parametrize("model", [BayesPointClassifier(), GaussianNB()], ids=str)
def test_trajectory_refuses_what_has_no_chains(moons, model):
    with pytest.raises(ValueError, match='"billiard" or "gibbs"'):
        TrajectoryDisplay.from_estimator(model, *moons)


# All


def test_matplotlib_is_imported_only_to_draw():
    code = (
        "import sys, bayespoint; bayespoint.RejectionCurveDisplay\n"
        "assert 'matplotlib' not in sys.modules\n"
        "sys.modules['matplotlib'] = sys.modules['matplotlib.pyplot'] = None\n"
        "bayespoint.RejectionCurveDisplay.from_predictions([0], [0], [1.0])\n"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "pip install 'bayespoint[plot]'" in run.stderr.splitlines()[-1]
