import numpy as np
import pytest

from bayespoint import rejection_curve


def test_agrees_with_counting():
    rng = np.random.default_rng(0)
    y, y_pred = rng.integers(0, 3, (2, 50))
    confidence = rng.integers(0, 9, 50) / 9.0  # many are equal
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
