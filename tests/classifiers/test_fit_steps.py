"""The steps of a fit are tested by its results, in test_bayes_point.py; here: their seams."""

import pytest
from sklearn.datasets import load_iris

from bayespoint import BayesPointClassifier


def test_columns_that_are_given_are_kept():
    X, y = load_iris(return_X_y=True)
    model = BayesPointClassifier(random_state=0).fit(X, y)
    columns, points = model.columns_, model.support_vectors_
    again = BayesPointClassifier(random_state=0)._fit(points, y, columns=columns)
    assert again.columns_ is columns
    assert again.mixture_.describe() == model.mixture_.describe()


def test_announced_classes_are_all_that_there_are():
    X, y = load_iris(return_X_y=True)
    with pytest.raises(ValueError, match="y should hold the classes"):
        BayesPointClassifier()._fit(X, y, classes=[0, 1])
