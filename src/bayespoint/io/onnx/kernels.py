"""Kernels between rows and support vectors, and the outputs of hypotheses."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from ...classifiers._kernel_machine import KernelMachine
from ...fitting.outputs import cell_coordinates
from ...geometry.kernels import Kernel, unnormalized_lengths
from ...geometry.points import in_double
from ...solvers.cells import nearest
from .graph import Value, concat
from .mixture import MEASURES, SharedPoints, distances, mixture_matrix

# exp(-x) is zero in double precision for larger x.
_MAX_EXPONENT = 750.0
# With larger gamma |y|^2, exponents from matrix products have an error of more than 1e-10.
_MAX_SQUARED_WIDTHS = 1e5


def kernel_outputs(model: KernelMachine, coef: np.ndarray, X: Value, unit: bool = True) -> Value:
    """Return the outputs of hypotheses, one column each, as `KernelMachine` does.

    Parameters
    ----------
    model : KernelMachine
        A fitted classifier.
    coef : array of shape (n_support, n_outputs)
        Coefficients of the hypotheses.
    X : Value
        Points, one in each row.
    unit : bool, default=True
        Whether to divide by the length of each point in feature space.
    """
    kernel = _kernel(model)
    support: Any = model.support_vectors_
    support = in_double(support.toarray() if sparse.issparse(support) else support)
    landmarks = _landmarks(model)
    if hasattr(model, "cell_centers_") and (landmarks or len(model.cell_centers_) > 1):
        return _cell_outputs(kernel, X, support, coef, model.cell_centers_, landmarks)
    return _outputs(kernel, X, support, coef, unit)


class _Landmarks(NamedTuple):
    """The global part of a mosaic."""

    points: np.ndarray  # (n_landmarks, n_features)
    coef: np.ndarray  # (n_cells, n_landmarks, n_outputs)


def _landmarks(model: Any) -> _Landmarks | None:
    """Return the global part of a mosaic, in the units of `probit_scale_`."""
    if not hasattr(model, "landmark_coef_"):
        return None
    points: Any = model.landmark_vectors_
    points = in_double(points.toarray() if sparse.issparse(points) else points)
    return _Landmarks(points, model.landmark_coef_.swapaxes(1, 2) * float(model.probit_scale_))


def _kernel(model: KernelMachine) -> Kernel:
    kernel = model._fitted_kernel()
    if not isinstance(kernel.name, str) or kernel.name == "precomputed":
        kind = "A precomputed kernel" if kernel.name == "precomputed" else "A kernel function"
        raise ValueError(
            f"{kind} cannot be exported to ONNX, which cannot compute it at new points. "
            'Fit with kernel="auto", "linear", "poly", "rbf", "laplacian" or "sigmoid".'
        )
    # Plain numbers: those of NumPy would keep their types in the graph.
    return kernel._replace(
        gamma=float(kernel.gamma),
        degree=float(kernel.degree),
        coef0=float(kernel.coef0),
        constant=float(kernel.constant),
    )


def _cell_outputs(
    kernel: Kernel, X: Value, support, coef, centers: np.ndarray, landmarks: _Landmarks | None
) -> Value:
    """Return outputs of points, each from the support vectors of its own cell and landmarks."""
    graph = X.graph
    seen = X if kernel.mixture is None else X * kernel.mixture.views.scales[None]
    centers = in_double(centers)
    distances = np.sum(centers**2, axis=1) - (seen @ np.ascontiguousarray(2 * centers.T))
    cell = distances.op("ArgMin", axis=1, keepdims=0)
    cell_of_support = nearest(cell_coordinates(kernel, support), centers)
    result = X.columns([0]) * np.zeros((1, coef.shape[1]))
    all_points: Any = support if landmarks is None else np.vstack([support, landmarks.points])
    if kernel.mixture is not None:  # every cell needs most landmarks: store them once
        all_points = SharedPoints(graph, kernel.mixture.views, all_points)
    for c in np.unique(cell_of_support) if landmarks is None else range(len(centers)):
        members = np.flatnonzero(cell_of_support == c)
        weights = coef[members]
        if landmarks is not None:
            used = np.flatnonzero(np.any(landmarks.coef[c] != 0, axis=1))  # if compact, a part
            members = np.append(members, len(support) + used)
            weights = np.vstack([weights, landmarks.coef[c][used]])
        if not len(members):
            continue
        rows = cell.equal(np.int64(c)).op("NonZero").transpose(1, 0)  # (n, 1)
        points = X.op("Gather", rows.squeeze(1), axis=0)
        found = _outputs(kernel, points, all_points[members], weights, unit=True)
        result = graph.op("ScatterND", result, rows, found)
    return result


def _outputs(kernel: Kernel, X: Value, support, coef, unit: bool) -> Value:
    """Return the sum of coef_y (k(x, y) + constant) / |x| over support vectors y."""
    # With these kernels every point has length one, apart from the constant.
    has_length = kernel.name not in ("rbf", "laplacian", "mixture")
    if unit and not has_length:
        coef = coef / math.sqrt(1 + kernel.constant)
    lift = kernel.constant * coef.sum(axis=0)
    if kernel.normalize and has_length:  # of support vectors; of points, see below
        coef = coef / unnormalized_lengths(kernel, support)[:, None]
    if kernel.name == "linear":
        X, support = _minus(X, kernel.origin), support - kernel.origin
        values = X @ (support.T @ coef)  # a single product is enough
    else:
        values = _matrix(kernel, X, support) @ np.ascontiguousarray(coef)
    if not has_length or not (unit or kernel.normalize):
        return values + lift
    squared = _squared_lengths(kernel, X)
    if kernel.normalize:
        values = values / _zero_to_one(squared.sqrt())
        squared = (squared > 0.0).double()
    values = values + lift
    return values / _zero_to_one((squared + kernel.constant).sqrt()) if unit else values


def _zero_to_one(lengths: Value) -> Value:
    """Return lengths, with one in place of zero."""
    return lengths.equal(0.0).where(1.0, lengths)


def _squared_lengths(kernel: Kernel, X: Value) -> Value:
    """Return k(x, x) of each row, shape (rows, 1), for kernels that depend on <x, y>."""
    squares = _squares(X)
    return squares if kernel.name == "linear" else _map(kernel, squares * kernel.gamma)


def _matrix(kernel: Kernel, X: Value, support: Any) -> Value:
    """Return k(x, y), without the constant, for all rows and support vectors."""
    if kernel.mixture is not None:
        return mixture_matrix(kernel.mixture, X, support)
    if kernel.name == "laplacian":
        return (distances(X, X.graph.value(support), len(support), abs) * -kernel.gamma).exp()
    if kernel.name == "rbf":
        return _rbf(kernel, X, support)
    return _map(kernel, X @ np.ascontiguousarray(kernel.gamma * support.T))


def _map(kernel: Kernel, products: Value) -> Value:
    """Return values of the kernels poly and sigmoid from gamma <x, y>."""
    values = products + kernel.coef0
    return values.op("Tanh") if kernel.name == "sigmoid" else _power(values, kernel.degree)


def _rbf(kernel: Kernel, X: Value, support: np.ndarray) -> Value:
    """Return exp(-gamma |x - y|^2), by a matrix product where that is exact enough."""
    moved = support - kernel.origin
    squares = kernel.gamma * np.sum(moved**2, axis=1)
    if squares.max(initial=0.0) > _MAX_SQUARED_WIDTHS:
        found = distances(X, X.graph.value(support), len(support), MEASURES["squared"])
        return (found * -kernel.gamma).exp()
    # Beyond this limit the kernel is zero for all support vectors, and products may overflow.
    limit = float(np.abs(moved).max(initial=0.0)) + math.sqrt(_MAX_EXPONENT / kernel.gamma)
    X = _minus(X, kernel.origin).op("Clip", -limit, limit)
    left = concat([X, _squares(X) * -kernel.gamma])
    right = np.vstack([2 * kernel.gamma * moved.T, np.ones(len(support))])
    return (left @ right - squares).at_most(0.0).exp()


def _squares(X: Value) -> Value:
    return X.op("ReduceSumSquare", np.array([1]), keepdims=1)


def _minus(X: Value, origin: np.ndarray) -> Value:
    return X - np.atleast_1d(origin) if np.any(origin) else X


def _power(x: Value, degree: float) -> Value:
    """Return x^degree; for a whole degree by multiplications, which are faster."""
    if degree != int(degree) or degree < 1:
        return x.op("Pow", degree)
    value = x
    for digit in bin(int(degree))[3:]:
        value = value * value
        value = value * x if digit == "1" else value
    return value
