"""A machine for each cell of input space, for many points with a detailed boundary."""

from __future__ import annotations

from numbers import Integral

import numpy as np
from scipy import sparse
from sklearn.metrics import pairwise_distances_argmin
from sklearn.utils._param_validation import Interval

from .ep import EP

# Divide cells with more than this many times `n_points`.
MAX_CELL_RATIO = 2
# Give the points of cells with less than this share of `n_points` to their neighbors.
MIN_CELL_RATIO = 0.1
# Stop dividing cells and giving points away after this many rounds.
MAX_DIVISION_ROUNDS = 10
# "cells" finds cells with at most this many points, so that a cluster can bring them together.
MAX_CLUSTERED_POINTS = 100_000
# Points per step of the clustering.
CLUSTERING_BATCH_POINTS = 4096


class Cells(EP):
    """Divide the points into cells and approximate the posterior in each with `EP`.

    For training sets whose whole Gram matrix is too large, whose boundary has more detail
    than landmarks can express, and whose labels are too noisy for perceptrons. Points belong
    to the cell of the nearest center, in the units of the features. The kernel is zero
    between points of different cells, so that the hypotheses of cells are independent. A
    prediction needs the kernel with the points of one cell.

    Parameters
    ----------
    n_points : int, default=1000
        Approximate number of training points in a cell; no cell has more than twice this
        number. The boundary may jump at the border between two cells: larger cells have fewer
        borders, but time grows with the square of this number.
    max_iter, tol, damping, n_draws
        As in `EP`.

    Notes
    -----
    Each pass over m training points takes O(m n_points^2). The outputs of a cell are in units
    of its typical standard deviation, so that probabilities rank like decisions.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from bayespoint import BayesPointClassifier
    >>> from bayespoint.solvers import Cells
    >>> X, y = make_moons(100, noise=0.3, random_state=0)
    >>> model = BayesPointClassifier(
    ...     "rbf", gamma=1.0, softness=0.1, solver=Cells(n_points=50)
    ... ).fit(X, y)
    >>> model.cell_centers_.shape
    (2, 2)
    """

    needs = "cells"
    grows = False
    _parameter_constraints = {
        **EP._parameter_constraints,
        "n_points": [Interval(Integral, 10, None, closed="left")],
    }

    def __init__(self, n_points=1000, *, max_iter=200, tol=1e-2, damping=0.9, n_draws=32):
        super().__init__(max_iter=max_iter, tol=tol, damping=damping, n_draws=n_draws)
        self.n_points = n_points


def cell_centers(X, n_points: int) -> np.ndarray:
    """Return the centers of cells with about `n_points` of these points each.

    They depend only on the data, not on a seed.
    """
    return divide_into_cells(Divided(X), n_points)


def divide_into_cells(points, n_points: int) -> np.ndarray:
    """Return the centers of cells of points, which may be `Divided` or on a cluster."""
    found = points.means(max(round(points.n_points / n_points), 1))
    for _ in range(MAX_DIVISION_ROUNDS):
        size = points.sizes(found)
        large = np.flatnonzero(size > MAX_CELL_RATIO * n_points)
        small = (size < MIN_CELL_RATIO * n_points) & (size < size.max())
        if not large.size and not small.any():
            break
        kept = ~small
        kept[large] = False
        divided = points.means_in(large, [round(size[c] / n_points) for c in large])
        found = np.unique(np.concatenate([found[kept], *divided]), axis=0)
    return found


class Divided:
    """Points that are divided among centers; `max_points` of them, evenly spaced, find means."""

    def __init__(self, X, max_points: int | None = None):
        self.X, self.max_points = X, max_points
        self.n_points = X.shape[0]
        self.cell = np.zeros(self.n_points, dtype=int)

    def means(self, k: int) -> np.ndarray:
        """Return the centers of k clusters of all points."""
        return means(evenly_spaced(self.X, self.max_points), k)

    def sizes(self, centers: np.ndarray) -> np.ndarray:
        """Divide the points among centers; return how many each has."""
        self.cell = nearest(self.X, centers)
        return np.bincount(self.cell, minlength=len(centers))

    def means_in(self, cells: np.ndarray, k: list[int]) -> list[np.ndarray]:
        """Return centers of clusters of the points of some cells."""
        return [
            means(evenly_spaced(self.X[self.cell == c], self.max_points), n)
            for c, n in zip(cells, k, strict=True)
        ]


def evenly_spaced(X, n: int | None):
    """Return at most n of the points, all if it is None."""
    m = X.shape[0]
    return X if n is None or m <= n else X[spaced_positions(m, n)]


def spaced_positions(m: int, n: int) -> np.ndarray:
    """Return the positions of n of m points."""
    return np.linspace(0, m - 1, n).astype(np.intp)


def nearest(X, centers: np.ndarray) -> np.ndarray:
    """Return the number of the cell of each point."""
    if len(centers) == 1:
        return np.zeros(X.shape[0], dtype=int)
    return pairwise_distances_argmin(X, centers.astype(X.dtype))


def means(X, k: int) -> np.ndarray:
    """Return the centers of k clusters of points, fewer if points coincide."""
    if k == 1:
        return np.asarray(X.mean(axis=0)).reshape(1, -1)
    if sparse.issparse(X):
        X = sparse.csr_array(X)
    from sklearn.cluster import MiniBatchKMeans  # loads half of scikit-learn

    found = MiniBatchKMeans(k, batch_size=CLUSTERING_BATCH_POINTS, n_init=1, random_state=0).fit(X)
    return found.cluster_centers_
