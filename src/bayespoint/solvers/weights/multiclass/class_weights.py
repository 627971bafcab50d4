"""Weights of classes, which sum to zero, from the weights of outputs."""

from __future__ import annotations

import numpy as np

from ..belief import Belief


def basis(n_classes: int) -> np.ndarray:
    """Return orthonormal columns that sum to zero, which turn outputs into scores of classes.

    Output k compares class k + 1 with the mean of the classes before it.
    """
    k = np.arange(1, n_classes)
    columns = np.where(np.arange(n_classes)[:, None] < k, -1.0, 0.0)
    columns[k, k - 1] = k
    return columns / np.sqrt(k * (k + 1.0))


def class_means(belief: Belief, n_classes: int) -> np.ndarray:
    """Return the means of the weights, one row for each class."""
    return basis(n_classes) @ belief.mean().reshape(n_classes - 1, -1)


def class_variances(belief: Belief, n_classes: int) -> np.ndarray:
    """Return the variances of the weights, one row for each class."""
    H = basis(n_classes)
    covariance = belief.covariance()
    if not belief.is_full:
        return H**2 @ covariance.reshape(n_classes - 1, -1)
    n_weights = len(covariance) // (n_classes - 1)
    blocks = covariance.reshape(n_classes - 1, n_weights, n_classes - 1, n_weights)
    return np.einsum("ck,kili,cl->ci", H, blocks, H)


def class_covariance(belief: Belief, n_classes: int) -> np.ndarray:
    """Return the covariance of all weights, class by class."""
    n_weights = len(belief.shift) // (n_classes - 1)
    to_classes = np.kron(basis(n_classes), np.eye(n_weights))
    return to_classes @ belief.covariance() @ to_classes.T
