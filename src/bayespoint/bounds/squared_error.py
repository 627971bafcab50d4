"""A bound on the mean squared error of functions, such as the Brier score of probabilities."""

from __future__ import annotations

import math
from collections.abc import Callable

from ._checks import at_risk, count, share

# Halve the interval around the bound this many times: to full precision.
_N_HALVINGS = 60


def squared_error_bound(
    training_error: float,
    n_samples: int,
    fat_dimension: int | Callable[[float], float],
    *,
    confidence: float = 0.95,
) -> float:
    """Return a bound on the mean squared error of a function with values in [0, 1].

    Parameters
    ----------
    training_error : float
        Mean of (y - f(x))^2 over the training points, for y and f(x) between 0 and 1. For the
        probability of the second of two classes it is the Brier score.
    n_samples : int
        Number of training points, independent draws of the distribution.
    fat_dimension : int or callable
        Fat-shattering dimension of the functions that f was chosen from. If it depends on the
        scale, a function of the scale, such as
        ``lambda scale: fat_shattering_dimension(2 * scale, 1.0)`` for f(x) = (1 + <w, x>) / 2
        with |w| and |x| at most one.
    confidence : float, default=0.95
        Probability, over training sets, with which the bound holds for all functions at once.

    Returns
    -------
    float
        Upper limit of the mean squared error, at most 1. It is below 1 from 200,000 points on
        with a dimension of 3, and from a hundred million on for linear functions of any number
        of features.

    Notes
    -----
    The training error plus the smallest e with 4 N(e / 16, 2 m) exp(-e^2 m / 32) <= 1 -
    confidence. The covering number N(s, m) is at most 2^(3 fat(s / 4) log2(4 e m / s)^2) where
    m is at least fat(s / 4) (004, theorem 1.4).

    References
    ----------
    004, theorem 1.6; Anthony, Bartlett (1999), Neural Network Learning, theorem 17.1.

    Examples
    --------
    >>> from bayespoint.bounds import squared_error_bound
    >>> round(squared_error_bound(0.1, 10_000_000, 3), 3)
    0.254
    """
    share("training_error", training_error)
    count("n_samples", n_samples)
    if not callable(fat_dimension):
        count("fat_dimension", fat_dimension)
    return min(
        1.0, training_error + _smallest_excess(n_samples, fat_dimension, at_risk(confidence))
    )


def _smallest_excess(m: int, fat_dimension, risk: float) -> float:
    """Return the smallest excess whose probability is at most the risk, at most 1."""

    def holds(excess: float) -> bool:
        dimension = fat_dimension(excess / 64) if callable(fat_dimension) else fat_dimension
        return _log_probability(excess, m, float(dimension)) <= math.log(risk)

    low, high = 0.0, 1.0
    if not holds(high):
        return 1.0
    for _ in range(_N_HALVINGS):
        middle = (low + high) / 2
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high


def _log_probability(excess: float, m: int, dimension: float) -> float:
    """Return 004's eq. 1.42 with eq. 1.39, as a logarithm; infinite where 1.39 does not apply."""
    if dimension > 2 * m:
        return math.inf
    log2_cover = 3 * dimension * math.log2(128 * math.e * m / excess) ** 2
    return math.log(4) + math.log(2) * log2_cover - excess**2 * m / 32
