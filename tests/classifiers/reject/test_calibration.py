"""Which rows are held out, and how the classifier judges them."""

import numpy as np
import pytest
from sklearn.datasets import make_moons
from sklearn.model_selection import KFold, ShuffleSplit
from sklearn.naive_bayes import GaussianNB

from bayespoint import RejectOptionClassifier
from bayespoint.classifiers.reject.calibration import disjoint_folds, fit_clone, hold_out, judge


def test_the_threshold_is_set_on_rows_that_are_not_trained_on():
    X, y = make_moons(600, noise=0.35, random_state=0)
    model = RejectOptionClassifier(GaussianNB(), calibration_size=0.25, random_state=0).fit(X, y)
    assert len(model.calibration_correct_) == 150
    train, held = hold_out(y, 0.25, 0)
    np.testing.assert_array_equal(np.sort(np.r_[train, held]), np.arange(600))
    again = GaussianNB().fit(X[train], y[train])
    np.testing.assert_array_equal(
        model.calibration_confidence_, again.predict_proba(X[held]).max(axis=1)
    )
    np.testing.assert_array_equal(model.calibration_correct_, again.predict(X[held]) == y[held])


def test_held_out_classes_in_proportion(rng):
    y = np.repeat(["a", "b", "c", "d"], [1, 2, 30, 300])[rng.permutation(333)]
    counts = []
    for seed in range(200):
        train, held = hold_out(y, 0.2, seed)
        assert len(np.intersect1d(train, held)) == 0
        assert len(train) + len(held) == 333
        assert set(y[train]) == set("abcd")
        counts.append([np.sum(y[held] == c) for c in "cd"])
    assert np.all(np.abs(np.array(counts) - np.array([30, 300]) * 67 / 333) < 2)


def test_every_row_is_held_out_as_often_as_another(rng):
    y = rng.integers(0, 3, 40)
    n_seeds = 1000
    held = np.zeros(40)
    for seed in range(n_seeds):
        held[hold_out(y, 0.2, seed)[1]] += 1
    # Each of the 40 frequencies is about 0.2; the tolerance is five standard errors.
    assert np.all(np.abs(held / n_seeds - 0.2) < 5 * np.sqrt(0.2 * 0.8 / n_seeds))


@pytest.mark.parametrize(("size", "n_held_out"), [(1, 1), (7, 7), (0.5, 20), (1e-9, 1), (39, 39)])
def test_size_is_a_share_or_a_number(size, n_held_out):
    assert len(hold_out(np.zeros(40), size, 0)[1]) == n_held_out


@pytest.mark.parametrize("size", [40, 50, 0.99])
def test_rows_to_train_with_are_needed(size):
    with pytest.raises(ValueError, match=r"holds out \d+ of n_samples=40, which leaves nothing"):
        hold_out(np.zeros(40), size, 0)


def test_folds_that_test_a_row_twice_are_refused(rng):
    X, y = np.zeros((30, 1)), rng.integers(0, 2, 30)
    folds = disjoint_folds(KFold(3), X, y)
    np.testing.assert_array_equal(np.concatenate([test for _, test in folds]), np.arange(30))
    with pytest.raises(ValueError, match=r"row \d+ is in \d test folds.*Use KFold"):
        disjoint_folds(ShuffleSplit(9, random_state=0), X, y)


def test_rows_are_judged_by_a_classifier_that_has_not_seen_them():
    X, y = make_moons(100, noise=0.35, random_state=0)
    weight = np.linspace(1, 2, 100)
    model = fit_clone(GaussianNB(), X, y, {"sample_weight": weight}, np.arange(60))
    twin = GaussianNB().fit(X[:60], y[:60], sample_weight=weight[:60])
    option = RejectOptionClassifier(GaussianNB())
    confidence, correct = judge(option, model, X, y, np.arange(60, 100))[:2]
    np.testing.assert_array_equal(confidence, twin.predict_proba(X[60:]).max(axis=1))
    np.testing.assert_array_equal(correct, twin.predict(X[60:]) == y[60:])
