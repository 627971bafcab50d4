"""Correct p-values for looking many times."""

from __future__ import annotations

import numpy as np


def holm(p_values) -> np.ndarray:
    """Return p-values corrected for many tests by Holm's method.

    Whatever the tests have to do with each other: if nothing is to be found, the chance that any
    corrected p-value is below a level is at most the level.

    Parameters
    ----------
    p_values : array-like of shape (n_tests,)
        One for each test that was made, also for those that found nothing.

    Returns
    -------
    ndarray of shape (n_tests,)

    References
    ----------
    Holm (1979), A simple sequentially rejective multiple test procedure, Scandinavian Journal
    of Statistics 6.

    Examples
    --------
    >>> from bayespoint.evaluation.holm import holm
    >>> holm([0.5, 0.01, 0.03]).tolist()
    [0.5, 0.03, 0.06]
    """
    p_values = np.asarray(p_values, dtype=float)
    order = np.argsort(p_values, kind="stable")
    factors = np.arange(len(p_values), 0, -1)
    corrected = np.empty(len(p_values))
    corrected[order] = np.minimum(np.maximum.accumulate(p_values[order] * factors), 1)
    return corrected
