"""RejectionCurveDisplay: the curve, the threshold and the promise on it."""

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import LinearSVC

from bayespoint import RejectionCurveDisplay, rejection_curve
from display_helpers import drawn, legend_texts


def test_curve_of_predictions(moons, rejecting):
    X, y = moons
    y_pred, confidence = rejecting.estimator_.predict(X), rejecting.confidence(X)
    display = drawn(RejectionCurveDisplay.from_predictions(y, y_pred, confidence, name="bayes"))
    curve = rejection_curve(y, y_pred, confidence)
    np.testing.assert_array_equal(display.line_.get_xdata(), curve.reject_rate)
    np.testing.assert_array_equal(display.line_.get_ydata(), curve.error)
    assert legend_texts(display) == [f"bayes (mean error {curve.area:.2g})"]


def test_curve_of_an_estimator_marks_its_threshold(moons, rejecting):
    X, y = moons
    display = drawn(RejectionCurveDisplay.from_estimator(rejecting, X, y, color="red"))
    marker = display.ax_.lines[-1]
    assert marker.get_xdata() == pytest.approx([1 - rejecting.accept(X).mean()])
    assert marker.get_ydata() == pytest.approx([1 - rejecting.score(X, y)])
    assert display.line_.get_color() == "red"
    again = drawn(RejectionCurveDisplay.from_estimator(LinearSVC().fit(X, y), X, y))
    assert "LinearSVC" in legend_texts(again)[0]
    assert again.ax_ is not display.ax_
    both = RejectionCurveDisplay.from_estimator(rejecting.at(), X, y, ax=display.ax_)
    assert both.ax_ is display.ax_
    assert both.figure_ is display.figure_


def test_curve_shows_the_promise(moons, rejecting):
    display = RejectionCurveDisplay.from_estimator(rejecting.at(max_error=0.2), *moons)
    assert "promised: 0.2" in legend_texts(display)
    with pytest.warns(UserWarning, match="No threshold can promise"):
        hopeless = rejecting.at(max_error=0.001)
    display = drawn(RejectionCurveDisplay.from_estimator(hopeless, *moons))
    assert len(legend_texts(display)) == 1  # no promise, and no threshold on the curve


def test_curve_refuses(moons, rejecting):
    with pytest.raises(NotFittedError):
        RejectionCurveDisplay.from_estimator(GaussianNB(), *moons)
    with pytest.raises(ValueError, match="inconsistent"):
        RejectionCurveDisplay.from_estimator(rejecting, moons[0], moons[1][:5])
