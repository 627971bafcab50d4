"""From confidences of held-out predictions to a threshold below which they are rejected."""

from __future__ import annotations

import math

import numpy as np
from scipy.special import bdtr
from sklearn.utils.validation import check_consistent_length, column_or_1d

from .chain import ROUNDING_TOLERANCE, make_chain, pilot_size
from .confidence import check_confidence
from .promise import Promise

__all__ = ["certified_threshold", "fewest_rows", "reject_threshold"]


def reject_threshold(confidence, reject_rate: float) -> float:
    """Return the threshold that rejects a given share of predictions.

    Parameters
    ----------
    confidence : array-like of shape (n_samples,)
        Confidences of predictions for rows that were not trained on.
    reject_rate : float
        The share to reject, at least 0 and less than 1.

    Returns
    -------
    float
        A prediction is accepted if its confidence is at least this. A new prediction is
        rejected with a probability between `reject_rate` - 1 / (n_samples + 1) and
        `reject_rate`; with less if many confidences are equal, because these are rejected
        together or not at all. Minus infinity rejects nothing.

    Examples
    --------
    >>> from bayespoint.classifiers.reject.thresholds import reject_threshold
    >>> reject_threshold([0.9, 0.6, 0.7, 0.8], reject_rate=0.5)
    0.7
    """
    confidence = check_confidence(confidence)
    if not 0 <= reject_rate < 1:
        raise ValueError(f"reject_rate should be at least 0 and below 1, but is {reject_rate!r}.")
    # A new value falls below the k-th of n with probability k / (n + 1), or less with ties.
    rank = math.floor(reject_rate * (len(confidence) + 1) + ROUNDING_TOLERANCE)
    rank = min(rank, len(confidence))
    return float(np.sort(confidence)[rank - 1]) if rank else -math.inf


def certified_threshold(
    confidence, correct, max_error: float, confidence_level: float = 0.95
) -> float:
    """Return a low threshold that guarantees a small error.

    Parameters
    ----------
    confidence : array-like of shape (n_samples,)
        Confidences of predictions for rows that were not trained on, drawn independently
        from the source of future rows.
    correct : array-like of bool of shape (n_samples,)
        Whether these predictions were right.
    max_error : float
        The error to promise among accepted predictions, between 0 and 1.
    confidence_level : float, default=0.95
        The probability, over draws of these rows, with which the promise is kept. A larger
        value accepts fewer predictions.

    Returns
    -------
    float
        Accept predictions with at least this confidence; their error is then at most
        `max_error`, however error depends on confidence. Minus infinity accepts everything.
        Infinity accepts nothing: no threshold can be certified.

    Notes
    -----
    A tenth of the rows (at most 300) only picks the thresholds to test. Given the number of
    accepted rows among the others, their errors are binomial, so each test is exact. Tests
    run from high thresholds to low ones (the fallback procedure): 1 - confidence_level is
    divided among some thresholds, and each that is certified passes its part to the next.

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
    confidence = check_confidence(confidence)
    wrong = ~_check_correct(correct, confidence)
    _check_promise(max_error, confidence_level)
    tests = make_chain(
        confidence,
        [Promise("error", max_error, wrong, np.ones(len(wrong), dtype=bool))],
        1 - confidence_level,
    )
    return tests.lowest_certified(1 - confidence_level)[0]


def fewest_rows(max_error: float, confidence_level: float) -> int:
    """Return how many rows `certified_threshold` needs if no prediction is wrong.

    Examples
    --------
    >>> from bayespoint.classifiers.reject.thresholds import fewest_rows
    >>> fewest_rows(0.05, 0.95), fewest_rows(0.01, 0.95)
    (65, 332)
    """
    # Without the pilot rows, (1 - max_error)^n <= 1 - confidence_level would be enough.
    rows = max(1, math.floor(math.log1p(-confidence_level) / math.log1p(-max_error)))
    while bdtr(0, max(rows - pilot_size(rows), 1), max_error) > 1 - confidence_level:
        rows += 1
    return rows


def why_nothing_is_certified(n_rows: int, max_error: float, confidence_level: float) -> str:
    """Return the warning for an infinite `certified_threshold`."""
    fewest = fewest_rows(max_error, confidence_level)
    if n_rows < fewest:
        reason = (
            f"There are {n_rows} calibration rows, but at least {fewest} are needed even if none "
            "of them is wrong."
        )
    else:
        reason = (
            f"Even among the surest answers to the {n_rows} calibration rows too many are wrong."
        )
    return (
        f"No threshold can promise an error of at most {max_error} with probability "
        f"{confidence_level}, so everything is rejected. {reason} Give more rows "
        "(calibration_size, cv), a larger max_error or a smaller confidence_level."
    )


def _check_correct(correct, confidence) -> np.ndarray:
    """Return a bool for each prediction."""
    correct = column_or_1d(np.asarray(correct))
    check_consistent_length(confidence, correct)
    if not np.isin(correct, (0, 1)).all():
        raise ValueError("correct should be True or False for each prediction, but is not.")
    return correct.astype(bool)


def _check_promise(max_error: float, confidence_level: float) -> None:
    for name, value in (("max_error", max_error), ("confidence_level", confidence_level)):
        if not 0 < value < 1:
            raise ValueError(f"{name} should be between 0 and 1, but is {value!r}.")
