"""Columns that share a unit keep their spread, where left-out points are better told so."""

import numpy as np
import pytest
from sklearn.datasets import load_digits

from bayespoint import BayesPointClassifier
from bayespoint.fitting import task
from bayespoint.fitting.shared_unit import MIN_COLUMNS, shared_unit_scales
from bayespoint.geometry.columns import fit_columns


def columns_of(spread):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((50, len(spread)))
    return fit_columns(X / X.std(axis=0) * spread, standardize=True)


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(return_X_y=True)
    return X[:300], y[:300], X[300:1300], y[300:1300]


def test_scales_undo_the_standardization():
    spread = np.r_[np.linspace(1, 5, 20), 0.0]
    columns = columns_of(spread)
    scales = shared_unit_scales(columns)
    assert scales.sum() == pytest.approx(20)  # mean one, without the constant column
    assert scales[-1] == 0
    # Logarithms keep three digits.
    np.testing.assert_allclose(scales[:-1] / scales[0], columns.scale[:-1] / columns.scale[0], 1e-3)


@pytest.mark.parametrize(
    "spread",
    [
        np.linspace(1, 5, MIN_COLUMNS - 1),  # few columns
        10.0 ** np.arange(20),  # other units
        np.zeros(20),  # constant
        np.ones(20),  # alike
    ],
)
def test_other_columns_cannot_share_a_unit(spread):
    assert shared_unit_scales(columns_of(spread)) is None


def test_columns_that_are_standardized_or_categories_cannot_share_a_unit():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((50, 20)) * np.linspace(1, 5, 20)
    assert shared_unit_scales(fit_columns(X, standardize=True)) is not None
    assert shared_unit_scales(fit_columns(X, standardize=False)) is None
    codes = X.copy()
    codes[:, 0] = rng.integers(0, 3, 50)
    levels = [np.arange(3), *[None] * 19]
    assert shared_unit_scales(fit_columns(codes, levels, standardize=True)) is None
    X[0, 0] = np.nan
    assert shared_unit_scales(fit_columns(X, standardize=True)) is None


def test_pixels_are_recognized_better(digits, monkeypatch):
    """The log loss falls by more than three standard errors of its paired difference."""
    X, y, X_test, y_test = digits
    model = BayesPointClassifier().fit(X, y)
    monkeypatch.setattr(task, "shared_unit_scales", lambda columns: None)
    standardized = BayesPointClassifier().fit(X, y)
    rows = np.arange(len(y_test))
    losses = [-np.log(m.predict_proba(X_test)[rows, y_test]) for m in (model, standardized)]
    gain = losses[1] - losses[0]
    assert gain.mean() > 3 * gain.std() / len(gain) ** 0.5
    assert np.ptp(model.relevance_) > np.ptp(standardized.relevance_)


def test_left_out_points_may_say_no(monkeypatch):
    """Where spread is noise, the columns that matter are the narrow ones."""
    rng = np.random.default_rng(0)
    y = np.arange(300) % 2
    X = rng.standard_normal((300, 20))
    X[:, :10] += 0.7 * (2 * y[:, None] - 1)
    X[:, :10] *= 0.2
    model = BayesPointClassifier().fit(X, y)
    assert shared_unit_scales(model.columns_) is not None
    monkeypatch.setattr(task, "shared_unit_scales", lambda columns: None)
    standardized = BayesPointClassifier().fit(X, y)
    np.testing.assert_array_equal(model.predict_proba(X), standardized.predict_proba(X))
