"""Training points of unit length in feature space, for fits without the whole Gram matrix."""

from __future__ import annotations

import numpy as np

from ..geometry.gram import IndefiniteKernelError, check_symmetric
from ..geometry.kernels import NOT_FINITE_MESSAGE
from ..geometry.problem import off_origin
from ..geometry.row_store import MAX_POINTS_IN_ONE_BLOCK
from ..geometry.unit_kernel import is_product_kernel, lengths_in_blocks
from .task import Task


def used_points(task: Task) -> tuple[np.ndarray, np.ndarray]:
    """Return the training points that are not at the origin, and their lengths."""
    if task.kernel.name == "precomputed":
        check_symmetric(task.X)
        squared = np.diagonal(task.X) + task.kernel.constant
        if not squared.min() >= 0:
            raise IndefiniteKernelError(
                f"The kernel matrix has {squared.min():.3g} on its diagonal, but the squared "
                "length of a point cannot be negative."
            )
        lengths = np.sqrt(squared)
    else:
        lengths = lengths_in_blocks(task.kernel, task.X)
    if not np.isfinite(lengths).all():
        raise ValueError(NOT_FINITE_MESSAGE)
    rows = off_origin(lengths)
    return rows, lengths[rows]


def single_will_do(task: Task, X) -> bool:
    """Tell whether products in single precision are exact enough, and worth it."""
    return X.shape[0] > MAX_POINTS_IN_ONE_BLOCK and is_product_kernel(task.kernel, X)
