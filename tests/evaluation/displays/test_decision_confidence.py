"""DecisionConfidenceDisplay: regions, names and the reject band."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import make_blobs
from sklearn.linear_model import LogisticRegression
from sklearn.svm import SVC, LinearSVC

from bayespoint import DecisionConfidenceDisplay
from display_helpers import drawn, legend_texts


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
    assert legend_texts(display) == ["rejected", "0", "1"]
    image = display.surface_.get_array()
    certain = np.unravel_index(display.confidence.argmax(), display.confidence.shape)
    unsure = np.unravel_index(display.confidence.argmin(), display.confidence.shape)
    assert image[certain].min() < image[unsure].min()  # less white


@pytest.mark.parametrize("model", [LogisticRegression(), LinearSVC(), SVC()], ids=str)
def test_confidence_of_any_classifier(model):
    X, y = make_blobs(90, centers=4, random_state=0)
    y = np.array(["ash", "birch", "elm", "oak"])[y]
    display = DecisionConfidenceDisplay.from_estimator(model.fit(X, y), X, y, grid_resolution=20)
    assert legend_texts(drawn(display)) == ["ash", "birch", "elm", "oak"]
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


def test_confidence_refuses_labels_of_other_points(moons, rejecting):
    with pytest.raises(ValueError, match="inconsistent"):
        DecisionConfidenceDisplay.from_estimator(rejecting, moons[0], moons[1][:5])
