import numpy as np
import pytest
from sklearn.ensemble import AdaBoostClassifier
from sklearn.tree import DecisionTreeClassifier

from bayespoint.papers.regularized_boosting import RegularizedAdaBoost, best_coefficient

STUMP = DecisionTreeClassifier(max_depth=1, random_state=0)


def test_without_regularization_it_is_adaboost(problem):
    X, y = problem
    ours = RegularizedAdaBoost(STUMP, C=0.0, n_rounds=20, random_state=0).fit(X, y)
    known = AdaBoostClassifier(STUMP, n_estimators=20, random_state=0).fit(X, y)
    # scikit-learn's coefficients are twice ours; Brent's method stops at 1e-5.
    assert 2 * np.array(ours.coef_) == pytest.approx(known.estimator_weights_, rel=1e-3)
    assert np.array_equal(ours.predict(X), known.predict(X))


def test_coefficient_of_adaboost_has_a_formula():
    margins = np.array([1.0, 1.0, 1.0, -1.0])
    assert best_coefficient(np.zeros(4), margins) == pytest.approx(np.log(3) / 2, abs=1e-4)


def test_regularization_gives_up_an_outlier(rng):
    """One wrong label among clear classes: AdaBoost learns it, the regularized one does not."""
    X = np.linspace(-1, 1, 40)[:, None]
    y = np.where(X[:, 0] > 0, 1, -1)
    outlier = 30
    y[outlier] = -1
    hard, soft = (
        RegularizedAdaBoost(STUMP, C=C, n_rounds=60, random_state=0).fit(X, y) for C in (0.0, 0.5)
    )
    assert hard.predict(X)[outlier] == -1
    assert soft.predict(X)[outlier] == 1
    assert np.mean(soft.predict(X) == y) == 39 / 40
