"""Regularized AdaBoost, for table 2.1 of 004 (Rätsch, Onoda and Müller 1998)."""

from __future__ import annotations

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import logsumexp, softmax
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils import check_random_state

# No base learner gets a larger coefficient. A learner without errors would get an infinite one.
MAX_COEFFICIENT = 10.0


class RegularizedAdaBoost(ClassifierMixin, BaseEstimator):
    """AdaBoost whose margins are softened by how much each point was weighted so far.

    The weight of point i is proportional to exp(-sum_t a_t (y_i h_t(x_i) + C m w_t(i))), where
    a_t minimizes the sum of all m weights. A point that had large weights w_t in many rounds
    is mistrusted, and counts as if its margin were larger. C = 0 is AdaBoost.

    References
    ----------
    Rätsch, Onoda, Müller (2001), Soft margins for AdaBoost, Machine Learning 42.
    """

    def __init__(self, base, C=0.1, n_rounds=200, random_state=None):
        self.base = base
        self.C = C
        self.n_rounds = n_rounds
        self.random_state = random_state

    def fit(self, X, y):
        """Fit base learners to points with changing weights."""
        self.classes_ = np.unique(y)
        rng = check_random_state(self.random_state)
        sign = np.where(y == self.classes_[-1], 1.0, -1.0)
        total = np.zeros(len(sign))
        self.learners_, self.coef_ = [], []
        for _ in range(self.n_rounds):
            weights = softmax(-total)
            learner = clone(self.base)
            if "random_state" in learner.get_params():
                learner.set_params(random_state=rng.randint(2**31 - 1))
            learner.fit(X, y, sample_weight=weights)
            margins = sign * self._votes(learner, X) + self.C * len(sign) * weights
            if weights @ margins <= 0:
                break  # no better than chance
            coef = best_coefficient(total, margins)
            total = total + coef * margins
            self.learners_.append(learner)
            self.coef_.append(coef)
        return self

    def decision_function(self, X):
        """Return the weighted sum of the votes."""
        votes = (self._votes(learner, X) for learner in self.learners_)
        return sum((a * v for a, v in zip(self.coef_, votes, strict=True)), np.zeros(len(X)))

    def predict(self, X):
        """Return classes."""
        return self.classes_[(self.decision_function(X) > 0).astype(int)]

    def _votes(self, learner, X) -> np.ndarray:
        return np.where(learner.predict(X) == self.classes_[-1], 1.0, -1.0)


def best_coefficient(total: np.ndarray, margins: np.ndarray) -> float:
    """Return the coefficient of a learner that minimizes the sum of exp(-total - a margins)."""
    return float(
        minimize_scalar(
            lambda a: logsumexp(-total - a * margins),
            bounds=(0.0, MAX_COEFFICIENT),
            method="bounded",
        ).x
    )
