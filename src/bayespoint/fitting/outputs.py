"""Outputs of hypotheses at new points, a block of points at a time."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from scipy import sparse

from .._runtime.share_done import advance
from .._runtime.threads import one_blas_thread, threads
from ..geometry.kernels import Kernel
from ..geometry.points import in_double, stack_points
from ..geometry.row_store import BLOCK_POINTS
from ..geometry.unit_kernel import lengths_in_blocks, panels
from ..solvers.cells import nearest
from .unit_blocks import fast_kernel, is_fast

# Hold at most this many bytes of the kernel matrix at once.
MAX_BLOCK_BYTES = 2**26
# With fewer points, preparing the support vectors for fast products costs more than it saves.
MIN_FAST_POINTS = 64


def outputs(
    kernel: Kernel,
    X,
    support_vectors,
    coef: np.ndarray,
    single: bool = False,
    n_jobs: int | None = None,
    unit: bool = True,
) -> Iterator[np.ndarray]:
    """Yield the outputs at the rows of X, by default divided by their lengths.

    Parameters
    ----------
    kernel : Kernel
        Any kernel that is not precomputed.
    X : {array, sparse matrix} of shape (n, n_features)
        New points.
    support_vectors : {array, sparse matrix} of shape (n_support, n_features)
        The points that have coefficients.
    coef : array of shape (n_support, n_outputs)
        Coefficients of hypotheses.
    single : bool, default=False
        Whether kernel values in single precision are exact enough.
    n_jobs : int, default=None
        Number of threads, in single precision only.
    unit : bool, default=True
        Whether to divide by the length of a point in feature space. Single precision
        always divides.

    Yields
    ------
    ndarray of shape (n_block, n_outputs)
        The outputs of a block of consecutive rows.
    """
    if single and X.shape[0] >= MIN_FAST_POINTS and is_fast(kernel, X):
        unit_coef = coef * lengths_in_blocks(kernel, support_vectors)[:, None]
        yield from _fast_outputs(fast_kernel(kernel, support_vectors), X, unit_coef, n_jobs)
        return
    support = in_double(support_vectors)
    rows = max(MAX_BLOCK_BYTES // (8 * max(coef.shape)), 1)
    for start in range(0, X.shape[0], rows):
        part = in_double(X[start : start + rows])
        values = kernel(part, support)
        if unit:
            lengths = kernel.lengths(part)
            values = values / np.where(lengths > 0, lengths, 1.0)[:, None]
        yield values @ coef


def cell_outputs(
    kernel: Kernel, X, support_vectors, coef: np.ndarray, centers: np.ndarray
) -> np.ndarray:
    """Return the outputs of hypotheses that see only support vectors of a point's own cell."""
    cell, cell_of_support = nearest(X, centers), nearest(support_vectors, centers)
    values = np.zeros((X.shape[0], coef.shape[1]))
    for c in np.intersect1d(cell, cell_of_support):
        points, carriers = np.flatnonzero(cell == c), np.flatnonzero(cell_of_support == c)
        blocks = outputs(kernel, X[points], support_vectors[carriers], coef[carriers])
        values[points] = np.concatenate(list(blocks))
    return values


class MosaicHypothesis(NamedTuple):
    """A hypothesis with a global part on landmarks, and a local part in each cell."""

    kernel: Kernel
    centers: np.ndarray  # of cells
    support_vectors: np.ndarray
    coef: np.ndarray  # (n_support, n_outputs)
    landmarks: np.ndarray  # (n_landmarks, n_features)
    landmark_coef: np.ndarray  # (n_cells, n_outputs, n_landmarks)

    def cells_of(self, X) -> np.ndarray:
        """Return the number of the cell of each point."""
        return nearest(cell_coordinates(self.kernel, X), self.centers)

    def outputs(self, X, single: bool, n_jobs: int | None) -> np.ndarray:
        """Return the outputs at the rows of X."""
        cell, cell_of_support = self.cells_of(X), self.cells_of(self.support_vectors)
        values = np.zeros((X.shape[0], self.coef.shape[1]))
        of_landmarks = self._landmark_outputs(X, single, n_jobs)
        n_done = 0
        for c in np.unique(cell):
            points = np.flatnonzero(cell == c)
            carriers = np.flatnonzero(cell_of_support == c)
            here, coef = self.support_vectors[carriers], self.coef[carriers]
            used = np.flatnonzero(np.any(self.landmark_coef[c] != 0, axis=0))
            if len(used) == self.landmarks.shape[0]:
                values[points] = np.concatenate(list(of_landmarks(points, c)))
            else:  # few landmarks, and fewer operations if they are carriers like the others
                here = stack_points(here, self.landmarks[used])
                coef = np.vstack([coef, self.landmark_coef[c][:, used].T])
            if len(coef):  # none if the cell was not reached in time
                near = outputs(self.kernel, X[points], here, coef, single, n_jobs)
                values[points] += np.concatenate(list(near))
            n_done += len(points)
            advance(n_done / len(cell), "predicting")
        return values

    def _landmark_outputs(self, X, single: bool, n_jobs: int | None):
        """Return a function: from points of a cell to the outputs of all landmarks."""
        fast = single and X.shape[0] >= MIN_FAST_POINTS and is_fast(self.kernel, X)
        prepared: list = []  # once for all cells, if they need it

        def compute(points: np.ndarray, c: int) -> Iterator[np.ndarray]:
            on_landmarks = np.ascontiguousarray(self.landmark_coef[c].T)
            if not fast:
                return outputs(self.kernel, X[points], self.landmarks, on_landmarks)
            if not prepared:
                lengths = lengths_in_blocks(self.kernel, self.landmarks)[:, None]
                prepared.extend([fast_kernel(self.kernel, self.landmarks), lengths])
            unit, lengths = prepared
            return _fast_outputs(unit, X[points], on_landmarks * lengths, n_jobs)

        return compute


def cell_coordinates(kernel: Kernel, X):
    """Return points in the units in which cells are divided: columns that matter count more."""
    return X if kernel.mixture is None else kernel.mixture.views.see("position", X)


def precomputed_outputs(X, support: np.ndarray, coef: np.ndarray, constant: float, length: float):
    """Yield the outputs at rows of a precomputed kernel matrix, for points of one length."""
    rows = max(MAX_BLOCK_BYTES // (8 * max(coef.shape)), 1)
    for start in range(0, X.shape[0], rows):
        part = X[start : start + rows]
        part = part.toarray() if sparse.issparse(part) else part
        yield (part[:, support] + constant) / length @ coef


def _fast_outputs(unit, X, unit_coef: np.ndarray, n_jobs: int | None):
    """Yield outputs from kernel values in single precision, summed in double."""
    parts = panels(unit.n_points)

    def work(start: int) -> np.ndarray:
        left = unit.left(X[start : start + BLOCK_POINTS])
        n = min(BLOCK_POINTS, X.shape[0] - start)
        total = np.zeros((n, unit_coef.shape[1]))
        for number, here in enumerate(parts):
            values = np.empty((n, here.stop - here.start), dtype=np.float32)
            unit.panel(left, number, values)
            total += values.astype(np.float64) @ unit_coef[here]
        return total

    with one_blas_thread(), threads(n_jobs) as thread_map:
        yield from thread_map(work, range(0, X.shape[0], BLOCK_POINTS))
