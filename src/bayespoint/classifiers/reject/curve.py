"""The rejection curve: the error of accepted predictions at every threshold."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from sklearn.utils.validation import check_consistent_length, column_or_1d

from .confidence import check_confidence

__all__ = ["RejectionCurve", "rejection_curve"]


class RejectionCurve(NamedTuple):
    """Error of the accepted predictions against the share of rejected ones."""

    reject_rate: np.ndarray
    error: np.ndarray
    threshold: np.ndarray  # predictions with a confidence below it are rejected

    @property
    def area(self) -> float:
        """The mean error over all shares of accepted predictions, from 0 to 1.

        Exact if predictions of equal confidence are rejected in random order. Smaller is
        better: both a low error and a good ranking by confidence make it small.
        """
        # A group of equal confidence takes the coverage from `low` to `high`. At coverage c
        # the error is (wrong_before + slope (c - low)) / c, which has a closed integral.
        high = (1 - self.reject_rate)[::-1]
        low = np.append(0.0, high[:-1])
        wrong = self.error[::-1] * high
        wrong_before = np.append(0.0, wrong[:-1])
        slope = (wrong - wrong_before) / (high - low)
        logs = np.log(high[1:] / low[1:])
        bent = np.sum((wrong_before - slope * low)[1:] * logs)
        return float(np.sum(slope * (high - low)) + bent)

    @property
    def excess_area(self) -> float:
        """The area minus the area of a perfect ranking, which rejects all errors first."""
        right = 1 - self.error[0]
        perfect = self.error[0] + (right * math.log(right) if right else 0.0)
        return self.area - perfect


def rejection_curve(y_true, y_pred, confidence) -> RejectionCurve:
    """Return the error of accepted predictions at every threshold.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n_samples,)
        True and predicted classes.
    confidence : array-like of shape (n_samples,)
        Larger for predictions that are more certain: the largest probability, or the
        absolute value of a decision function.

    Returns
    -------
    RejectionCurve
        Arrays `reject_rate`, `error` and `threshold` with an entry for each distinct
        confidence. The first entry rejects nothing. Predictions of equal confidence are
        rejected together.

    References
    ----------
    Herbrich, Graepel, Campbell (2001), Bayes Point Machines, JMLR 1, sec. 4.3.

    Examples
    --------
    >>> from bayespoint import rejection_curve
    >>> curve = rejection_curve([0, 1, 1, 0], [0, 1, 0, 0], [0.9, 0.7, 0.6, 0.8])
    >>> curve.reject_rate, curve.error
    (array([0.  , 0.25, 0.5 , 0.75]), array([0.25, 0.  , 0.  , 0.  ]))
    """
    y_true, y_pred = column_or_1d(y_true), column_or_1d(y_pred)
    confidence = check_confidence(confidence)
    check_consistent_length(y_true, y_pred, confidence)
    wrong = y_true != y_pred
    threshold, group = np.unique(confidence, return_inverse=True)
    size = np.bincount(group)
    errors = np.bincount(group, weights=wrong)
    accepted = np.cumsum(size[::-1])[::-1]
    error = np.cumsum(errors[::-1])[::-1] / accepted
    return RejectionCurve(1 - accepted / len(wrong), error, threshold)
