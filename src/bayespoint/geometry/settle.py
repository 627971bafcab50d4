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

    A row of a whole weight counts as that many equal rows.

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
    kernel = Kernel(
        name,
        gamma=_settle_gamma(gamma, X, name, weight) if name in GAMMA_KERNELS else 1.0,
        degree=degree,
        coef0=coef0,
        normalize=normalize,
        origin=_settle_origin(name, X, fit_intercept and not normalize, weight),
    )
    if not fit_intercept:
        return kernel
    squared = np.diagonal(X) if name == "precomputed" else kernel.lengths(X) ** 2
    mean = float(np.average(squared, weights=weight))
    if mean == 0 and name == "linear" and not sparse.issparse(X) and np.any(X[0] != X):
        raise ValueError(
            "Squares of these features are too small for double precision. Scale the features, "
            "for example with StandardScaler."
        )
    if not np.isfinite(mean):
        raise ValueError(NOT_FINITE_MESSAGE)
    return kernel._replace(constant=mean if mean > 0 else 1.0)


def _settle_origin(name, X, movable: bool, weight):
    """Return the point from which a kernel measures positions, or 0 if it must not move.

    For a linear kernel with an intercept (and not normalized) it is the mean: then the
    constant need not compensate for the position of the features. For rbf it is the median,
    which a single outlier does not move far from the other points.
    """
    if name == "linear" and movable:
        if weight is None:
            return np.asarray(X.mean(axis=0)).ravel()
        return X.T @ (weight / weight.sum())
    if name != "rbf" or sparse.issparse(X):
        return 0.0
    return np.median(X, axis=0) if weight is None else medians(X, weight)


def _settle_gamma(gamma, X, name, weight) -> float:
    """Return gamma, or 1 / (n_features * X.var()) for "scale", as SVC does.

    The laplacian kernel uses distances, not their squares, so it takes the root of the variance.
    """
    if gamma != "scale":
        return float(gamma)
    with np.errstate(over="ignore", invalid="ignore"):
        if sparse.issparse(X):
            means, variances = mean_variance_axis(X, axis=0, weights=weight)
            variance = float(variances.mean() + means.var())
        else:
            variance = _variance(X, weight)
        # The variance of constant data is zero up to rounding.
        constant = np.sqrt(variance) <= 4 * np.finfo(X.dtype).eps * float(abs(X).max())
        lost = constant and not sparse.issparse(X) and bool(np.any(X[0] != X))
        unit = np.sqrt(variance) if name == "laplacian" else variance
    scale = 1.0 if constant else 1.0 / (X.shape[1] * unit)
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
