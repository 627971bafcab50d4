"""Class probabilities from the spread of the hypotheses."""

from __future__ import annotations

import numpy as np
from scipy import linalg, optimize, special

from ..geometry.columns import medians
from ..geometry.gram import Gram
from ..solvers.posterior import mean_length

# Probabilities are never 0 or 1: the largest below one, its complement, and the smallest above
# one half.
MAX_PROBABILITY = 1 - np.finfo(float).epsneg
MIN_PROBABILITY = 1 - MAX_PROBABILITY
JUST_ABOVE_HALF = np.nextafter(0.5, 1)
# The typical variance of an output is the median over at most this many points and draws.
MAX_TYPICAL_POINTS = 100
MAX_TYPICAL_DRAWS = 100
MIN_TYPICAL_VARIANCE = 1e-12
# Candidates when a scale is fitted to known outcomes.
SCALE_RANGE = (1e-2, 1e6)
DEGREES_OF_FREEDOM = (np.inf, 8.0, 4.0, 2.0, 1.0)


def two_classes(output: np.ndarray, df: float = np.inf, label_noise: float = 0.0) -> np.ndarray:
    """Return the probabilities F(-output) and F(output) of two classes.

    Parameters
    ----------
    output : array of shape (n,)
        Mean over standard deviation of an output.
    df : float, default=inf
        Degrees of freedom: F is the distribution function of Student's t, of the normal
        distribution by default.
    label_noise : float, default=0
        Probability eta that a label is flipped: p becomes eta + (1 - 2 eta) p.

    Returns
    -------
    ndarray of shape (n, 2)
        Larger in the second column exactly where the output is positive.
    """
    return settle_two(np.exp(_log_probability(output, df, label_noise)), output)


def exactly_one(output: np.ndarray, df: float = np.inf, label_noise: float = 0.0) -> np.ndarray:
    """Return the probability of each class given that exactly one is right.

    Parameters
    ----------
    output : array of shape (n, n_classes)
        Mean over standard deviation of the output of each class against the rest.
    df, label_noise : float
        As in `two_classes`.

    Returns
    -------
    ndarray of shape (n, n_classes)
        Probabilities, largest where the output is largest.

    Notes
    -----
    With independent p_c = F(output_c) it is proportional to p_c prod_{j != c} (1 - p_j),
    and so to the odds p_c / (1 - p_c).
    """
    positive, negative = (_log_probability(o, df, label_noise) for o in (output, -output))
    return settle_many(special.softmax(positive - negative, axis=1), output)


def settle_two(positive: np.ndarray, output: np.ndarray) -> np.ndarray:
    """Return both probabilities, never 0 or 1; rounding does not change which class wins."""
    positive = np.clip(positive, MIN_PROBABILITY, MAX_PROBABILITY)
    positive = np.where(output > 0, np.maximum(positive, JUST_ABOVE_HALF), positive)
    return np.column_stack([1 - positive, positive])


def settle_many(probability: np.ndarray, output: np.ndarray) -> np.ndarray:
    """Return probabilities that are never 0 or 1; the class with the largest output wins."""
    probability = np.clip(probability, MIN_PROBABILITY, None)
    probability /= probability.sum(axis=1, keepdims=True)
    winner = np.argmax(output, axis=1)
    rows = np.flatnonzero(np.argmax(probability, axis=1) != winner)
    probability[rows, winner[rows]] = np.nextafter(probability[rows].max(axis=1), 1)
    return np.minimum(probability, MAX_PROBABILITY)


def _log_probability(output: np.ndarray, df: float, label_noise: float) -> np.ndarray:
    """Return the logarithm of the probability of a positive label."""
    log_cdf = _log_cdf(output, df)
    if label_noise == 0:
        return log_cdf
    return np.log(label_noise + (1 - 2 * label_noise) * np.exp(log_cdf))


def _log_cdf(output: np.ndarray, df: float) -> np.ndarray:
    """Return the logarithm of the distribution function of Student's t."""
    if df == np.inf:
        return special.log_ndtr(output)
    tail = special.stdtr(df, -np.abs(output))
    return np.where(output < 0, np.log(tail), np.log1p(-tail))


def probit_scale(gram: Gram, draws: np.ndarray) -> float:
    """Return the mean length of w divided by the typical deviation of its noisy output.

    Parameters
    ----------
    gram : Gram
        The training points.
    draws : array of shape (n_outputs, n_draws, n_points)
        Coefficients of unit hypotheses on the unit training points.

    Returns
    -------
    float
        Multiply a decision by this to get a standard normal output.

    Notes
    -----
    With w ~ N(0, I), length and direction of its part in the span of the training points
    are independent. The length is chi-distributed, and the draws are directions. Outside the
    span w keeps its prior. The median over training points is used for all points.
    """
    rank, softness = gram.rank, gram.softness
    length = mean_length(rank)
    some = np.linspace(0, len(gram.matrix) - 1, min(len(gram.matrix), MAX_TYPICAL_POINTS)).astype(
        int
    )
    # Treat the training points as new ones, without the noise of training.
    kernel = (1 + softness) * gram.matrix[some]
    kernel[np.arange(len(some)), some] -= softness
    kernel /= np.sqrt(1 + softness)
    outputs = draws[:, :: max(draws.shape[1] // MAX_TYPICAL_DRAWS, 1)] @ kernel.T
    inside = rank * np.mean(outputs**2, axis=1) - (length * np.mean(outputs, axis=1)) ** 2
    projection = linalg.solve_triangular(
        gram.factor[gram.pivots], kernel[:, gram.pivots].T, lower=True
    )
    outside = np.maximum(1 - np.sum(projection**2, axis=0), 0.0) + softness
    variance = float(np.median(np.maximum(inside, 0.0) + outside))
    return float(length / np.sqrt(max(variance, MIN_TYPICAL_VARIANCE)))


def typical_variance(variance: np.ndarray, weight: np.ndarray | None) -> float:
    """Return the median variance of left-out points, over all points and outputs."""
    if weight is None:
        return float(np.median(variance))
    n_outputs = variance.shape[1]
    return float(medians(variance.reshape(-1, 1), np.repeat(weight, n_outputs))[0])


def fitted_scale(
    decisions: np.ndarray, target: np.ndarray, weight: np.ndarray | None = None
) -> tuple[float, float]:
    """Return the scale and the degrees of freedom that make known labels most probable.

    Parameters
    ----------
    decisions : array of shape (n, n_outputs)
        Outputs at points that the classifier was not trained on.
    target : array of shape (n,)
        Their class numbers.
    weight : array of shape (n,), default=None
        How often each counts.

    Returns
    -------
    scale : float
        Multiply a decision by this to get an output of unit deviation.
    df : float
        Degrees of freedom of its distribution. They are few if some points deviate much
        more than others.

    Notes
    -----
    As in Platt's calibration, a label is taken to be wrong with probability 1 / (n + 2), so
    that the scale stays finite even if all predictions are right.
    """
    n = len(target)
    doubt = 1 / ((n if weight is None else weight.sum()) + 2)

    def loss(log_scale: float, df: float) -> float:
        output = np.exp(log_scale) * decisions
        if output.shape[1] == 1:
            side = np.where(target == 1, 1.0, -1.0) * output[:, 0]
            right, wrong = _log_cdf(side, df), _log_cdf(-side, df)
        else:
            log_p = np.log(exactly_one(output, df))
            right = log_p[np.arange(n), target]
            wrong = (log_p.sum(axis=1) - right) / (output.shape[1] - 1)
        return -float(np.average((1 - doubt) * right + doubt * wrong, weights=weight))

    def best_scale(df: float) -> tuple[float, float, float]:
        bounds = (np.log(SCALE_RANGE[0]), np.log(SCALE_RANGE[1]))
        found = optimize.minimize_scalar(
            loss, args=(df,), bounds=bounds, method="bounded", options={"xatol": 1e-3}
        )
        return float(found.fun), float(np.exp(found.x)), df

    _, scale, df = min(best_scale(df) for df in DEGREES_OF_FREEDOM)
    return float(np.exp(round(np.log(scale), 4))), df  # so that rounding errors do not show
