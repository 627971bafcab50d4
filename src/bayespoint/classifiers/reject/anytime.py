"""How many rows of a file are wrong, from rows drawn at random, at any time one looks."""

from __future__ import annotations

import math

import numpy as np
from scipy.special import betainc, betaln, gammaln

__all__ = ["log_evidence", "most_wrong_rows"]

# The guess about the share of wrong rows, before any is drawn, is a Beta law with this first
# parameter and the second 1 / max_error, cut off at max_error. It is worth most if a tenth to
# a half of max_error is wrong (docs/notes/labeling.md).
FIRST_PARAMETER = 0.5


def log_evidence(n_wrong, n_drawn, size: int, n_tested, max_error: float) -> np.ndarray:
    """Return the log evidence against a number of wrong rows, or any larger number.

    Rows are drawn at random, one after the other, without replacement. If `n_tested` rows are
    wrong, the evidence is a martingale that starts at one. So it ever reaches 1 / risk with a
    probability of at most `risk`, whenever one looks and however one decides to stop.

    Parameters
    ----------
    n_wrong, n_drawn : array-like of int
        How many of the rows drawn so far are wrong, and how many were drawn.
    size : int
        Number of rows in the file.
    n_tested : array-like of int
        The number of wrong rows in the file that is tested, for each entry.
    max_error : float
        The evidence is largest if the share of wrong rows is below this. It must not be chosen
        by the rows that were drawn.

    Returns
    -------
    ndarray

    Notes
    -----
    The evidence is the probability of the rows drawn if the share of wrong ones was a random
    number below `max_error`, divided by their probability if `n_tested` rows are wrong. This
    divisor falls with `n_tested` beyond n_wrong / n_drawn * size, so larger numbers have more
    evidence against them. Where the tested number is smaller than that, the result is minus
    infinity.

    References
    ----------
    Waudby-Smith, Ramdas (2020), Confidence Sequences for Sampling without Replacement.

    Examples
    --------
    >>> from bayespoint.classifiers.reject.anytime import log_evidence
    >>> [round(float(log_evidence(0, n, 1000, 50, 0.05)), 2) for n in (0, 50, 67)]
    [0.0, 2.16, 2.98]
    """
    n_wrong, n_drawn, n_tested = np.broadcast_arrays(n_wrong, n_drawn, n_tested)
    n_right = n_drawn - n_wrong
    first, second = FIRST_PARAMETER, 1 / max_error
    with np.errstate(divide="ignore"):
        guess = _log_beta_below(first + n_wrong, second + n_right, max_error)
    guess = guess - _log_beta_below(first, second, max_error)
    possible = (n_tested >= n_wrong) & (size - n_tested >= n_right)
    tested = np.where(possible, n_tested, n_wrong)
    law = _log_falling(tested, n_wrong) + _log_falling(size - tested, n_right)
    law = np.where(possible, law - _log_falling(size, n_drawn), -np.inf)
    too_few = n_tested * n_drawn < n_wrong * size
    return np.where(too_few, -np.inf, guess - law)


def most_wrong_rows(n_wrong, n_drawn, size: int, max_error: float, risk: float) -> int:
    """Return an upper limit of the number of wrong rows that holds at all times.

    Parameters
    ----------
    n_wrong, n_drawn : array-like of int
        How many rows were wrong and drawn, at each time that one may look back to.
    size : int
        Number of rows in the file.
    max_error : float
        The limit is sharpest around this share.
    risk : float
        The probability that the limit is ever too small.

    Returns
    -------
    int

    Examples
    --------
    >>> from bayespoint.classifiers.reject.anytime import most_wrong_rows
    >>> [most_wrong_rows([0], [n], 1000, 0.05, 0.05) for n in (0, 50, 100)]
    [1000, 65, 34]
    """
    limit = -math.log(risk)
    n_wrong, n_drawn = np.atleast_1d(n_wrong), np.atleast_1d(n_drawn)
    # Evidence grows with the tested number, so the limit is found by halving.
    low, high = np.full(len(n_wrong), -1), np.full(len(n_wrong), size + 1)
    while np.any(high - low > 1):
        middle = (low + high) // 2
        excluded = log_evidence(n_wrong, n_drawn, size, middle, max_error) >= limit
        low, high = np.where(excluded, low, middle), np.where(excluded, middle, high)
    return int(high.min()) - 1


def _log_beta_below(first, second, upper: float) -> np.ndarray:
    """Return the log integral of a Beta density, not normalized, from zero to `upper`."""
    return betaln(first, second) + np.log(betainc(first, second, upper))


def _log_falling(number, n_factors) -> np.ndarray:
    """Return the log of number (number - 1) ... with so many factors."""
    return gammaln(number + 1.0) - gammaln(number - n_factors + 1.0)
