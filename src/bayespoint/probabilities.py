"""Class probabilities from normal outputs, in the order of the outputs."""

from __future__ import annotations

import numpy as np
from scipy import special

# The largest probability below one, and its complement.
_MOST = 1 - np.finfo(float).epsneg
_LEAST = 1 - _MOST
_MORE_THAN_HALF = np.nextafter(0.5, 1)


def two_classes(output: np.ndarray) -> np.ndarray:
    """Return the probabilities Phi(-output) and Phi(output) of two classes.

    Parameters
    ----------
    output : array of shape (n,)
        Mean over standard deviation of a normal output.

    Returns
    -------
    ndarray of shape (n, 2)
        Larger in the second column exactly where the output is positive.
    """
    positive = np.clip(special.ndtr(output), _LEAST, _MOST)
    # An output so small that it gets lost beside one half must not lose its sign.
    positive = np.where(output > 0, np.maximum(positive, _MORE_THAN_HALF), positive)
    return np.column_stack([1 - positive, positive])


def exactly_one(output: np.ndarray) -> np.ndarray:
    """Return the probability of each class given that exactly one is right.

    Parameters
    ----------
    output : array of shape (n, n_classes)
        Mean over standard deviation of the normal output of each class against the rest.

    Returns
    -------
    ndarray of shape (n, n_classes)
        Probabilities, largest where the output is largest.

    Notes
    -----
    With p_c = Phi(output_c), taken to be independent, it is p_c prod_{j != c} (1 - p_j)
    up to a factor: proportional to the odds p_c / (1 - p_c).
    """
    log_odds = special.log_ndtr(output) - special.log_ndtr(-output)
    probability = np.clip(special.softmax(log_odds, axis=1), _LEAST, None)
    probability /= probability.sum(axis=1, keepdims=True)
    # Rounding must not let another class catch up with the winner.
    winner = np.argmax(output, axis=1)
    rows = np.flatnonzero(np.argmax(probability, axis=1) != winner)
    probability[rows, winner[rows]] = np.nextafter(probability[rows].max(axis=1), 1)
    return np.minimum(probability, _MOST)
