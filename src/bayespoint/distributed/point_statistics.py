"""What a kernel needs to know about all training points of a cluster."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from scipy import sparse

from ..geometry.kernels import Kernel
from ..geometry.settle import Statistics
from ..geometry.unit_kernel import lengths_in_blocks
from .medians import count_bits, medians_of
from .row_parts import Part, RowParts

# The length of all points is one for these kernels.
UNIT_KERNELS = ("rbf", "laplacian")


class ClusterStatistics(Statistics):
    """Statistics of points on workers, computed when they are needed for the first time."""

    def __init__(self, rows: RowParts):
        self.rows = rows
        few = rows.take(np.arange(1)).X
        self.first = few
        self.n_features, self.is_sparse, self.dtype = few.shape[1], sparse.issparse(few), few.dtype

    def mean(self) -> np.ndarray:
        """Return the mean of each feature."""
        return self._moments[0]

    def median(self) -> np.ndarray:
        """Return the median of each feature of dense points."""
        return self._median

    def variance(self) -> float:
        """Return the variance of all entries."""
        means, squares, _ = self._moments
        return float(squares.mean() + means.var())

    def largest(self) -> float:
        """Return the largest absolute value of an entry."""
        return float(self._moments[2])

    def differ(self) -> bool:
        """Tell whether dense points differ."""
        return any(self.rows.ask(_differ, self.first))

    def mean_squared_length(self, kernel: Kernel) -> float:
        """Return the mean of k(x, x)."""
        if kernel.name in UNIT_KERNELS:
            return 1.0
        total, weight = np.sum(self.rows.ask(_squared_lengths, kernel), axis=0)
        return float(total / weight)

    @cached_property
    def _moments(self) -> tuple[np.ndarray, np.ndarray, float]:
        """Return means, variances of features, and the largest absolute value."""
        sums, weights, largest = zip(*self.rows.ask(_sums), strict=True)
        mean = np.sum(sums, axis=0) / sum(weights)
        squares = np.sum(self.rows.ask(_squares, mean), axis=0) / sum(weights)
        return mean, squares, max(largest)

    @cached_property
    def _median(self) -> np.ndarray:
        return medians_of(lambda *given: self.rows.ask(_count_bits, *given), self.n_features)


# Tasks


def _sums(part: Part) -> tuple[np.ndarray, float, float]:
    largest = float(abs(part.X).max()) if part.n_rows else 0.0
    return part.X.T.astype(np.float64) @ part.weight, float(part.weight.sum()), largest


def _squares(part: Part, mean: np.ndarray) -> np.ndarray:
    with np.errstate(over="ignore", invalid="ignore"):
        if not sparse.issparse(part.X):
            return part.weight @ (part.X - mean) ** 2
        # Of entries that are stored, and of zeros.
        X = part.X.tocsr().astype(np.float64)
        of_entry = np.repeat(part.weight, np.diff(X.indptr))
        stored = np.bincount(X.indices, of_entry, X.shape[1])
        off = of_entry * (X.data - mean[X.indices]) ** 2
        zeros = (part.weight.sum() - stored) * mean**2
        return np.bincount(X.indices, off, X.shape[1]) + zeros


def _differ(part: Part, first) -> bool:
    return bool(np.any(first != part.X))


def _squared_lengths(part: Part, kernel: Kernel) -> np.ndarray:
    if not part.n_rows:
        return np.zeros(2)
    squared = lengths_in_blocks(kernel, part.X) ** 2
    return np.array([part.weight @ squared, part.weight.sum()])


def _count_bits(part: Part, known: int, prefix: np.ndarray) -> np.ndarray:
    return count_bits(part.X, part.weight, known, prefix)
