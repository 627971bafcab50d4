"""Class probabilities from the mean and variance of outputs."""

from __future__ import annotations

import numpy as np
from scipy import special

# The largest probability below one, and its complement.
_MOST = 1 - np.finfo(float).epsneg
_LEAST = 1 - _MOST
_MORE_THAN_HALF = np.nextafter(0.5, 1)
# Nodes of the quadrature in standard deviations around the largest mean; for integrands
# as smooth as these the trapezoidal rule with such steps is exact to rounding.
_NODES = np.linspace(-8.5, 8.5, 86)


def positive_score(mean: np.ndarray, variance: np.ndarray) -> np.ndarray:
    """Return the probabilities that an output is not positive, and that it is.

    Parameters
    ----------
    mean, variance : arrays of shape (n,)
        Of a normal output.

    Returns
    -------
    ndarray of shape (n, 2)
        Larger in the second column exactly where the mean is positive.
    """
    ratio = mean / np.sqrt(np.maximum(variance, np.finfo(float).tiny))
    positive = np.clip(special.ndtr(ratio), _LEAST, _MOST)
    # A mean so small that it gets lost beside one half must not lose its sign.
    positive = np.where(mean > 0, np.maximum(positive, _MORE_THAN_HALF), positive)
    positive = np.where(mean <= 0, np.minimum(positive, 0.5), positive)
    return np.column_stack([1 - positive, positive])


def largest_score(mean: np.ndarray, variance: np.ndarray) -> np.ndarray:
    """Return the probability of each output that it is the largest.

    Parameters
    ----------
    mean, variance : arrays of shape (n, n_classes)
        Of normal outputs.

    Returns
    -------
    ndarray of shape (n, n_classes)
        Probabilities, largest where the mean is largest.

    Notes
    -----
    The outputs of one-vs-rest classifiers add up to about zero, as when they have equal
    variances s^2 and correlations -1 / (c - 1) for c classes. Differences of such
    outputs have the same law as those of independent ones with variance
    s^2 c / (c - 1), for which the probability is a one-dimensional integral. For two
    classes it is Phi(mean / s). A common variance, the mean of the variances, makes
    the order of the probabilities that of the means.
    """
    n_classes = mean.shape[1]
    spread = np.sqrt(variance.mean(axis=1, keepdims=True) * n_classes / (n_classes - 1))
    top = mean.max(axis=1, keepdims=True)
    scaled = (mean - top) / np.maximum(spread, np.finfo(float).tiny)
    total = np.zeros_like(scaled)
    for node in _NODES:
        gap = node - scaled
        log_below = special.log_ndtr(gap)
        others = log_below.sum(axis=1, keepdims=True) - log_below
        total += np.exp(others - gap**2 / 2)
    probability = total / total.sum(axis=1, keepdims=True)
    probability = np.clip(probability, _LEAST, 1 - n_classes * _LEAST)
    probability /= probability.sum(axis=1, keepdims=True)
    return _keep_order(probability, np.argmax(mean, axis=1))


def _keep_order(probability: np.ndarray, winner: np.ndarray) -> np.ndarray:
    """Make sure that rounding did not let another class catch up with the winner."""
    rows = np.arange(len(winner))
    lost = np.argmax(probability, axis=1) != winner
    highest = np.nextafter(probability.max(axis=1), 1)
    probability[rows[lost], winner[lost]] = highest[lost]
    return probability
