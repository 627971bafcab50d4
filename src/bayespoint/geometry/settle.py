"""Parameters of a kernel that depend on the training data: gamma, origin, constant."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy import sparse

from .columns import medians
from .kernels import GAMMA_KERNELS, NOT_FINITE_MESSAGE, Kernel
from .steady_sums import coarse_and_fine, total

# If the mean square is smaller, squares of entries a thousandth as large lose digits.
MIN_MEAN_SQUARE = 2**20 * np.finfo(float).tiny


def settle_kernel(
    name: str | Callable,
    X,
    *,
    gamma: float | str,
    degree: float,
    coef0: float,
    normalize: bool,
    fit_intercept: bool,
    weight: np.ndarray | None = None,
) -> Kernel:
    """Set the kernel parameters that depend on the training data.

    A row of a whole weight counts as that many equal rows. Instead of points, X may be their
    `Statistics`.

    The constant makes a threshold possible (002, eq. 18.4). It is the mean squared length
    of the training points, so that its weight does not depend on the units of the features.
    For rbf and normalized kernels it is 1, as in 002.
    """
    if name == "precomputed" and normalize:
        raise ValueError(
            "normalize=True needs k(x, x) of the test points, which a precomputed "
            "kernel matrix does not hold. Normalize the matrix before passing it, or "
            "pass a callable kernel."
        )
    of_points = X if isinstance(X, Statistics) else Statistics(X, weight)
    kernel = Kernel(
        name,
        gamma=_settle_gamma(gamma, of_points, name) if name in GAMMA_KERNELS else 1.0,
        degree=degree,
        coef0=coef0,
        normalize=normalize,
        origin=_settle_origin(name, of_points, fit_intercept and not normalize),
    )
    if not fit_intercept:
        return kernel
    mean = of_points.mean_squared_length(kernel)
    if mean < MIN_MEAN_SQUARE and name == "linear" and of_points.differ():
        raise ValueError(
            "Squares of these features are too small for double precision. Scale the features, "
            "for example with StandardScaler."
        )
    if not np.isfinite(mean):
        raise ValueError(NOT_FINITE_MESSAGE)
    return kernel._replace(constant=mean if mean > 0 else 1.0)


class Statistics:
    """What a kernel needs to know about all training points; a subclass may have them elsewhere."""

    def __init__(self, X, weight: np.ndarray | None = None):
        self.X, self.weight = X, weight
        self.n_features, self.is_sparse, self.dtype = X.shape[1], sparse.issparse(X), X.dtype

    def mean(self) -> np.ndarray:
        """Return the mean of each feature."""
        if self.weight is None:
            return np.asarray(self.X.mean(axis=0)).ravel()
        return self.X.T @ (self.weight / self.weight.sum())

    def median(self) -> np.ndarray:
        """Return the median of each feature of dense points."""
        return np.median(self.X, axis=0) if self.weight is None else medians(self.X, self.weight)

    def variance(self) -> float:
        """Return the variance of all entries, in an arithmetic without regard to their order."""
        return variance_of(lambda task, *given: [task(self.X, self.weight, *given)])

    def largest(self) -> float:
        """Return the largest absolute value of an entry."""
        return float(abs(self.X).max())

    def differ(self) -> bool:
        """Tell whether dense points differ, or entries of sparse points."""
        if self.is_sparse:
            return bool(self.X.min() != self.X.max())
        return bool(np.any(self.X[0] != self.X))

    def mean_squared_length(self, kernel: Kernel) -> float:
        """Return the mean of k(x, x)."""
        is_matrix = kernel.name == "precomputed"
        squared = np.diagonal(self.X) if is_matrix else kernel.lengths(self.X) ** 2
        return float(np.average(squared, weights=self.weight))


def _settle_origin(name, of_points: Statistics, movable: bool):
    """Return the point from which a kernel measures positions, or 0 if it must not move.

    For a linear kernel with an intercept (and not normalized) it is the mean: then the
    constant need not compensate for the position of the features. For rbf it is the median,
    which a single outlier does not move far from the other points.
    """
    if name == "linear" and movable:
        return of_points.mean()
    return of_points.median() if name == "rbf" and not of_points.is_sparse else 0.0


def _settle_gamma(gamma, of_points: Statistics, name) -> float:
    """Return gamma, or 1 / (n_features * X.var()) for "scale", as SVC does.

    The laplacian kernel uses distances, not their squares, so it takes the root of the variance.
    """
    if gamma != "scale":
        return float(gamma)
    with np.errstate(over="ignore", invalid="ignore"):
        variance = of_points.variance()
        # The variance of constant data is zero up to rounding.
        constant = np.sqrt(variance) <= 4 * np.finfo(of_points.dtype).eps * of_points.largest()
        lost = constant and of_points.differ()
        unit = np.sqrt(variance) if name == "laplacian" else variance
    scale = 1.0 if constant else 1.0 / (of_points.n_features * unit)
    if not np.isfinite(scale) or not np.isfinite(variance) or (lost and variance == 0):
        raise ValueError(
            f'gamma="scale" needs features of moderate size, but the variance of X is '
            f"{variance:.3g}. Scale the features, for example with StandardScaler."
        )
    return scale


def variance_of(each: Callable) -> float:
    """Return the variance of all entries of points, in one or more parts.

    `each` runs a function with points, weights, and the arguments that it gets, on each part.
    """
    n, largest = np.array(each(_size_and_largest)).T
    unit = largest.max() or 1.0
    n_entries = n.sum()
    mean = total(each(_entry_sums, unit)) / n_entries
    return float(unit**2 * (total(each(_entry_squares, unit, mean)) / n_entries))


def _size_and_largest(X, weight) -> tuple[float, float]:
    """Return how many entries there are, by weight, and the largest absolute value."""
    n = (X.shape[0] if weight is None else weight.sum()) * X.shape[1]
    return float(n), float(abs(X).max()) if X.shape[0] else 0.0


def _entry_sums(X, weight, unit: float) -> np.ndarray:
    """Return coarse and fine sums of all entries."""
    values, of_values = _entries(X, weight)
    return coarse_and_fine(values / unit, of_values)


def _entry_squares(X, weight, unit: float, mean: float) -> np.ndarray:
    """Return the sums of squared differences of all entries from their mean."""
    values, of_values = _entries(X, weight)
    sums = coarse_and_fine((values / unit - mean) ** 2, of_values)
    n_stored = len(values) if of_values is None else of_values.sum()
    sums[1] += (_size_and_largest(X, weight)[0] - n_stored) * mean**2  # of zeros in sparse points
    return sums


def _entries(X, weight) -> tuple[np.ndarray, np.ndarray | None]:
    """Return the stored entries in double precision, and their weights."""
    if not sparse.issparse(X):
        values = X.astype(np.float64, copy=False).ravel()
        return values, None if weight is None else np.repeat(weight, X.shape[1])
    X = X.tocsr()
    n_each = np.diff(X.indptr)
    return X.data.astype(np.float64), None if weight is None else np.repeat(weight, n_each)
