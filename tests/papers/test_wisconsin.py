import numpy as np
from sklearn.svm import SVC

from bayespoint.papers.wisconsin import GAMMA, judge_fold


def test_errors_are_counted_on_the_fold_alone(rng):
    X = rng.uniform(0, 4, (60, 2))
    y = np.where(X.sum(axis=1) > 4, 1, -1)
    fold = np.arange(10)
    svm, billiard = judge_fold(X, y, fold, seed=0)
    model = SVC(C=1e8, gamma=GAMMA).fit(X[10:], y[10:])
    assert svm == np.sum(model.predict(X[:10]) != y[:10])
    assert 0 <= billiard <= 10
