"""Rows of more than two classes whose weights may be correlated."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..belief import Belief
from ..block_rows import BlockRows
from . import scores
from .class_weights import basis

# Rounds of comparisons within a row. They continue where the last sweep stopped.
MAX_COMPARISON_ROUNDS = 5


class FullRows(BlockRows):
    """Rows whose sites are updated a block at a time; weights may be correlated.

    A sweep takes O(n K^2 d (d + K)) with K = n_classes - 1 outputs. A belief holds the weights
    of the first output, then the weights of the second, and so on.

    Parameters
    ----------
    X : {array, CSR} of shape (n, d)
        Points. If each output has one weight more than features, it is the intercept.
    target : int array of shape (n,)
        The class of each row, by number.
    weight : array of shape (n,)
        How often each row counts.
    noise : float
        Variance of the noise on the score of each class; see `positive_noise`.
    n_classes : int
        Number of classes, including classes without rows.
    blocks : list of slices or arrays of indices
        The rows of each block.
    """

    def __init__(self, X, target, weight, noise: float, n_classes: int, blocks: list):
        super().__init__(
            [
                _Block(
                    X[b],
                    target[b].copy(),
                    weight[b].copy(),
                    *np.zeros((2, len(target[b]), n_classes)),
                )
                for b in blocks
            ]
        )
        self.noise, self.n_classes = noise, n_classes

    def log_constant(self, belief: Belief) -> float:
        """Return the part of the log evidence that comes from these rows."""
        return sum(self._refine(block, belief, 0.0) for block in self.blocks)

    def _update(self, block: _Block, belief: Belief, share: float) -> Belief:
        self.score += self._refine(block, belief, share)
        return _product_of_sites(block, self.noise, belief.nothing())

    def _refine(self, block: _Block, belief: Belief, share: float) -> float:
        """Apply a share of the updates; return the part of the log evidence before them."""
        from ...._jit.multiclass import refine

        X, target, weight, tau, nu = block
        total = 0.0
        for rows, mean, covariance in scores.differences(X, target, self.n_classes, belief):
            given = target[rows], weight[rows], self.noise, share, MAX_COMPARISON_ROUNDS
            total += refine(mean, covariance, *given, tau[rows], nu[rows])
        return total


class _Block(NamedTuple):
    """A block of rows and the sites of their comparisons."""

    X: Any
    target: np.ndarray
    weight: np.ndarray
    tau: np.ndarray
    nu: np.ndarray


def _product_of_sites(block: _Block, noise: float, nothing: Belief) -> Belief:
    """Return the product of the sites of a block, with the noise integrated out."""
    X, target, weight, tau, nu = block
    n_classes = tau.shape[1]
    H = basis(n_classes)
    n_weights = len(nothing.shift) // (n_classes - 1)
    factor = 1 + noise * tau
    pi, eta = tau / factor, nu / factor
    kappa = noise / (1 + noise * pi.sum(axis=1, keepdims=True))
    eta -= kappa * eta.sum(axis=1, keepdims=True) * pi
    precision, shift = nothing.precision.copy(), nothing.shift.reshape(n_classes - 1, -1)
    size = max(scores.BLOCK_NUMBERS // len(nothing.shift), 1)
    for c in range(n_classes):
        own = np.flatnonzero(target == c)
        A = H[c] - H
        outer = (A[:, :, None] * A[:, None]).reshape(n_classes, -1)
        for part, dense in scores.dense_blocks(X[own], n_weights, size):
            rows = own[part]
            p, w = pi[rows], weight[rows, None]
            shift += ((eta[rows] * w) @ A).T @ dense
            squares = ((p * w) @ outer).reshape(len(dense), n_classes - 1, -1)
            along = (p * np.sqrt(w * kappa[rows])) @ A
            squares -= along[:, :, None] * along[:, None]
            for k in range(n_classes - 1):
                at = slice(k * n_weights, (k + 1) * n_weights)
                scaled = squares[:, k, : k + 1, None] * dense[:, None]
                precision[at, : at.stop] += dense.T @ scaled.reshape(len(dense), -1)
    lower = np.tril(precision)
    return Belief(lower + np.tril(lower, -1).T, shift.ravel())
