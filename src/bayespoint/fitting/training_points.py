"""Training points in feature space: their kernel matrix and their lengths."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .._runtime.warn import warn
from ..geometry.gram import check_squared_lengths, check_symmetric
from ..geometry.kernels import NOT_FINITE_MESSAGE, Kernel
from ..geometry.points import in_double
from ..geometry.problem import off_origin
from ..geometry.row_store import MAX_POINTS_IN_ONE_BLOCK
from ..geometry.unit_kernel import is_product_kernel, lengths_in_blocks
from .task import Task


def kernel_matrix(
    kernel: Kernel, X, rows: np.ndarray | None = None, thread_map: Callable = map
) -> np.ndarray:
    """Return the kernel matrix of the given rows of X, by default all, in double precision."""
    if kernel.name == "precomputed":
        rows = np.arange(X.shape[0]) if rows is None else rows
        return X[np.ix_(rows, rows)] + kernel.constant
    return kernel.square(in_double(X if rows is None else X[rows]), thread_map)


def heed_weights(task: Task) -> Task:
    """Return the task without weights if only their signs count; warn if that matters."""
    if task.weight is None:
        return task
    is_soft = task.softness > 0 or task.label_noise > 0
    if is_soft and getattr(task.solver, "supports_weights", False):
        return task
    if task.weights_differ and np.ptp(task.weight[task.points]) > 0:
        reason = type(task.solver).__name__ if is_soft else "a hard boundary (softness=0)"
        warn(
            f"Weights of the training points differ, but {reason} ignores positive weights: each "
            "of these points counts once. For weights pass softness > 0, and solver="
            '"regression", "ep", "nystroem", "cells" or "perceptron".'
        )
    return task._replace(weight=None)


def used_points(task: Task) -> tuple[np.ndarray, np.ndarray]:
    """Return the training points that are not at the origin, and their lengths.

    Their order depends on the points alone if equal rows are merged.
    """
    lengths, points = point_lengths(task), task.points
    off_origin(lengths)
    rows = points[lengths[points] > 0]
    return rows, lengths[rows]


def point_lengths(task: Task) -> np.ndarray:
    """Return the lengths of all training points in feature space."""
    if task.kernel.name == "precomputed":
        check_symmetric(task.X)
        squared = np.diagonal(task.X) + task.kernel.constant
        check_squared_lengths(squared, np.arange(len(squared)))
        lengths = np.sqrt(squared)
    else:
        lengths = lengths_in_blocks(task.kernel, task.X)
    if not np.isfinite(lengths).all():
        raise ValueError(NOT_FINITE_MESSAGE)
    return lengths


def single_precision_pays(task: Task, X, n_points: int) -> bool:
    """Tell whether kernel values of n_points rows in single precision are exact enough, and faster.

    Equal rows that are trained as one point count once.
    """
    return n_points > MAX_POINTS_IN_ONE_BLOCK and is_product_kernel(task.kernel, X)
