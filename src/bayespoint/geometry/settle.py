"""Parameters of a kernel that depend on the training data: gamma, origin, constant."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy import sparse
from sklearn.utils.sparsefuncs import mean_variance_axis

from .columns import medians
from .kernels import GAMMA_KERNELS, NOT_FINITE_MESSAGE, Kernel


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
    if mean == 0 and name == "linear" and not of_points.is_sparse and of_points.differ():
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
        """Return the variance of all entries."""
        if self.is_sparse:
            means, variances = mean_variance_axis(self.X, axis=0, weights=self.weight)
            return float(variances.mean() + means.var())
        return _variance(self.X, self.weight)

    def largest(self) -> float:
        """Return the largest absolute value of an entry."""
        return float(abs(self.X).max())

    def differ(self) -> bool:
        """Tell whether dense points differ."""
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
        lost = constant and not of_points.is_sparse and of_points.differ()
        unit = np.sqrt(variance) if name == "laplacian" else variance
    scale = 1.0 if constant else 1.0 / (of_points.n_features * unit)
    if not np.isfinite(scale) or not np.isfinite(variance) or (lost and variance == 0):
        raise ValueError(
            f'gamma="scale" needs features of moderate size, but the variance of X is '
            f"{variance:.3g}. Scale the features, for example with StandardScaler."
        )
    return scale


def _variance(X: np.ndarray, weight: np.ndarray | None) -> float:
    """Return the variance of all entries of a table."""
    if weight is None:
        return float(X.var(dtype=np.float64))
    share = weight / (weight.sum() * X.shape[1])
    centered = X.astype(np.float64) - np.sum(share @ X)
    return float(np.sum(share @ centered**2))
