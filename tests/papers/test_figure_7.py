import numpy as np
from sklearn.metrics.pairwise import rbf_kernel

from bayespoint.papers.figure_7 import GAMMA, fit, make_toy, margins_of


def test_the_largest_margin_is_larger_and_both_are_unit_hypotheses():
    X, y = make_toy(0)
    K = rbf_kernel(X, gamma=GAMMA)
    for coef in fit(X, y, 0):
        assert np.isclose(coef @ K @ coef, 1)
    svm, bpm = margins_of(0)
    assert svm > bpm > 0
