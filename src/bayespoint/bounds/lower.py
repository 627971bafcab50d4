"""How much worse than the best classifier any learning algorithm must be."""

from __future__ import annotations

import math

import numpy as np
from scipy import optimize, stats

from ._checks import count, sampling_risk

# Try this many advantages of the more probable label, in units of sqrt(h / m), and take the
# one that hurts most. Any of them gives a valid bound.
_N_ADVANTAGES_TRIED = 60
# Numbers of samples of a point that are this many standard deviations away are left out.
_MAX_DEVIATIONS = 8


def vc_lower_bound(
    n_samples: int,
    vc_dimension: int,
    *,
    confidence: float = 0.95,
    constant: float | None = None,
) -> float:
    """Return how far from the best classifier every learner can end up.

    Parameters
    ----------
    n_samples : int
        Number of training points, independent draws of the distribution.
    vc_dimension : int
        VC dimension of the class that the classifier is chosen from.
    confidence : float, default=0.95
        For every learning algorithm there is a distribution of points and labels for which
        the excess is at least the returned number with probability 1 - confidence. So no
        algorithm can promise less with more confidence.
    constant : float, default=None
        The constant c of 004, eq. 1.33, which is not known. By default a bound with all
        constants is returned.

    Returns
    -------
    float
        The excess: error of the classifier minus the smallest error in the class.

    Notes
    -----
    Labels are noisy: the more probable one leads by an advantage a, and no learner does better
    than the majority. With a single point, a wrong majority costs a. With h points that the
    class labels in all ways, the mean share q of wrong majorities is a sum of binomials, and a
    share of at least (q - d) / (1 - d) has probability d = 1 - confidence. The largest of these
    excesses is returned (proof in docs/notes/bounds.md). With a constant it is
    sqrt(c / m (h + ln(1 / d))).

    References
    ----------
    004, theorem 1.3; Anthony, Bartlett (1999), Neural Network Learning, ch. 5.

    Examples
    --------
    >>> from bayespoint.bounds import vc_lower_bound
    >>> round(vc_lower_bound(10_000, 3), 4), round(vc_lower_bound(10_000, 300), 4)
    (0.0164, 0.0247)
    """
    count("vc_dimension", vc_dimension)
    risk = sampling_risk(n_samples, confidence, constant)
    if constant is not None:
        return min(1.0, math.sqrt(constant / n_samples * (vc_dimension - math.log(risk))))
    return max(_one_point(n_samples, risk), _many_points(n_samples, vc_dimension, risk))


def wrong_majority(n_samples, advantage) -> np.ndarray:
    """Return how often the less probable label has the majority; half of the ties count."""
    law = stats.binom(n_samples, (1 - np.asarray(advantage)) / 2)
    half = np.asarray(n_samples) / 2
    return law.sf(half) + law.pmf(half) / 2  # the probability of half a sample is zero


def _one_point(m: int, risk: float) -> float:
    """Return the largest advantage that leads to a wrong majority with this probability."""
    if risk >= 1 / 2:
        return 0.0
    return float(optimize.brentq(lambda a: wrong_majority(m, a) - risk, 0.0, 1.0))


def _many_points(m: int, h: int, risk: float) -> float:
    """Return the excess on h points of the same probability, for the worst advantage tried."""
    mean, deviation = m / h, math.sqrt(m / h * (1 - 1 / h))
    low = max(0, math.floor(mean - _MAX_DEVIATIONS * deviation))
    samples = np.arange(low, min(m, math.ceil(mean + _MAX_DEVIATIONS * deviation) + 1) + 1)
    shares = stats.binom(m, 1 / h).pmf(samples)
    advantages = np.minimum(1.0, math.sqrt(h / m) * np.geomspace(0.05, 5, _N_ADVANTAGES_TRIED))
    wrong = [shares @ wrong_majority(samples, a) for a in advantages]
    return max(0.0, float(np.max(advantages * (np.array(wrong) - risk) / (1 - risk))))
