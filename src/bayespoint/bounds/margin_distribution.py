"""Bounds from the margins of all training points, not only the smallest margin."""

from __future__ import annotations

import math

import numpy as np

from ._checks import at_least, at_risk, not_negative, positive, vector
from .hyperplane import as_kernel_machine, hyperplane

# If no margin is given, try this many margins and take the smallest bound.
_N_MARGINS_TRIED = 200


def margin_distribution_bound(
    margins, *, radius: float = 1.0, margin: float | None = None, confidence: float = 0.95
) -> float:
    """Return a bound on the error of a linear classifier from all its margins.

    Parameters
    ----------
    margins : array-like of shape (n_samples,)
        y <w, x> of the training points, independent draws of the distribution, for weights
        of length one and without intercept: `normalized_margins(model, X, y)`.
    radius : float, default=1.0
        Upper limit of the length of all points, also new ones; 1 for `normalized_margins`.
    margin : float, default=None
        The margin to attain, at most the largest margin of the training points. By default
        the margin with the smallest bound, which the theorem allows.
    confidence : float, default=0.95
        Probability, over training sets, with which the bound holds for all weights and
        margins at once. The kernel must not depend on the data.

    Returns
    -------
    float
        Upper limit of the error, at most 1. Even if all points have the largest possible
        margin, it is below 1 only from about 40,000 points on.

    Notes
    -----
    Let D be the root of the sum of squared shortfalls of the margins, kappa = floor(65
    ((R + D)^2 + 2.25 R D) / margin^2), and d = 1 - confidence. The bound is 2 / m (kappa
    log2(8 e m / kappa) log2(32 m) + log2(2 m (28 + log2 m) / d)). If m < 6 or kappa > e m, the
    theorem does not apply, and 1 is returned.

    References
    ----------
    Shawe-Taylor, Cristianini (1998), Robust bounds on generalization from the margin
    distribution, NeuroCOLT NC2-TR-1998-029; 004, theorem 2.1.

    Examples
    --------
    >>> import numpy as np
    >>> from bayespoint.bounds import margin_distribution_bound
    >>> round(margin_distribution_bound(np.full(1_000_000, 0.9)), 3)
    0.072
    """
    margins = vector("margins", margins)
    positive("radius", radius)
    risk = at_risk(confidence)
    largest = margins.max()
    if not 0 < largest <= radius * (1 + 1e-12):  # rounding
        raise ValueError(
            f"The largest margin should be positive and at most the radius, {radius:g}, but is "
            f"{largest:.3g}. Divide margins by the length of the weights, and check their signs."
        )
    tried = _margins_to_try(margin, largest)
    short = [np.linalg.norm(np.maximum(0, t - margins)) for t in tried]
    capacity = [
        65 * ((radius + d) ** 2 + 2.25 * radius * d) / t**2
        for t, d in zip(tried, short, strict=True)
    ]
    return _bound(min(capacity), len(margins), risk)


def _margins_to_try(margin: float | None, largest: float) -> np.ndarray:
    """Return the given margin, or a grid up to the largest one."""
    if margin is None:
        return np.geomspace(largest / 1000, largest, _N_MARGINS_TRIED)
    positive("margin", margin)
    if margin > largest:
        raise ValueError(
            f"margin should be attained by a training point, at most {largest:.3g}, but is "
            f"{margin:.3g}."
        )
    return np.array([margin])


def adaptive_margin_bound(
    slacks,
    alphas,
    diagonal,
    norm: float,
    *,
    adaptivity: float = 1.0,
    radius: float = 1.0,
    confidence: float = 0.95,
) -> float:
    """Return a bound on the error of an adaptive-margin SVM.

    Parameters
    ----------
    slacks, alphas : array-like of shape (n_samples,)
        A feasible solution, not negative: y f(x) >= 1 - slack + adaptivity alpha k(x, x).
    diagonal : array-like of shape (n_samples,)
        k(x, x) of the training points.
    norm : float
        Length of the weights in feature space.
    adaptivity : float, default=1.0
        Lambda of 004, eq. 2.11.
    radius : float, default=1.0
        Upper limit of the length in feature space of all points, including new ones.
    confidence : float, default=0.95
        Probability, over training sets, with which the bound holds for all solutions.

    Returns
    -------
    float
        Upper limit of the error, at most 1.

    Notes
    -----
    `margin_distribution_bound` with margin 1 / norm, D from slack - adaptivity alpha k(x, x),
    and kappa = 65 (norm R + 3 D)^2, a little larger. Some training point must have margin 1.

    References
    ----------
    004, theorem 2.2.

    Examples
    --------
    >>> import numpy as np
    >>> from bayespoint.bounds import adaptive_margin_bound
    >>> m = 1_000_000
    >>> round(adaptive_margin_bound(np.zeros(m), np.ones(m), np.ones(m), norm=2.0), 3)
    0.212
    """
    slacks = not_negative("slacks", vector("slacks", slacks))
    alphas = not_negative("alphas", vector("alphas", alphas, len(slacks)))
    diagonal = not_negative("diagonal", vector("diagonal", diagonal, len(slacks)))
    positive("norm", norm)
    positive("radius", radius)
    at_least("adaptivity", adaptivity, 0)
    shortfall = _shortfall(slacks, adaptivity * alphas * diagonal)
    capacity = 65 * (norm * radius + 3 * shortfall) ** 2
    return _bound(capacity, len(slacks), at_risk(confidence))


def _shortfall(slacks: np.ndarray, adapted: np.ndarray) -> float:
    """Return D, the root of the sum of squared shortfalls of margins from 1."""
    short = np.maximum(0, slacks - adapted)
    if short.min() > 0:
        raise ValueError(
            "A training point should have slack <= adaptivity alpha k(x, x), that is y f(x) >= 1, "
            "but none has: the theorem does not apply to this solution."
        )
    return float(np.linalg.norm(short))


def adaptive_margin_certificate(
    model, X, y, *, radius: float | None = None, confidence: float = 0.95
) -> float:
    """Return a bound on the error of a fitted `AdaptiveMarginSVC`.

    Parameters
    ----------
    model : classifier
        Fitted to two classes, without intercept, with `adaptivity`, `support_` and
        `dual_coef_`.
    X, y : array-like
        The points and classes that it was fitted to, all of them.
    radius : float, default=None
        Upper limit of the length in feature space of all points, including new ones.
        Not needed if all points have the same length (rbf, laplacian, normalized).
    confidence : float, default=0.95
        Probability, over training sets, with which the bound holds. The kernel must not
        depend on the data.

    Returns
    -------
    float
        `adaptive_margin_bound`, at most 1.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from bayespoint import AdaptiveMarginSVC
    >>> from bayespoint.bounds import adaptive_margin_certificate
    >>> X, y = make_moons(100, noise=0.1, random_state=0)
    >>> model = AdaptiveMarginSVC("rbf", gamma=1.0).fit(X, y)
    >>> adaptive_margin_certificate(model, X, y)  # 100 points are too few for a bound below 1
    1.0
    """
    if not hasattr(model, "adaptivity"):
        raise TypeError(
            f"model should be a fitted AdaptiveMarginSVC, but {type(model).__name__} has no "
            "adaptivity. Pass normalized_margins(model, X, y) to margin_distribution_bound."
        )
    plane = hyperplane(model, X, y)
    if plane.intercept != 0:
        raise ValueError(
            f"The theorem is for classifiers without intercept, but this one has "
            f"{plane.intercept:.3g}. Pass normalized_margins(model, X, y) to "
            "margin_distribution_bound."
        )
    radius = _check_radius(radius, plane.lengths)
    alphas = np.zeros(len(plane.outputs))
    alphas[model.support_] = np.abs(as_kernel_machine(model)[2])
    adapted = model.adaptivity * alphas * plane.lengths**2
    slacks = np.maximum(0, 1 + adapted - plane.outputs)
    return adaptive_margin_bound(
        slacks,
        alphas,
        plane.lengths**2,
        plane.norm,
        adaptivity=model.adaptivity,
        radius=radius,
        confidence=confidence,
    )


def _check_radius(radius: float | None, lengths: np.ndarray) -> float:
    """Return the radius, or the common length of all points if it is not given."""
    longest = float(lengths.max())
    if radius is None:
        if not np.allclose(lengths, longest):
            raise ValueError(
                "radius should be given, because points have different lengths in feature space: "
                "an upper limit for all points, not only for the training set."
            )
        return longest
    if longest > radius * (1 + 1e-12):  # rounding
        raise ValueError(
            f"radius should be at least the length of every point, but is {radius:g}, and a "
            f"training point has {longest:g}."
        )
    return radius


def _bound(capacity: float, m: int, risk: float) -> float:
    """Return 004's eq. 2.19, or 1 where it does not apply."""
    if m < 6 or capacity > math.e * m:
        return 1.0
    k = math.floor(capacity)
    complexity = k * math.log2(8 * math.e * m / k) * math.log2(32 * m)
    return min(1.0, 2 / m * (complexity + math.log2(2 * m * (28 + math.log2(m)) / risk)))
