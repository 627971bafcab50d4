"""Shares of rows, with exact confidence intervals."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import special


class Share(NamedTuple):
    """A share of rows, and the confidence interval of the true share.

    Examples
    --------
    >>> from bayespoint.evaluation import share
    >>> found = share(3, 100, confidence_level=0.95)
    >>> found.value, round(found.low, 3), round(found.high, 3)
    (0.03, 0.006, 0.085)
    """

    number: int
    total: int
    low: float
    high: float

    @property
    def value(self) -> float:
        """Return the share, or NaN if there are no rows."""
        return self.number / self.total if self.total else float("nan")


def exact_interval(count, total, confidence_level: float = 0.95) -> tuple[np.ndarray, np.ndarray]:
    """Return the Clopper-Pearson interval of shares.

    Parameters
    ----------
    count, total : array-like of int
        The share is `count` out of `total`.
    confidence_level : float, default=0.95
        The interval contains the true share with at least this probability.

    Returns
    -------
    low, high : ndarray
        0 and 1 where `total` is 0.

    References
    ----------
    Clopper, Pearson (1934), The use of confidence or fiducial limits, Biometrika 26.

    Examples
    --------
    >>> from bayespoint.evaluation import exact_interval
    >>> low, high = exact_interval(0, 10)
    >>> float(low), round(float(high), 4)
    (0.0, 0.3085)
    """
    count, total = np.asarray(count, dtype=float), np.asarray(total, dtype=float)
    tail = (1 - confidence_level) / 2
    # At least 1, as the beta quantile is not defined at 0; np.where drops these entries.
    positive, rest = np.maximum(count, 1), np.maximum(total - count, 1)
    low = np.where(count > 0, special.betaincinv(positive, total - count + 1, tail), 0.0)
    high = np.where(count < total, special.betaincinv(count + 1, rest, 1 - tail), 1.0)
    return low, high


def share(count, total, confidence_level: float) -> Share:
    """Return a share with its exact interval.

    Examples
    --------
    >>> from bayespoint.evaluation import share
    >>> share(0, 10, confidence_level=0.95).low
    0.0
    """
    low, high = exact_interval(count, total, confidence_level)
    return Share(int(count), int(total), float(low), float(high))
