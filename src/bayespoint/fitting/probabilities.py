"""Class probabilities from the spread of the hypotheses."""

from __future__ import annotations

import numpy as np
from scipy import linalg, optimize, special

from ..geometry.gram import Gram
from ..solvers.posterior import mean_length

# The largest probability below one, and its complement.
_MOST = 1 - np.finfo(float).epsneg
_LEAST = 1 - _MOST
_MORE_THAN_HALF = np.nextafter(0.5, 1)
# Training points and draws from which the typical spread is taken; a spread of zero
# would make probabilities of 0 and 1.
TYPICAL_POINTS = 100
TYPICAL_DRAWS = 100
SMALLEST_VARIANCE = 1e-12
# Where the scale that fits known outcomes is looked for.
SCALES = (1e-2, 1e6)
DEGREES_OF_FREEDOM = (np.inf, 8.0, 4.0, 2.0, 1.0)


def two_classes(output: np.ndarray, df: float = np.inf, label_noise: float = 0.0) -> np.ndarray:
    """Return the probabilities F(-output) and F(output) of two classes.

    Parameters
    ----------
    output : array of shape (n,)
        Mean over standard deviation of an output.
    df : float, default=inf
        F is the distribution function of Student's t with so many degrees of freedom,
        the normal one by default.
    label_noise : float, default=0
        Probability eta that a label is flipped: p becomes eta + (1 - 2 eta) p.

    Returns
    -------
    ndarray of shape (n, 2)
        Larger in the second column exactly where the output is positive.
    """
    positive = np.clip(np.exp(_log_probability(output, df, label_noise)), _LEAST, _MOST)
    # An output so small that it gets lost beside one half must not lose its sign.
    positive = np.where(output > 0, np.maximum(positive, _MORE_THAN_HALF), positive)
    return np.column_stack([1 - positive, positive])


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
    With p_c = F(output_c), taken to be independent, it is p_c prod_{j != c} (1 - p_j)
    up to a factor: proportional to the odds p_c / (1 - p_c).
    """
    positive, negative = (_log_probability(o, df, label_noise) for o in (output, -output))
    log_odds = positive - negative
    probability = np.clip(special.softmax(log_odds, axis=1), _LEAST, None)
    probability /= probability.sum(axis=1, keepdims=True)
    # Rounding must not let another class catch up with the winner.
    winner = np.argmax(output, axis=1)
    rows = np.flatnonzero(np.argmax(probability, axis=1) != winner)
    probability[rows, winner[rows]] = np.nextafter(probability[rows].max(axis=1), 1)
    return np.minimum(probability, _MOST)


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
    """Return the mean length of w over the typical deviation of its noisy output.

    Parameters
    ----------
    gram : Gram
        The training points.
    draws : array of shape (n_outputs, n_draws, n_points)
        Coefficients of unit hypotheses on the unit training points.

    Returns
    -------
    float
        What to multiply a decision with to get a standard normal output.

    Notes
    -----
    With w ~ N(0, I), length and direction of its part in the span of the training points
    are independent; the length is chi-distributed, the direction is what was drawn.
    Outside the span w keeps its prior. The median over training points stands for all.
    """
    rank, softness = gram.rank, gram.softness
    length = mean_length(rank)
    some = np.linspace(0, len(gram.matrix) - 1, min(len(gram.matrix), TYPICAL_POINTS)).astype(int)
    # The training points as if they were new ones: without the noise they were seen with.
    kernel = (1 + softness) * gram.matrix[some]
    kernel[np.arange(len(some)), some] -= softness
    kernel /= np.sqrt(1 + softness)
    outputs = draws[:, :: max(draws.shape[1] // TYPICAL_DRAWS, 1)] @ kernel.T
    inside = rank * np.mean(outputs**2, axis=1) - (length * np.mean(outputs, axis=1)) ** 2
    projection = linalg.solve_triangular(
        gram.factor[gram.pivots], kernel[:, gram.pivots].T, lower=True
    )
    outside = np.maximum(1 - np.sum(projection**2, axis=0), 0.0) + softness
    variance = float(np.median(np.maximum(inside, 0.0) + outside))
    return float(length / np.sqrt(max(variance, SMALLEST_VARIANCE)))


def fitted_scale(decisions: np.ndarray, target: np.ndarray) -> tuple[float, float]:
    """Return the scale and the degrees of freedom that make known outcomes most probable.

    Parameters
    ----------
    decisions : array of shape (n, n_outputs)
        What the classifier says of points that it was not trained on.
    target : array of shape (n,)
        Their classes, by number.

    Returns
    -------
    scale : float
        What to multiply a decision with to get an output of unit deviation.
    df : float
        Degrees of freedom of its distribution: few where the deviation of some points is
        much larger than that of others.

    Notes
    -----
    As in Platt's calibration, labels are taken to be wrong with probability 1 / (n + 2):
    if all are predicted correctly, the scale stays finite.
    """
    n = len(target)
    doubt = 1 / (n + 2)

    def loss(log_scale: float, df: float) -> float:
        output = np.exp(log_scale) * decisions
        if output.shape[1] == 1:
            side = np.where(target == 1, 1.0, -1.0) * output[:, 0]
            right, wrong = _log_cdf(side, df), _log_cdf(-side, df)
        else:
            log_p = np.log(exactly_one(output, df))
            right = log_p[np.arange(n), target]
            wrong = (log_p.sum(axis=1) - right) / (output.shape[1] - 1)
        return -float(np.mean((1 - doubt) * right + doubt * wrong))

    def best_scale(df: float) -> tuple[float, float, float]:
        bounds = (np.log(SCALES[0]), np.log(SCALES[1]))
        found = optimize.minimize_scalar(
            loss, args=(df,), bounds=bounds, method="bounded", options={"xatol": 1e-3}
        )
        return float(found.fun), float(np.exp(found.x)), df

    _, scale, df = min(best_scale(df) for df in DEGREES_OF_FREEDOM)
    return scale, df
