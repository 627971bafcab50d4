"""Bounds from the capacity of a class of classifiers: VC and fat-shattering dimension."""

from __future__ import annotations

import math

import numpy as np
from scipy.special import gammaln, logsumexp

from ._checks import count, positive, sampling_risk, share

# Try this many numbers of voters, and take the smallest bound of a vote.
_N_VOTES_TRIED = 400


def vc_bound(
    training_error: float,
    n_samples: int,
    vc_dimension: int,
    *,
    confidence: float = 0.95,
    constant: float | None = None,
) -> float:
    """Return the Vapnik-Chervonenkis bound on the error of a classifier.

    Parameters
    ----------
    training_error : float
        Share of the training points that the classifier gets wrong.
    n_samples : int
        Number of training points, independent draws of the distribution.
    vc_dimension : int
        VC dimension of the class that the classifier was chosen from; n_features + 1 for
        hyperplanes with an intercept.
    confidence : float, default=0.95
        Probability, over training sets, with which the bound holds for all classifiers of
        the class at once.
    constant : float, default=None
        The constant c of 004, eq. 1.31, which is not known. By default a bound with all
        constants is returned.

    Returns
    -------
    float
        Upper limit of the error, at most 1.

    Notes
    -----
    Let d = 1 - confidence, and G the number of ways to label 2 m points, at most the sum of
    binomials (2 m over i) for i up to the VC dimension h. The bound is training error + 1 / m
    + sqrt((m + 1) ln(2 G / d)) / m. The proof is in docs/notes/bounds.md. With a constant it is
    training error + sqrt(c / m (h + ln(1 / d))).

    References
    ----------
    Vapnik (1998), Statistical Learning Theory, ch. 4; 004, theorem 1.2.

    Examples
    --------
    >>> from bayespoint.bounds import vc_bound
    >>> round(vc_bound(0.1, 10_000, 3), 3)
    0.156
    """
    share("training_error", training_error)
    count("vc_dimension", vc_dimension)
    risk = sampling_risk(n_samples, confidence, constant)
    if constant is None:
        log_ways = log_growth(vc_dimension, 2 * n_samples)
        excess = float(uniform_deviation(n_samples, log_ways + math.log(1 / risk)))
    else:
        excess = math.sqrt(constant / n_samples * (vc_dimension + math.log(1 / risk)))
    return min(1.0, training_error + excess)


def fat_shattering_dimension(margin: float, radius: float) -> int:
    """Return an upper limit of the fat-shattering dimension of linear classifiers.

    Parameters
    ----------
    margin : float
        The margin by which outputs have to be on the right side.
    radius : float
        Length of the longest point; weights have length one.

    Returns
    -------
    int
        The largest number of points that can be labeled in all ways with this margin:
        (radius / margin)^2 for any number of features. Orthogonal points attain it.

    References
    ----------
    Bartlett, Shawe-Taylor (1999); 004, eq. 1.44.

    Examples
    --------
    >>> from bayespoint.bounds import fat_shattering_dimension
    >>> fat_shattering_dimension(0.25, radius=1.0)
    16
    """
    positive("margin", margin)
    positive("radius", radius)
    # (1 / 0.2)^2 must be 25, not 24.999: an upper limit may be too large, but not too small.
    return math.floor((radius / margin) ** 2 * (1 + 4 * np.finfo(float).eps))


def margin_bound(
    margin: float,
    radius: float,
    n_samples: int,
    margin_error: float = 0.0,
    *,
    confidence: float = 0.95,
    constant: float | None = None,
) -> float:
    """Return a bound on the error of linear classifiers from a margin.

    Parameters
    ----------
    margin : float
        y <w, x> for weights of length one, at most the radius. It may depend on the data.
    radius : float
        Upper limit of the length of all points, also new ones; 1 for `normalized_margins`.
    n_samples : int
        Number of training points, independent draws of the distribution.
    margin_error : float, default=0.0
        Share of the training points with a smaller margin.
    confidence : float, default=0.95
        Probability, over training sets, with which the bound holds for all weights and
        margins at once.
    constant : float, default=None
        The constant c of 004, eqs. 1.45 and 1.46, which is not known. By default a bound with
        all constants is returned, which is below 1 only from several hundred thousand points on.

    Returns
    -------
    float
        Upper limit of the error, at most 1.

    Notes
    -----
    Let q = (R / margin)^2 ln(m R / margin)^2 + ln(1 / d) with d = 1 - confidence. With a
    constant, the bound is c q / m if no training point has a smaller margin, otherwise
    margin_error + sqrt(c q / m). 004 has ln(m / margin), which depends on the unit of length.
    Without a constant, theorems 1.4, 1.5 and 1.7 are combined, for the next smaller margin
    among R, R / 2, R / 4, ...

    References
    ----------
    004, theorem 1.8; Anthony, Bartlett (1999), Neural Network Learning, ch. 10-14.

    Examples
    --------
    >>> from bayespoint.bounds import margin_bound
    >>> round(margin_bound(0.5, 1.0, 10_000_000), 3)
    0.145
    >>> margin_bound(0.5, 1.0, 1000)
    1.0
    """
    risk = _margin_risk(n_samples, margin_error, confidence, constant)
    _check_margin(margin, radius)
    if constant is None:
        return _explicit_margin_bound(margin / radius, n_samples, margin_error, risk)
    ratio = radius / margin
    mean = constant / n_samples * (ratio**2 * math.log(n_samples * ratio) ** 2 - math.log(risk))
    return min(1.0, margin_error + math.sqrt(mean) if margin_error else mean)


def convex_combination_bound(
    margin: float,
    n_samples: int,
    vc_dimension: int,
    margin_error: float = 0.0,
    *,
    confidence: float = 0.95,
    constant: float | None = None,
) -> float:
    """Return a bound on the error of a weighted vote of classifiers.

    Parameters
    ----------
    margin : float
        Between 0 and 1: the share of votes for the right class minus the share for the wrong
        one. It may depend on the data.
    n_samples : int
        Number of training points, independent draws of the distribution.
    vc_dimension : int
        VC dimension of the class that the voters were chosen from.
    margin_error : float, default=0.0
        Share of the training points with a smaller margin.
    confidence : float, default=0.95
        Probability, over training sets, with which the bound holds for all votes and
        margins at once.
    constant : float, default=None
        The constant c of 004, eq. 1.50, which is not known. By default a bound with all
        constants is returned.

    Returns
    -------
    float
        Upper limit of the error, at most 1.

    Notes
    -----
    The number of voters does not matter (proof in docs/notes/bounds.md). With a constant:
    margin_error + sqrt(c / m (h ln(m / h)^2 / margin^2 + ln(1 / (1 - confidence)))).

    References
    ----------
    Schapire, Freund, Bartlett, Lee (1998), Boosting the margin, Annals of Statistics 26;
    004, theorem 1.10.

    Examples
    --------
    >>> from bayespoint.bounds import convex_combination_bound
    >>> round(convex_combination_bound(0.5, 100_000, 2, margin_error=0.05), 3)
    0.257
    """
    share("margin", margin)
    positive("margin", margin)
    count("vc_dimension", vc_dimension)
    risk = _margin_risk(n_samples, margin_error, confidence, constant)
    if constant is None:
        excess = _vote_excess(margin, n_samples, vc_dimension, risk)
    else:
        capacity = _vote_capacity(n_samples, vc_dimension) / margin**2
        excess = math.sqrt(constant / n_samples * (capacity + math.log(1 / risk)))
    return min(1.0, margin_error + excess)


def _margin_risk(n_samples: int, margin_error: float, confidence: float, constant: float | None):
    """Check the arguments of both margin bounds; return the probability that they fail."""
    share("margin_error", margin_error)
    return sampling_risk(n_samples, confidence, constant)


def _check_margin(margin: float, radius: float) -> None:
    """Refuse margins that no weights of length one have."""
    positive("margin", margin)
    positive("radius", radius)
    if margin > radius:
        raise ValueError(
            f"margin should be at most the radius, {radius:g}, but is {margin:g}: no weights of "
            "length one have a larger margin. Divide it by the length of the weights."
        )


def _vote_capacity(m: int, vc_dimension: int) -> float:
    """Return h ln(m / h)^2."""
    if vc_dimension > m:
        raise ValueError(
            f"With a constant, vc_dimension should be at most n_samples = {m}, but is "
            f"{vc_dimension}."
        )
    return vc_dimension * math.log(m / vc_dimension) ** 2


def _vote_excess(margin: float, m: int, vc_dimension: int, risk: float) -> float:
    """Return the excess of the error over the margin error, for the best number of voters."""
    log_ways = log_growth(vc_dimension, 2 * m)
    largest = 1 + 8 / margin**2 * math.log(2 * m)  # then chance is 1 / m
    votes = np.unique(np.geomspace(1, largest, _N_VOTES_TRIED).round())
    # N voters get the share 1 / (N (N + 1)) of the risk; N + 1 thresholds divide it equally.
    log_events = votes * log_ways + np.log(votes * (votes + 1) ** 2 / risk)
    excess = uniform_deviation(m, log_events) + 2 * np.exp(-votes * margin**2 / 8)
    return float(excess.min())


def log_growth(vc_dimension: int, n_points: int) -> float:
    """Return the logarithm of Sauer's limit on the number of ways to label points."""
    if vc_dimension >= n_points:
        return n_points * math.log(2)
    i = np.arange(vc_dimension + 1)
    return float(logsumexp(gammaln(n_points + 1) - gammaln(i + 1) - gammaln(n_points - i + 1)))


def uniform_deviation(m: int, log_events):
    """Bound the excess of errors over training errors, for events counted on 2 m points."""
    return 1 / m + np.sqrt((m + 1) * (math.log(2) + log_events)) / m


def _explicit_margin_bound(margin: float, m: int, margin_error: float, risk: float) -> float:
    """Return 004's theorem 1.5 with 1.4 and 1.7, for points of length one at most."""
    step = max(0, math.ceil(-math.log2(margin) - 1e-12))  # margins that are powers of two, too
    margin, risk = 2.0**-step, risk / 2 ** (step + 1)
    dimension = fat_shattering_dimension(margin / 8, 1.0)
    if dimension > 2 * m:  # beyond theorem 1.4, where the bound would be far above 1
        return 1.0
    log2_cover = 3 * dimension * math.log2(32 * math.e * m / margin) ** 2
    # Half of the risk is for the case without margin errors, half for the case with them.
    log2_events = log2_cover + math.log2(4 / risk)
    if margin_error == 0:
        return min(1.0, 2 / m * log2_events)
    return min(1.0, margin_error + math.sqrt(8 / m * log2_events * math.log(2)))
