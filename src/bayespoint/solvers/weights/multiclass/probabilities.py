"""Probabilities of more than two classes, and decisions that match them."""

from __future__ import annotations

import numpy as np
from scipy import special

from ..belief import Belief
from .scores import scores

# Nodes of a panel of the quadrature: errors are below 1e-8 for 26 classes.
PANEL_NODES = 12
# The smallest probability, the same as for two classes.
MIN_PROBABILITY = np.finfo(float).epsneg
# For classes less probable than this, decisions come from log probabilities.
MIN_DIRECT_PROBABILITY = 1e-6


def log_probabilities(X, belief: Belief, n_classes: int, noise: float) -> np.ndarray:
    """Return the logarithm of the probability of each class, (n, n_classes).

    Notes
    -----
    A class wins if its score is larger than all others: this is the probability of an orthant.
    One common factor approximates the correlations, which leaves a one-dimensional integral.
    This is exact for up to three classes, and whenever the probability depends on a single
    other class. See `_jit/largest.py`.
    """
    from ...._jit import largest

    nodes, weights = np.polynomial.legendre.leggauss(PANEL_NODES)
    rule = (nodes + 1) / 2, weights / 2
    result = np.empty((X.shape[0], n_classes))
    for rows, mean, covariance in scores(X, belief, n_classes):
        result[rows] = largest.log_probabilities(mean, covariance, noise, *rule)
    return result


def probabilities(log_probability: np.ndarray) -> np.ndarray:
    """Return probabilities that are never zero or one."""
    probability = np.clip(np.exp(log_probability), MIN_PROBABILITY, None)
    return np.minimum(probability / probability.sum(axis=1, keepdims=True), 1 - MIN_PROBABILITY)


def decisions(log_probability: np.ndarray) -> np.ndarray:
    """Return the output of each class against all others, in standard deviations.

    Phi(decision) is the probability of the class, as with two classes, where the decision is
    mean over deviation. The most probable class has the largest decision, though not always
    the largest mean score. Decisions still differ where probabilities round to 0 or 1.
    """
    probability = probabilities(log_probability)
    # Equal probabilities must have equal decisions, so only small ones come from logarithms.
    direct = probability > MIN_DIRECT_PROBABILITY
    log_p = np.where(direct, np.log(probability), log_probability)
    winner = np.argmax(probability, axis=1)
    others = log_p.copy()
    np.put_along_axis(others, winner[:, None], -np.inf, axis=1)
    found = special.ndtri_exp(log_p)
    rest = -special.ndtri_exp(np.minimum(special.logsumexp(others, axis=1), 0.0))
    won = np.take_along_axis(probability, winner[:, None], axis=1)[:, 0] > 0.5
    rows = np.flatnonzero(won)
    found[rows, winner[rows]] = rest[rows]
    return found
