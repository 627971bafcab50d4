"""What a kernel needs to know about all training points of a cluster."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from scipy import sparse

from ..geometry.kernels import Kernel
from ..geometry.settle import Statistics, variance_of
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
        sums, weights = zip(*self.rows.ask(_sums), strict=True)
        return np.sum(sums, axis=0) / sum(weights)

    def median(self) -> np.ndarray:
        """Return the median of each feature of dense points."""
        return self._median

    def variance(self) -> float:
        """Return the variance of all entries."""
        return self._variance

    def largest(self) -> float:
        """Return the largest absolute value of an entry."""
        return max(self.rows.ask(_largest))

    def differ(self) -> bool:
        """Tell whether dense points differ, or entries of sparse points."""
        return any(self.rows.ask(_differ, self.first))

    def mean_squared_length(self, kernel: Kernel) -> float:
        """Return the mean of k(x, x)."""
        if kernel.name in UNIT_KERNELS:
            return 1.0
        total, weight = np.sum(self.rows.ask(_squared_lengths, kernel), axis=0)
        return float(total / weight)

    @cached_property
    def _variance(self) -> float:
        return variance_of(lambda task, *given: self.rows.ask(_run, task, *given))

    @cached_property
    def _median(self) -> np.ndarray:
        return medians_of(lambda *given: self.rows.ask(_count_bits, *given), self.n_features)


# Tasks


def _sums(part: Part) -> tuple[np.ndarray, float]:
    return part.X.T.astype(np.float64) @ part.weight, float(part.weight.sum())


def _largest(part: Part) -> float:
    return float(abs(part.X).max()) if part.n_rows else 0.0


def _run(part: Part, task, *given):
    return task(part.X, part.weight, *given)


def _differ(part: Part, first) -> bool:
    if sparse.issparse(part.X):
        return bool(part.n_rows and part.X.min() != part.X.max())
    return bool(np.any(first != part.X))


def _squared_lengths(part: Part, kernel: Kernel) -> np.ndarray:
    if not part.n_rows:
        return np.zeros(2)
    squared = lengths_in_blocks(kernel, part.X) ** 2
    return np.array([part.weight @ squared, part.weight.sum()])


def _count_bits(part: Part, known: int, prefix: np.ndarray) -> np.ndarray:
    return count_bits(part.X, part.weight, known, prefix)
