import numpy as np
from sklearn.svm import SVC

from bayespoint.papers.toys_with_outliers import N_POINTS, judge_toy, one_outlier, overlap


def test_the_first_point_lies_alone_in_the_other_class():
    X, y = one_outlier(0)
    assert len(y) == N_POINTS
    nearest = np.argsort(np.linalg.norm(X - X[0], axis=1))[1:4]
    assert (y[nearest] == -y[0]).all()
    assert overlap(0)[1].sum() == 0


def test_a_small_price_gives_the_outlier_up_and_a_large_one_does_not():
    machines = {"cheap": SVC(gamma=2.0, C=0.1), "dear": SVC(gamma=2.0, C=1e4)}
    cheap, dear = judge_toy(one_outlier, machines, 0)
    assert cheap[0] == 1
    assert dear == (0, 0)
