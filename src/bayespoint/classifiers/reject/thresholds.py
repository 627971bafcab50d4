"""From confidences of held-out predictions to a threshold below which they are rejected."""

from __future__ import annotations

import math

import numpy as np
from scipy.special import bdtr
from sklearn.utils.validation import check_consistent_length, column_or_1d

# Of the rows, and no more than: so many only say where thresholds are tried.
PILOT_SHARE, PILOT_LIMIT = 0.1, 300
# The first threshold accepts so many times the rows that would do without an error, each
# further start of the chain twice as many as the one before (docs/architecture.md).
FIRST_START, START_RATIO = 1.5, 2
# Products of a rate and a count that should be whole numbers are, but for rounding.
ROUNDING = 1e-9


def reject_threshold(confidence, reject_rate: float) -> float:
    """Return the threshold that rejects a wished share of predictions.

    Parameters
    ----------
    confidence : array-like of shape (n_samples,)
        Confidences of predictions for rows that were not trained on.
    reject_rate : float
        The share to be rejected, at least 0 and less than 1.

    Returns
    -------
    float
        A prediction is accepted if its confidence is at least this. A new one is rejected
        with a probability of at most `reject_rate`, and of less by 1 / (n_samples + 1)
        at most, unless many confidences are equal: these are rejected together or not at
        all. Minus infinity where that means to reject nothing.

    Examples
    --------
    >>> from bayespoint.classifiers.reject.thresholds import reject_threshold
    >>> reject_threshold([0.9, 0.6, 0.7, 0.8], reject_rate=0.5)
    0.7
    """
    confidence = _confidences(confidence)
    if not 0 <= reject_rate < 1:
        raise ValueError(f"reject_rate should be at least 0 and below 1, but is {reject_rate!r}.")
    # A new one comes below the k-th of n with probability k / (n + 1), or less with ties.
    rank = min(math.floor(reject_rate * (len(confidence) + 1) + ROUNDING), len(confidence))
    return float(np.sort(confidence)[rank - 1]) if rank else -math.inf


def certified_threshold(
    confidence, correct, max_error: float, confidence_level: float = 0.95
) -> float:
    """Return a low threshold above which the error is small, with a promise.

    Parameters
    ----------
    confidence : array-like of shape (n_samples,)
        Confidences of predictions for rows that were not trained on, drawn independently
        from where future rows come from.
    correct : array-like of bool of shape (n_samples,)
        Whether these predictions were right.
    max_error : float
        The error to be promised among accepted predictions, between 0 and 1.
    confidence_level : float, default=0.95
        The probability, over draws of the calibration rows, with which the promise is
        kept. A larger one costs accepted predictions.

    Returns
    -------
    float
        A prediction is accepted if its confidence is at least this. With probability
        `confidence_level` or more the error of accepted predictions is at most
        `max_error`, whatever the distribution of rows and however error depends on
        confidence. Minus infinity accepts everything, infinity nothing: no threshold
        could be certified.

    Notes
    -----
    A tenth of the rows (300 at most, chosen without looking) say which thresholds are
    tried, nothing else; so they are fixed numbers for the others. Of those, the errors
    among the accepted are binomial, given how many are accepted, which gives an exact test
    of each threshold. Tests go from high thresholds to low ones in a chain (the fallback
    procedure): some thresholds are given a part of 1 - confidence_level, each that is
    certified hands what it had to the next, and each that is not keeps it.

    References
    ----------
    Geifman, El-Yaniv (2017), Selective Classification for Deep Neural Networks. Angelopoulos,
    Bates, Candès, Jordan, Lei (2025), Learn then Test. Wiens (2003), A Fixed Sequence
    Bonferroni Procedure for Testing Multiple Endpoints.

    Examples
    --------
    >>> import numpy as np
    >>> from bayespoint.classifiers.reject.thresholds import certified_threshold
    >>> rng = np.random.default_rng(0)
    >>> confidence = rng.uniform(0.5, 1, 2000)
    >>> correct = rng.random(2000) < confidence
    >>> round(certified_threshold(confidence, correct, max_error=0.1), 3)
    0.867
    """
    confidence = _confidences(confidence)
    correct = column_or_1d(np.asarray(correct))
    check_consistent_length(confidence, correct)
    if not np.isin(correct, (0, 1)).all():
        raise ValueError("correct should say True or False for each prediction, but has others.")
    for name, value in (("max_error", max_error), ("confidence_level", confidence_level)):
        if not 0 < value < 1:
            raise ValueError(f"{name} should be between 0 and 1, but is {value!r}.")
    pilot = _pilot(len(confidence))
    thresholds = np.append(np.sort(confidence[pilot])[::-1], -np.inf)
    chance = _chances(len(confidence), int(pilot.sum()), max_error, 1 - confidence_level)
    accepted, wrong = _count(thresholds, confidence[~pilot], ~correct[~pilot].astype(bool))
    # The probability of so few errors or fewer, if the error were larger than promised.
    p_value = np.where(accepted > 0, bdtr(wrong, np.maximum(accepted, 1), max_error), 1.0)
    return _lowest_certified(thresholds, p_value, chance)


def fewest_rows(max_error: float, confidence_level: float) -> int:
    """Return how many rows a certificate needs at least, if none of them is wrong."""
    needed = math.log1p(-confidence_level) / math.log1p(-max_error)
    rows = math.ceil(needed)
    while rows - _pilot_size(rows) < needed:
        rows += 1
    return rows


def _confidences(confidence) -> np.ndarray:
    """Return confidences as numbers, of which there is at least one."""
    confidence = column_or_1d(np.asarray(confidence, dtype=float))
    if not len(confidence) or np.isnan(confidence).any():
        raise ValueError(
            "confidence should be a number for each of at least one prediction, but it is "
            + ("empty." if not len(confidence) else "NaN for some.")
        )
    return confidence


def _pilot_size(n_rows: int) -> int:
    return min(int(PILOT_SHARE * n_rows), PILOT_LIMIT)


def _pilot(n_rows: int) -> np.ndarray:
    """Mark the rows that say which thresholds are tried, whatever order rows come in."""
    marked = np.zeros(n_rows, dtype=bool)
    marked[np.random.default_rng(0).choice(n_rows, _pilot_size(n_rows), replace=False)] = True
    return marked


def _chances(n_rows: int, n_pilot: int, max_error: float, risk: float) -> np.ndarray:
    """Share the risk of a broken promise out to the thresholds at which chains start."""
    n_rest = n_rows - n_pilot

    def first(n_starts: int) -> float:
        return FIRST_START * math.log(risk / n_starts) / math.log1p(-max_error)

    n_starts = 1
    while first(n_starts + 1) * START_RATIO**n_starts <= n_rest:
        n_starts += 1
    wished = np.minimum(first(n_starts) * START_RATIO ** np.arange(n_starts), n_rest)
    expected = n_rest * np.arange(1, n_pilot + 2) / (n_pilot + 1)
    starts = np.unique(np.searchsorted(expected, wished * (1 - ROUNDING)))
    chance = np.zeros(n_pilot + 1)
    chance[starts] = risk / len(starts)
    return chance


def _count(thresholds, confidence, wrong) -> tuple[np.ndarray, np.ndarray]:
    """Return how many predictions each threshold accepts, and how many of them are wrong."""
    order = np.argsort(-confidence)
    accepted = np.searchsorted(-confidence[order], -thresholds, side="right")
    errors = np.append(0, np.cumsum(wrong[order]))
    return accepted, errors[accepted].astype(float)


def _lowest_certified(thresholds, p_value, chance) -> float:
    """Go down the thresholds; a certified one hands on what it had."""
    lowest, risk = math.inf, 0.0
    for threshold, p, own in zip(thresholds, p_value, chance, strict=True):
        risk += own
        if p <= risk:
            lowest = float(threshold)
        else:
            risk = 0.0
    return lowest
