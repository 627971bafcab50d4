"""The Bayes point of definition 9, and how close the center of mass is to it."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ..solvers import Billiard, Gibbs
from ._checks import at_risk
from .center import kappa

# The fixed point is found when it moves by less than this angle, in radians.
_MAX_MOVE = 1e-10
_MAX_STEPS = 1000
# A hypothesis closer to the estimate than this counts as this far away, in radians.
_MIN_ANGLE = 1e-9
# From this cosine on, all hypotheses are within a right angle of the Bayes point (see kappa).
_RIGHT_ANGLE_COSINE = math.sqrt(0.5)
# The interval of epsilon comes from this many of the smallest cosines. More would make it
# shorter, but their number grows with another power where more corners come into view.
_N_SMALLEST = 4
# Cosines that agree to this many digits are one: in the plane, balls follow each other.
_COSINE_DIGITS = 9
# Draws have unit length up to rounding, which the inverse of a Gram matrix magnifies.
_MAX_LENGTH_ERROR = 1e-4
_DEPENDENT = (
    "Training points are nearly dependent in feature space, so that hypotheses have no precise "
    "coordinates. Add a little softness, or choose a larger gamma."
)


class CenterComparison(NamedTuple):
    """How the center of mass compares with the point of best agreement with the posterior.

    Examples
    --------
    >>> from bayespoint import BayesPointClassifier
    >>> from bayespoint.bounds import compare_center
    >>> from bayespoint.datasets import make_teacher
    >>> X, y, _ = make_teacher(20, 3, random_state=0)
    >>> model = BayesPointClassifier("linear", softness=0, solver="billiard", random_state=0)
    >>> found = compare_center(model.fit(X, y))
    >>> bool(found.excess < found.limit)
    True
    """

    epsilon: float  # smallest cosine of a draw with the center of mass (theorem 10)
    epsilon_low: float  # lower end of its confidence interval
    limit: float  # kappa(epsilon_low), or twice that: the most that the center can be worse
    excess: float  # how much worse it is on new draws, as a share of points
    excess_error: float  # standard error of the excess
    angle: float  # between the two points, in radians
    coef: np.ndarray  # of the Bayes point of definition 9, on support_vectors_


def compare_center(model, *, confidence: float = 0.95) -> CenterComparison:
    """Compare the center of mass with the Bayes point of definition 9.

    Definition 9 of 000 takes the hypothesis that agrees best with a random one of the posterior
    on a random point. Where points are spherically Gaussian in feature space, it is the point
    with the smallest mean angle to all hypotheses. The center of mass stands for it; theorem 10
    bounds how much is lost.

    Parameters
    ----------
    model : BayesPointClassifier
        Fitted to two classes with solver "billiard" or "gibbs", without label noise.
    confidence : float, default=0.95
        Probability of the interval of epsilon.

    Returns
    -------
    CenterComparison
        `epsilon` and its interval down to `epsilon_low`; `limit`, the bound of theorem 10;
        `excess`, what is really lost, with its standard error; `angle` and `coef` of the Bayes
        point of definition 9.

    Notes
    -----
    Epsilon is the smallest cosine in version space, so draws have a larger one. Near a corner
    of version space in r dimensions the number of draws grows as the power r - 1 of the
    distance, which gives an interval from the four smallest cosines (after Cooke). The more
    dimensions, the fewer draws come near a corner: the interval then reaches down to zero, and
    the limit is 0.21, whatever the excess is.

    The fixed point v = E[W / sin(v, W)] of 000, appendix A.1, scaled to unit length, is iterated.
    This is a descent as long as hypotheses are within a right angle. For the excess, both points
    are found on half of the draws and judged by all, so that optimism and pessimism cancel.

    With softness, hypotheses are unit vectors of the feature space that has one more dimension
    for the noise of each training point. Cost: O(n m^2) for n draws and m training points.

    References
    ----------
    Herbrich, Graepel, Campbell (2001), Bayes Point Machines, JMLR 1, definition 9, theorem 10.
    Cooke (1979), Statistical inference for bounds of random variables, Biometrika 66.

    Examples
    --------
    >>> import numpy as np
    >>> from bayespoint import BayesPointClassifier
    >>> from bayespoint.bounds import compare_center
    >>> model = BayesPointClassifier(
    ...     "linear", softness=0, fit_intercept=False, solver="billiard", random_state=0
    ... ).fit(np.diag([1.0, 1.0, -1.0]), [1, 1, 0])  # version space is an octant
    >>> found = compare_center(model)
    >>> bool(found.epsilon_low <= 1 / np.sqrt(3) <= found.epsilon)
    True
    >>> bool(found.excess < 0.001 < found.limit)
    True
    """
    risk = at_risk(confidence)
    return _compare(model, *_unit_draws(model), risk)


def _compare(model, draws: np.ndarray, mean: np.ndarray, risk: float) -> CenterComparison:
    """Compare the center of mass with draws, all of them unit vectors in coordinates."""
    cosines = draws @ mean
    epsilon = max(0.0, float(cosines.min()))
    low = max(0.0, smallest_possible(cosines, draws.shape[1] - 1, risk))
    limit = kappa(low) * (1 if low > _RIGHT_ANGLE_COSINE else 2)
    best = best_agreement(draws)
    excess, error = _excess(draws, model.draw_chains_)
    angle = _angles(draws.mean(axis=0), best[None])[0]
    back = np.linalg.solve(_triangle(model).T, best)
    return CenterComparison(epsilon, low, limit, excess, error, float(angle), back)


def best_agreement(hypotheses: np.ndarray, weights: np.ndarray | None = None) -> np.ndarray:
    """Return the unit vector with the smallest mean angle to unit vectors, one in each row."""
    weights = np.ones(len(hypotheses)) if weights is None else weights
    v = weights @ hypotheses
    v /= np.linalg.norm(v)
    for _ in range(_MAX_STEPS):
        sines = np.maximum(np.sin(_angles(v, hypotheses)), _MIN_ANGLE)
        new = (weights / sines) @ hypotheses
        new /= np.linalg.norm(new)
        moved = _angles(v, new[None])[0]
        v = new
        if moved < _MAX_MOVE:
            break
    return v


def smallest_possible(values: np.ndarray, power: float, risk: float) -> float:
    """Return the lower end of the interval of a minimum, from independent draws.

    Where the number of draws grows as a power of the distance from the minimum, the smallest of j
    distances over the largest, to this power, is the smallest of j - 1 uniform numbers.
    """
    values = np.unique(np.round(values, _COSINE_DIGITS))[:_N_SMALLEST]
    ratio = (1 - risk ** (1 / max(len(values) - 1, 1))) ** (1 / max(power, 1))
    return float(values[0] - (values[-1] - values[0]) * ratio / (1 - ratio))


def _angles(v: np.ndarray, hypotheses: np.ndarray) -> np.ndarray:
    """Return the angles between a vector and unit vectors, exact for small ones."""
    v = v / np.linalg.norm(v)
    apart = np.linalg.norm(hypotheses - v, axis=1), np.linalg.norm(hypotheses + v, axis=1)
    return 2 * np.arctan2(*apart)


def _excess(draws: np.ndarray, n_chains: int) -> tuple[float, float]:
    """Return how much better the best agreement is than the mean, with its standard error.

    Both points are found on half of the draws and judged by all of them: the optimism on the
    draws that determined them cancels the pessimism on the others, in first order.
    """
    gain = np.zeros(len(draws))
    for part in np.array_split(draws, 2):  # of different chains, which are independent
        gain += _angles(part.mean(axis=0), draws) - _angles(best_agreement(part), draws)
    gain /= 2 * np.pi
    if n_chains > 1:
        gain = gain.reshape(n_chains, -1).mean(axis=1)
    return float(gain.mean()), float(gain.std(ddof=1) / math.sqrt(len(gain)))


def _triangle(model) -> np.ndarray:
    """Return the Cholesky factor of the softened kernel matrix of the support vectors."""
    kernel = model._fitted_kernel()
    matrix = kernel(model.support_vectors_, model.support_vectors_)
    matrix[np.diag_indices_from(matrix)] *= 1 + model.softness_
    try:
        return np.linalg.cholesky(matrix)
    except np.linalg.LinAlgError as error:
        raise ValueError(_DEPENDENT) from error


def _unit_draws(model) -> tuple[np.ndarray, np.ndarray]:
    """Return draws and the center of mass as unit vectors in coordinates."""
    check_is_fitted(model)
    sampled = getattr(model, "solver", None) in ("billiard", "gibbs") or isinstance(
        getattr(model, "solver", None), Billiard | Gibbs
    )
    if not sampled or len(model.classes_) != 2 or model.label_noise_ > 0:
        raise ValueError(
            'model should be a BayesPointClassifier of two classes with solver="billiard" or '
            '"gibbs" and label_noise=0: only then are its draws hypotheses of version space.'
        )
    if not model.support_vectors_.shape[1]:
        raise TypeError(
            "With a precomputed kernel, the kernel of the support vectors is not known. Pass the "
            "points themselves, and a function as kernel."
        )
    triangle = _triangle(model)
    draws, mean = model.draw_coef_[0] @ triangle, model.dual_coef_[0] @ triangle
    lengths = np.linalg.norm(draws, axis=1)
    if np.abs(lengths - 1).max() > _MAX_LENGTH_ERROR:
        raise ValueError(
            f"Draws should have unit length, but have {lengths.min():.6g} to {lengths.max():.6g}. "
            + _DEPENDENT
        )
    return draws / lengths[:, None], mean / np.linalg.norm(mean)
