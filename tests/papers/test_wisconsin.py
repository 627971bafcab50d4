import numpy as np
import pytest
from sklearn.svm import SVC

from bayespoint.papers.experiment import Plan
from bayespoint.papers.wisconsin import GAMMA, extra_errors, folds_of, judge_fold


def test_errors_are_counted_on_the_fold_alone(rng):
    X = rng.uniform(0, 4, (60, 2))
    y = np.where(X.sum(axis=1) > 4, 1, -1)
    fold = np.arange(10)
    svm, billiard = judge_fold(X, y, fold, seed=0)
    model = SVC(C=1e8, gamma=GAMMA).fit(X[10:], y[10:])
    assert svm == np.sum(model.predict(X[:10]) != y[:10])
    assert 0 <= billiard <= 10


def test_folds_are_disjoint_and_of_ten_points():
    folds = folds_of(683, Plan())
    assert [len(fold) for fold in folds] == [10] * 68
    assert len(set(np.concatenate(folds))) == 680


def test_errors_on_the_same_folds_are_compared_in_pairs(rng):
    """What both machines get wrong does not make the difference uncertain."""
    hard = rng.integers(0, 9, 50)
    extra = np.arange(50) % 5 == 0
    found = extra_errors(hard, hard + extra)
    assert found.mean == 10
    assert found.error == pytest.approx(np.sqrt(50) * extra.std(ddof=1))
