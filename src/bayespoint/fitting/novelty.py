"""How much of a point lies outside what the training points of any one class determine."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import linalg

from .._runtime.threads import one_blas_thread
from ..geometry.kernels import Kernel, finite_lengths
from ..geometry.points import in_double
from .novelty_scale import NoveltyScale, novelty_scale

# Training points that new ones are compared with, of all classes together.
MAX_KNOWN_POINTS = 1000
# The least noise of a point, relative to its prior variance, so that equal points can be factored.
MIN_NOISE = 1e-3
# Kernel values that are held at once.
MAX_BLOCK_VALUES = 2**22
# Kernels for which all points have the same length: nothing is further away than "unrelated".
BOUNDED_KERNELS = ("rbf", "laplacian", "mixture")


class KnownPoints(NamedTuple):
    """Training points that new ones are compared with."""

    points: Any  # dense or sparse
    target: np.ndarray  # the class of each
    weight: np.ndarray  # how often each counts


class Neighborhood(NamedTuple):
    """The points of one class, and the inverse of the factor of their matrix."""

    points: Any
    root: np.ndarray


class Surroundings(NamedTuple):
    """What the training points determine, class by class."""

    kernel: Kernel  # without the constant, which every point shares
    prior: float  # the mean prior variance of an output
    classes: list[Neighborhood]
    scale: NoveltyScale

    def novelty(self, X) -> np.ndarray:
        """Return the novelty of points."""
        n_known = max(len(one.root) for one in self.classes)
        rows = max(MAX_BLOCK_VALUES // n_known, 1)
        found = [np.empty(0)]
        with one_blas_thread():
            for start in range(0, X.shape[0], rows):
                part = in_double(X[start : start + rows])
                least = _variances(self.kernel, part, self.classes).min(axis=1)
                found.append(_strangeness(self.kernel, least / self.prior))
        return self.scale.novelty(np.concatenate(found))


def learn_surroundings(kernel: Kernel, known: KnownPoints, softness: float) -> Surroundings:
    """Factor the matrix of each class, and find how strange its points are when left out.

    The prior variance of an output at a point x is k(x, x), and rows of one class reduce it to
    k(x, x) - k_x' (K + noise)^-1 k_x. The least of all classes says how strange x is. Leaving out
    one of the w copies of a training point takes 1 / noise from its precision.
    """
    points, target, weight = known
    points = in_double(points)
    kernel = kernel._replace(constant=0.0)
    prior = float(np.average(kernel.lengths(points) ** 2, weights=weight)) or 1.0
    noise = max(softness, MIN_NOISE) * prior / weight
    members = [np.flatnonzero(target == c) for c in np.unique(target)]
    with one_blas_thread():
        classes = [_neighborhood(kernel, points[here], noise[here]) for here in members]
        variances = _variances(kernel, points, classes)
    for c, (here, one) in enumerate(zip(members, classes, strict=True)):
        determined = noise[here] * np.einsum("ij,ij->j", one.root, one.root)
        copy = np.minimum(weight[here], 1.0) / weight[here]
        variances[here, c] = noise[here] * (1 - determined) / (1 - copy + copy * determined)
    left_out = _strangeness(kernel, variances.min(axis=1) / prior)
    return Surroundings(kernel, prior, classes, novelty_scale(left_out, weight))


def _neighborhood(kernel: Kernel, points, noise: np.ndarray) -> Neighborhood:
    matrix = kernel(points, points)
    matrix.flat[:: len(matrix) + 1] += noise
    try:
        lower = linalg.cholesky(matrix, lower=True)
    except linalg.LinAlgError:
        raise ValueError(
            "novelty needs a positive definite kernel, but the matrix of this one has negative "
            'eigenvalues between training points. Use another kernel, such as "rbf".'
        ) from None
    return Neighborhood(points, linalg.solve_triangular(lower, np.eye(len(lower)), lower=True))


def _variances(kernel: Kernel, X, classes: list[Neighborhood]) -> np.ndarray:
    """Return the variance of outputs at points that the rows of each class alone leave."""
    squared = finite_lengths(kernel, X) ** 2
    found = []
    for one in classes:
        half = kernel(X, one.points) @ one.root.T
        found.append(squared - np.einsum("ij,ij->i", half, half))
    return np.stack(found, axis=1)


def _strangeness(kernel: Kernel, variance: np.ndarray) -> np.ndarray:
    """Return a number in [0, 1] that increases with the variance, given in units of the prior."""
    variance = np.maximum(variance, 0.0)
    if kernel.normalize or kernel.name in BOUNDED_KERNELS:
        return np.minimum(variance, 1.0)
    return 1 - 1 / (1 + variance)
