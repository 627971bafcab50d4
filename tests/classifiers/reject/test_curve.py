"""The rejection curve and its area, against counting."""

import numpy as np
import pytest

from bayespoint import rejection_curve


def area_by_counting(confidence, wrong, n_orders, rng):
    """Return the mean over many coverages, with ties in random order."""
    areas = []
    for _ in range(n_orders):
        order = np.lexsort((rng.random(len(wrong)), -confidence))
        areas.append(np.mean(np.cumsum(wrong[order]) / np.arange(1, len(wrong) + 1)))
    return np.mean(areas), np.std(areas) / np.sqrt(n_orders)


def test_area_agrees_with_counting(rng):
    confidence = np.repeat(rng.integers(0, 5, 40), 50) / 5
    wrong = rng.random(2000) < 0.4 - 0.4 * confidence
    curve = rejection_curve(wrong, np.zeros(2000), confidence)
    mean, std_error = area_by_counting(confidence, wrong, 50, rng)
    # Sums over 2000 coverages differ from the integral by less than 1 / 2000.
    assert curve.area == pytest.approx(mean, abs=5 * std_error + 1 / 2000)


def test_area_of_known_curves():
    wrong = np.arange(100) < 20
    assert rejection_curve(wrong, np.zeros(100), np.ones(100)).area == pytest.approx(0.2)
    perfect = rejection_curve(wrong, np.zeros(100), 1.0 - wrong)
    assert perfect.area == pytest.approx(0.2 + 0.8 * np.log(0.8))
    assert perfect.excess_area == pytest.approx(0, abs=1e-12)
    assert rejection_curve(wrong, np.zeros(100), wrong * 1.0).excess_area > 0.2
    assert rejection_curve([0, 0], [1, 1], [0.1, 0.2]).excess_area == pytest.approx(0)
    assert rejection_curve([1, 1], [1, 1], [0.1, 0.2]).area == 0


def test_agrees_with_counting():
    rng = np.random.default_rng(0)
    y, y_pred = rng.integers(0, 3, (2, 50))
    confidence = rng.integers(0, 9, 50) / 9.0  # many ties
    curve = rejection_curve(y, y_pred, confidence)
    for rate, error, threshold in zip(*curve, strict=True):
        accepted = confidence >= threshold
        assert rate == pytest.approx(1 - accepted.mean())
        assert error == pytest.approx(np.mean(y[accepted] != y_pred[accepted]))
    assert curve.reject_rate[0] == 0
    assert np.all(np.diff(curve.reject_rate) > 0)


def test_strings():
    assert rejection_curve(["a", "b"], ["a", "a"], [2, 1]).error.tolist() == [0.5, 0]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([0], [0], [np.nan]), "NaN"),
        (([], [], []), "empty"),
        (([0, 1], [0, 1], [1.0]), "inconsistent"),
        (([0, 1], [0, 1, 2], [1.0, 2.0]), "inconsistent"),
        (([0, 1], [0, 1], np.ones((2, 2))), "1d array"),
    ],
)
def test_errors(arguments, message):
    with pytest.raises(ValueError, match=message):
        rejection_curve(*arguments)
