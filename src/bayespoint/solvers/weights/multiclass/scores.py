"""Scores <w_c, x> of classes under a belief: means, covariances and differences."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy import linalg

from ..belief import Belief
from ..points import dense, dense_or_sparse, squared
from .class_weights import basis, class_means

# A block of rows needs at most this many numbers at once.
BLOCK_NUMBERS = 4_000_000
# Noise is at least this share of the prior variance of outputs. Without noise, labels that
# contradict each other would make weights infinitely precise.
MIN_NOISE_SHARE = 1e-12


def positive_noise(noise: float, X, variances: np.ndarray) -> float:
    """Return the noise, or a tiny value if it is zero; `variances` belong to the weights."""
    if noise > 0 or X.shape[0] == 0:
        return noise
    squares = squared(dense_or_sparse(X))
    return MIN_NOISE_SHARE * float(np.mean(squares @ variances[: X.shape[1]]))


def outputs(X, belief: Belief, n_classes: int) -> tuple[np.ndarray, np.ndarray]:
    """Return mean and variance of the score <w_c, x> of each class, (n, n_classes) each."""
    mean, variance = np.empty((X.shape[0], n_classes)), np.empty((X.shape[0], n_classes))
    for rows, center, covariance in scores(X, belief, n_classes):
        mean[rows], variance[rows] = center, np.diagonal(covariance, axis1=1, axis2=2)
    return mean, variance


def scores(X, belief: Belief, n_classes: int) -> Iterator[tuple[slice, np.ndarray, np.ndarray]]:
    """Yield blocks of rows, with mean and covariance of the scores of their classes."""
    weights = class_means(belief, n_classes)
    if belief.is_full:
        for rows, block, factors in _factors(X, n_classes, belief):
            yield rows, block @ weights.T, factors @ factors.transpose(0, 2, 1)
        return
    H = basis(n_classes)
    d = X.shape[1]
    variances = belief.covariance().reshape(n_classes - 1, -1)
    size = max(BLOCK_NUMBERS // n_classes**2, 1)
    for start in range(0, X.shape[0], size):
        rows = slice(start, min(start + size, X.shape[0]))
        part = dense_or_sparse(X[rows])
        variance = squared(part) @ variances[:, :d].T + variances[:, d:].sum(axis=1)
        mean = part @ weights[:, :d].T + weights[:, d:].sum(axis=1)
        yield rows, mean, (variance[:, None] * H) @ H.T


def differences(
    X, target, n_classes: int, belief: Belief
) -> Iterator[tuple[slice, np.ndarray, np.ndarray]]:
    """Yield blocks of rows, with mean and covariance of their class's score minus each score."""
    weights = class_means(belief, n_classes)
    for rows, block, factors in _factors(X, n_classes, belief):
        own = np.arange(len(block)), target[rows]
        scores = block @ weights.T
        mean = scores[own][:, None] - scores
        less = factors[own][:, None] - factors
        yield rows, mean, less @ less.transpose(0, 2, 1)


def dense_blocks(X, n_weights: int, size: int) -> Iterator[tuple[slice, np.ndarray]]:
    """Yield dense blocks of rows, with a one for the intercept if there is one."""
    for start in range(0, X.shape[0], size):
        rows = slice(start, min(start + size, X.shape[0]))
        block = dense(X[rows])
        if n_weights > X.shape[1]:
            block = np.column_stack([block, np.ones(len(block))])
        yield rows, block


def _factors(X, n_classes: int, belief: Belief):
    """Yield dense blocks of rows, and F with covariances F F' of their scores."""
    n = len(belief.shift)
    n_weights = n // (n_classes - 1)
    lower = belief.cholesky(lower=True)
    inverse = linalg.solve_triangular(lower, np.eye(n), lower=True, check_finite=False)
    by_output = inverse.reshape(n, n_classes - 1, n_weights)
    factor = np.einsum("ck,mkd->dcm", basis(n_classes), by_output).reshape(n_weights, -1)
    for rows, block in dense_blocks(X, n_weights, max(BLOCK_NUMBERS // (n_classes * n), 1)):
        yield rows, block, (block @ factor).reshape(len(block), n_classes, n)
