"""A bound on AdaBoost's margins from its weighted errors."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ._checks import inside, not_negative, positive, vector
from .hyperplane import signs_of


class MarginError(NamedTuple):
    """Share of training points with a small margin, and its bound."""

    observed: float
    bound: float


def adaboost_margin_bound(errors, margin: float, weights=None) -> float:
    """Return a bound on the share of training points with a small margin.

    Parameters
    ----------
    errors : array-like of shape (n_rounds,)
        Weighted training error of each voter, below one half.
    margin : float
        Share of votes for the right class minus the share for the wrong one, 0 or more and
        below 1.
    weights : array-like of shape (n_rounds,), default=None
        The number of votes of each voter: alpha, which also changed the weights of points.
        The default is AdaBoost's ln((1 - error) / error) / 2.

    Returns
    -------
    float
        Upper limit of the share of training points with a smaller margin, at most 1. It
        always holds, without a confidence. `convex_combination_bound` turns it into a bound
        on the error on new points.

    Notes
    -----
    The product of exp(margin alpha) ((1 - error) exp(-alpha) + error exp(alpha)). With
    AdaBoost's weights it is the product of 2 sqrt(error^(1 - margin) (1 - error)^(1 + margin)),
    004's eq. 1.86. If all errors are at most 1 / 2 - 2 margin it is below (1 - margin^2)^(T / 2)
    after T rounds, eq. 1.87.

    References
    ----------
    Schapire, Freund, Bartlett, Lee (1998), Boosting the margin, Annals of Statistics 26;
    004, theorem 1.12.

    Examples
    --------
    >>> from bayespoint.bounds import adaboost_margin_bound
    >>> round(adaboost_margin_bound([0.3] * 50, margin=0.1), 4)
    0.1064
    """
    errors = vector("errors", errors)
    if errors.min() < 0 or errors.max() >= 0.5:
        raise ValueError(
            "errors should be from 0 to below one half, but are between "
            f"{errors.min():.3g} and {errors.max():.3g}."
        )
    if margin != 0:
        inside("margin", margin, 0, 1)
    if weights is None:
        if errors.min() == 0:  # a voter that is always right gets infinitely many votes
            return 0.0
        weights = np.log((1 - errors) / errors) / 2
    weights = not_negative("weights", vector("weights", weights, len(errors)))
    spread = (1 - errors) * np.exp(-weights) + errors * np.exp(weights)
    return min(1.0, float(np.exp(np.sum(margin * weights + np.log(spread)))))


def boosting_rounds(margin: float, margin_error: float) -> int:
    """Return the rounds after which few training points have a small margin.

    Parameters
    ----------
    margin : float
        Between 0 and 1 / 4. All weighted errors have to be at most 1 / 2 - 2 margin.
    margin_error : float
        Share of the training points, between 0 and 1, that may have a smaller margin.

    Returns
    -------
    int
        2 / margin^2 ln(1 / margin_error), 004's theorem 1.12.

    Examples
    --------
    >>> from bayespoint.bounds import boosting_rounds
    >>> boosting_rounds(margin=0.1, margin_error=0.01)
    922
    """
    inside("margin", margin, 0, 0.25)
    inside("margin_error", margin_error, 0, 1)
    return math.ceil(2 / margin**2 * math.log(1 / margin_error))


def adaboost_margin_error(model, X, y, margin: float) -> MarginError:
    """Return how many margins of an `AdaBoostClassifier` are small, and the bound.

    Parameters
    ----------
    model : AdaBoostClassifier
        Fitted to two classes without `sample_weight`, with any learning rate.
    X, y : array-like
        The points and classes that it was fitted to.
    margin : float
        Share of votes for the right class minus the share for the wrong one, 0 or more and
        below 1.

    Returns
    -------
    MarginError
        `observed`, the share of training points with a smaller margin, and `bound`.

    Notes
    -----
    The margin is half of y times scikit-learn's `decision_function`, which for two classes
    is between -2 and 2.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from sklearn.ensemble import AdaBoostClassifier
    >>> from bayespoint.bounds import adaboost_margin_error
    >>> X, y = make_moons(100, noise=0.1, random_state=0)
    >>> model = AdaBoostClassifier(n_estimators=20, random_state=0).fit(X, y)
    >>> found = adaboost_margin_error(model, X, y, margin=0.1)
    >>> found.observed <= found.bound
    True
    """
    check_is_fitted(model)
    if not hasattr(model, "estimator_errors_"):
        raise TypeError(
            f"model should be a fitted AdaBoostClassifier, but is {type(model).__name__}."
        )
    signs = signs_of(model, y)
    rounds = len(model.estimators_)
    errors, votes = model.estimator_errors_[:rounds], model.estimator_weights_[:rounds]
    positive("the sum of estimator_weights_", float(votes.sum()))
    answers = [voter.predict(X) == model.classes_[1] for voter in model.estimators_]
    margins = signs * (votes @ np.where(answers, 1.0, -1.0)) / votes.sum()
    # scikit-learn multiplies the weights of errors by exp(votes): twice AdaBoost's alpha.
    bound = adaboost_margin_bound(errors, margin, votes / 2)
    return MarginError(float(np.mean(margins < margin)), bound)
