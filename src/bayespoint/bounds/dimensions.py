"""Capacities of linear classifiers that have a margin."""

from __future__ import annotations

import math

import numpy as np

from ._checks import count, positive

# (1 / 0.2)^2 must be 25, not 24.999: an upper limit may be too large, but not too small.
_ROUNDING = 1 + 4 * np.finfo(float).eps


def vc_dimension_with_margin(
    margin: float, radius: float, n_features: int | None = None, *, fit_intercept: bool = True
) -> int:
    """Return an upper limit of the VC dimension of hyperplanes with a margin.

    Parameters
    ----------
    margin : float
        Distance that all points have from the hyperplane, also new ones.
    radius : float
        Length of the longest point.
    n_features : int, default=None
        Number of features; None if it is not known.
    fit_intercept : bool, default=True
        Whether hyperplanes need not pass through the origin.

    Returns
    -------
    int
        The largest number of points that can be labeled in all ways: min((radius / margin)^2,
        n_features), and one more with an intercept. The corners of a regular simplex attain
        it; without an intercept, orthogonal points do.

    Notes
    -----
    It is no argument for `vc_bound`: that future points keep the margin, too, is not known.
    `margin_bound` does not need it. 004 has the intercept in eq. 1.35 but not in eq. 1.34.

    References
    ----------
    Vapnik (1979); 004, eq. 1.35.

    Examples
    --------
    >>> from bayespoint.bounds import vc_dimension_with_margin
    >>> vc_dimension_with_margin(0.5, 1.0), vc_dimension_with_margin(0.5, 1.0, 2)
    (5, 3)
    """
    positive("margin", margin)
    positive("radius", radius)
    largest = math.floor((radius / margin) ** 2 * _ROUNDING)
    if n_features is not None:
        count("n_features", n_features)
        largest = min(largest, n_features)
    return largest + bool(fit_intercept)


def l1_fat_shattering_dimension(
    margin: float,
    n_features: int,
    *,
    weight: float = 1.0,
    size: float = 1.0,
    constant: float | None = None,
) -> int:
    """Return a limit of the fat-shattering dimension for weights of bounded sum.

    It belongs to linear programs: `LinearMarginSVC("linf")`, or a vote of classifiers.

    Parameters
    ----------
    margin : float
        The margin by which outputs have to be on the right side.
    n_features : int
        Number of features, or of voters.
    weight : float, default=1.0
        Upper limit of the sum of the absolute weights.
    size : float, default=1.0
        Upper limit of the absolute value of each feature.
    constant : float, default=None
        The constant c of 004, eq. 1.48, which is not known. By default a limit with all
        constants is returned.

    Returns
    -------
    int
        The largest number of points that can be labeled in all ways with this margin is at most
        2 (weight size / margin)^2 ln(2 n_features), and at most n_features. With a constant,
        the limit is c (weight size / margin)^2 ln(2 n_features + 2).

    Notes
    -----
    If k points can be, then for all signs some feature has |sum_i y_i x_i| >= k margin / weight.
    By Hoeffding's inequality random signs achieve this with probability at most
    2 n exp(-k margin^2 / (2 weight^2 size^2)), which must be at least one.

    References
    ----------
    004, theorem 1.9.

    Examples
    --------
    >>> from bayespoint.bounds import fat_shattering_dimension, l1_fat_shattering_dimension
    >>> l1_fat_shattering_dimension(0.1, 10_000)  # points of 10,000 features up to 1
    1980
    >>> fat_shattering_dimension(0.1, radius=100.0)  # the same points, weights of length one
    1000000
    """
    for name, value in (("margin", margin), ("weight", weight), ("size", size)):
        positive(name, value)
    count("n_features", n_features)
    ratio = (weight * size / margin) ** 2 * _ROUNDING
    if constant is not None:
        positive("constant", constant)
        return math.floor(constant * ratio * math.log(2 * n_features + 2))
    return min(n_features, math.floor(2 * ratio * math.log(2 * n_features)))
