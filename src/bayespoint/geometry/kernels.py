"""Kernel functions k(x, x'), normalized and with a constant term on request."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from scipy.spatial.distance import cdist
from sklearn.metrics.pairwise import linear_kernel, pairwise_kernels, rbf_kernel
from sklearn.utils.extmath import row_norms

from .gram import check_squared_lengths
from .mixture import Mixture
from .mixture_square import mixture_square
from .points import squared_norms

GAMMA_KERNELS = ("poly", "rbf", "laplacian", "sigmoid")
KERNELS = ("linear", "poly", "rbf", "laplacian", "sigmoid", "precomputed")

# Rows per block where only the diagonal of a kernel, or single entries, are wanted.
_BLOCK_ROWS = 128
# With up to this many features, distances are sums of squared differences.
_MAX_DIFFERENCE_FEATURES = 16
# Products lose too many digits if gamma |x|^2, the squared distance from the origin in widths
# of the kernel, is larger than this.
MAX_SQUARED_WIDTHS = 64.0
# Two points are neighbors if their rbf kernel differs from one by less than this.
_NEIGHBOR_GAP = 1e-6
# Do not refine neighbors if it takes more differences than this, a few tenths of a second:
# then most points are neighbors anyway.
_MAX_NEIGHBOR_DIFFERENCES = 50_000_000

NOT_FINITE_MESSAGE = (
    "The kernel should give a finite number for every pair of rows, but some are NaN or "
    "infinite. Scale the features to moderate values, or change gamma, degree (a whole number "
    "for negative inner products) or coef0."
)


class Kernel(NamedTuple):
    """A kernel with all its parameters settled.

    Calling it gives the matrix of k(x, x') between the rows of two arrays; `lengths`
    gives |phi(x)| = sqrt(k(x, x)) for each row. The rbf and linear kernels measure rows
    from `origin`. For rbf this only reduces rounding errors far from zero.
    """

    name: str | Callable
    gamma: float = 1.0
    degree: float = 3.0
    coef0: float = 1.0
    normalize: bool = False
    constant: float = 0.0
    origin: Any = 0.0
    mixture: Mixture | None = None  # the sum of kernels that name="mixture" stands for

    def __call__(self, X, Y) -> np.ndarray:
        """Return k(x, y) for every row x of X and y of Y."""
        matrix = self._values(X, Y)
        if self.normalize:
            matrix = matrix / np.outer(unnormalized_lengths(self, X), unnormalized_lengths(self, Y))
        return matrix + self.constant if self.constant else matrix

    def square(self, X, thread_map: Callable = map) -> np.ndarray:
        """Return k(x, y) for all rows of X; a mixture in threads, with the same bits for any."""
        if self.mixture is None:
            return self(X, X)
        n = X.shape[0]
        matrix = _checked_matrix(mixture_square(self.mixture, X, thread_map), n, n)
        matrix += self.constant
        return matrix

    def lengths(self, X) -> np.ndarray:
        """Return the length in feature space of every row of X."""
        squared = _squared_lengths(self, X)
        if self.normalize:
            squared = (squared > 0).astype(float)
        return np.sqrt(squared + self.constant)

    def _values(self, X, Y) -> np.ndarray:
        """Return the kernel matrix before it is normalized and the constant is added."""
        if callable(self.name):
            matrix = self.name(X, Y)
        elif self.mixture is not None:
            matrix = self.mixture.matrix(X, Y)
        elif self.name == "rbf" and not sparse.issparse(X) and not sparse.issparse(Y):
            matrix = _dense_rbf(X, Y, self.gamma, self.origin)
        elif self.name == "linear":
            matrix = _linear(X, Y, self.origin)
        else:
            with np.errstate(over="ignore", invalid="ignore"):
                matrix = pairwise_kernels(
                    X,
                    Y,
                    metric=self.name,
                    filter_params=True,
                    gamma=self.gamma,
                    degree=self.degree,
                    coef0=self.coef0,
                )
        return _checked_matrix(matrix, X.shape[0], Y.shape[0])


def finite_lengths(kernel: Kernel, X) -> np.ndarray:
    """Return the length in feature space of every row of X; raise if one overflows."""
    lengths = kernel.lengths(X)
    if not np.isfinite(lengths).all():
        raise ValueError(NOT_FINITE_MESSAGE)
    return lengths


def _linear(X, Y, origin) -> np.ndarray:
    """Return <x - origin, y - origin>; sparse rows stay sparse."""
    with np.errstate(over="ignore", invalid="ignore"):
        if not np.any(origin):
            return linear_kernel(X, Y)
        if not sparse.issparse(X) and not sparse.issparse(Y):
            return linear_kernel(X - origin, Y - origin)
        return linear_kernel(X, Y) - (X @ origin)[:, None] - Y @ origin + origin @ origin


def _dense_rbf(X, Y, gamma: float, origin) -> np.ndarray:
    """Return exp(-gamma |x - y|^2) without losing the digits of small distances.

    Matrix products lose them, and then cannot tell whether two points are the same, which
    decides whether labels contradict each other. With few features differences cost no
    more. With many features they are taken only for neighbors, or if points are so far away
    that products would lose all digits.
    """
    with np.errstate(over="ignore"):
        if X.shape[1] <= _MAX_DIFFERENCE_FEATURES:
            return np.exp(-gamma * cdist(X, Y, "sqeuclidean"))
        X, Y = X - origin, Y - origin
        reach = max(row_norms(A, squared=True).max(initial=0.0) for A in (X, Y))
        if not gamma * reach <= MAX_SQUARED_WIDTHS:
            return np.exp(-gamma * cdist(X, Y, "sqeuclidean"))
        matrix = rbf_kernel(X, Y, gamma=gamma)
    rows, columns = np.nonzero(matrix > 1 - _NEIGHBOR_GAP)
    if len(rows) * X.shape[1] <= _MAX_NEIGHBOR_DIFFERENCES:
        for part in np.array_split(np.arange(len(rows)), 1 + len(rows) // _BLOCK_ROWS):
            off = X[rows[part]] - Y[columns[part]]
            matrix[rows[part], columns[part]] = np.exp(-gamma * np.sum(off**2, axis=1))
    return matrix


def unnormalized_lengths(kernel: Kernel, X) -> np.ndarray:
    """Return |phi(x)| before normalization, and 1 for a point at the origin."""
    lengths = np.sqrt(_squared_lengths(kernel, X))
    return np.where(lengths > 0, lengths, 1.0)


def _squared_lengths(kernel: Kernel, X) -> np.ndarray:
    """Return k(x, x) for every row x of X without computing the whole matrix."""
    with np.errstate(over="ignore", invalid="ignore"):
        squared = _possible_squared_lengths(kernel, X)
    check_squared_lengths(squared)
    return squared


def _possible_squared_lengths(kernel: Kernel, X) -> np.ndarray:
    """Return k(x, x), which may overflow, or be negative if this is not a kernel."""
    if callable(kernel.name):
        return _callable_diagonal(kernel.name, X)
    if kernel.name in ("rbf", "laplacian", "mixture"):
        return np.ones(X.shape[0])
    squared = squared_norms(X, kernel.origin if kernel.name == "linear" else 0.0)
    if kernel.name == "poly":
        return (kernel.gamma * squared + kernel.coef0) ** kernel.degree
    return np.tanh(kernel.gamma * squared + kernel.coef0) if kernel.name == "sigmoid" else squared


def _callable_diagonal(function: Callable, X) -> np.ndarray:
    """Return the diagonal of a user's kernel, a block of rows at a time."""
    blocks = []
    for start in range(0, X.shape[0], _BLOCK_ROWS):
        block = X[start : start + _BLOCK_ROWS]
        rows = block.shape[0]
        blocks.append(np.diagonal(_checked_matrix(function(block, block), rows, rows)))
    return np.concatenate(blocks) if blocks else np.empty(0)


def _checked_matrix(matrix, n_rows: int, n_columns: int) -> np.ndarray:
    """Return the matrix of a kernel; raise if it is not finite or has the wrong shape."""
    matrix = matrix.toarray() if sparse.issparse(matrix) else matrix
    matrix = np.asarray(matrix, dtype=np.float64)
    if matrix.shape != (n_rows, n_columns):
        raise ValueError(
            f"The kernel function was called with {n_rows} and {n_columns} rows and "
            f"should return a matrix of shape ({n_rows}, {n_columns}), but returned "
            f"shape {matrix.shape}."
        )
    if not np.isfinite(matrix).all():
        raise ValueError(NOT_FINITE_MESSAGE)
    return matrix
