"""Blocks of the kernel matrix between unit training points, in single or double precision."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..geometry.kernels import Kernel
from ..geometry.mixture_kernel import MixtureKernel
from ..geometry.points import in_double
from ..geometry.unit_kernel import ProductKernel, is_product_kernel, panels

# Rows of a block whose kernel with a panel stays in the processor's cache.
BLOCK_ROWS = 128


def is_fast(kernel: Kernel, X) -> bool:
    """Tell whether the kernel can be computed in single precision, and faster."""
    return kernel.mixture is not None or is_product_kernel(kernel, X)


def fast_kernel(kernel: Kernel, Y) -> Any:
    """Return a `ProductKernel` or `MixtureKernel` of the given points; `is_fast` must be true."""
    return ProductKernel(kernel, Y) if kernel.mixture is None else MixtureKernel(kernel, Y)


class UnitBlocks:
    """The kernel between unit training points, a block at a time.

    Parameters
    ----------
    kernel : Kernel
        The kernel.
    X : {array, sparse matrix} of shape (n_samples, n_features)
        The training points; the kernel matrix for a precomputed kernel.
    rows : array of shape (m,)
        The points that are used. Everything else counts positions in this array.
    lengths : array of shape (m,)
        Their lengths in feature space.
    single : bool
        Whether to use single precision. Then `is_fast` must be true.
    """

    def __init__(self, kernel: Kernel, X, rows: np.ndarray, lengths: np.ndarray, single: bool):
        self.dtype = np.dtype(np.float32 if single else np.float64)
        self.rows = rows
        self._kernel, self._X, self._lengths = kernel, X, lengths

    def against(self, right: np.ndarray) -> Callable[..., np.ndarray]:
        """Return a function: from some points to their kernel with the given ones.

        The function has a second argument, the number of columns, by default all.
        """
        return self._fast(right) if self.dtype == np.float32 else self._exact(right)

    def _fast(self, right: np.ndarray):
        unit = fast_kernel(self._kernel, self._X[self.rows[right]])
        parts = panels(len(right))

        def compute(left: np.ndarray, n_columns: int = len(right)) -> np.ndarray:
            out = np.empty((len(left), n_columns), dtype=np.float32)
            for start in range(0, len(left), BLOCK_ROWS):
                block = slice(start, start + BLOCK_ROWS)
                side = unit.left(self._X[self.rows[left[block]]])
                n = len(left[block])
                for number, here in enumerate(parts):
                    if here.start >= n_columns:
                        break
                    part = np.empty((n, here.stop - here.start), dtype=np.float32)
                    unit.panel(side, number, part)
                    out[block, here] = part[:, : n_columns - here.start]
            return out

        return compute

    def _exact(self, right: np.ndarray):
        def compute(left: np.ndarray, n_columns: int = len(right)) -> np.ndarray:
            columns = right[:n_columns]
            rows, others = self.rows[left], self.rows[columns]
            if self._kernel.name == "precomputed":
                values = self._X[np.ix_(rows, others)] + self._kernel.constant
            else:
                values = self._kernel(in_double(self._X[rows]), in_double(self._X[others]))
            return values / np.multiply.outer(self._lengths[left], self._lengths[columns])

        return compute
