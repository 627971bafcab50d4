"""Refusing to answer: what rejecting the least certain predictions buys."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from sklearn.utils.validation import check_consistent_length, column_or_1d


class RejectionCurve(NamedTuple):
    """Error of the accepted predictions against the share of rejected ones."""

    reject_rate: np.ndarray
    error: np.ndarray
    threshold: np.ndarray  # predictions with a confidence below it are rejected


def rejection_curve(y_true, y_pred, confidence) -> RejectionCurve:
    """Return the error of what is accepted, for all thresholds of confidence.

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
        Arrays `reject_rate`, `error` and `threshold`, an entry for each distinct
        confidence, beginning with nothing rejected. Predictions of equal confidence
        are rejected together.

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
    confidence = column_or_1d(np.asarray(confidence, dtype=float))
    check_consistent_length(y_true, y_pred, confidence)
    wrong = y_true != y_pred
    if not len(confidence) or np.isnan(confidence).any():
        raise ValueError(
            "confidence should be a number for each of at least one prediction, but it is "
            + ("empty." if not len(confidence) else "NaN for some.")
        )
    threshold, group = np.unique(confidence, return_inverse=True)
    size = np.bincount(group)
    errors = np.bincount(group, weights=wrong)
    accepted = np.cumsum(size[::-1])[::-1]
    error = np.cumsum(errors[::-1])[::-1] / accepted
    return RejectionCurve(1 - accepted / len(wrong), error, threshold)
