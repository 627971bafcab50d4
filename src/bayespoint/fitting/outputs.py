"""Outputs of hypotheses at new points, a block of points at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

import numpy as np
from scipy import sparse

from .._runtime.share_done import advance
from .._runtime.threads import count_threads, one_blas_thread, threads
from ..geometry.kernels import Kernel, finite_lengths
from ..geometry.points import in_double, stack_points
from ..geometry.row_store import BLOCK_POINTS
from ..geometry.unit_kernel import lengths_in_blocks, panels
from ..solvers.cells import nearest
from .unit_blocks import fast_kernel, is_fast

# A thread holds at most this many bytes of the kernel matrix at once.
MAX_BLOCK_BYTES = 2**26
# Blocks of this size stay in the processor's cache while their entries are mapped and summed.
CACHE_BYTES = 2**22
# With fewer rows in a block, preparing the support vectors for each block takes too long.
MIN_BLOCK_ROWS = 128
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
        Number of threads, with BLAS in one thread each; the same bits for any number. None
        leaves double precision to the threads of BLAS. A user's kernel function is never called
        by two threads at once.
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
    rows = _block_rows(max(coef.shape))

    def work(start: int) -> np.ndarray:
        return _exact_outputs(kernel, X[start : start + rows], support, coef, unit)

    yield from _in_threads(work, range(0, X.shape[0], rows), n_jobs, kernel)


def cell_outputs(
    kernel: Kernel,
    X,
    support_vectors,
    coef: np.ndarray,
    centers: np.ndarray,
    n_jobs: int | None = None,
) -> np.ndarray:
    """Return the outputs of hypotheses that see only support vectors of a point's own cell."""
    cell, cell_of_support = nearest(X, centers), nearest(support_vectors, centers)
    carriers = {c: np.flatnonzero(cell_of_support == c) for c in np.unique(cell_of_support)}

    def work(block: CellBlock) -> np.ndarray:
        own = carriers[block.cell]
        return _exact_outputs(kernel, X[block.points], support_vectors[own], coef[own])

    values = np.zeros((X.shape[0], coef.shape[1]))
    blocks = [
        block
        for c, own in carriers.items()
        for block in _cell_blocks(cell, c, max(len(own), coef.shape[1]))
    ]
    results = _in_threads(work, blocks, n_jobs, kernel)
    for block, found in zip(blocks, results, strict=True):
        values[block.points] = found
    return values


class CellBlock(NamedTuple):
    """Points of one cell whose kernel with its support vectors stays in the cache."""

    cell: int
    points: np.ndarray


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
        fast = single and X.shape[0] >= MIN_FAST_POINTS and is_fast(self.kernel, X)
        results = self._fast_outputs if fast else self._exact_outputs
        values, n_done = np.zeros((X.shape[0], self.coef.shape[1])), 0
        for points, found in results(X, cell, cell_of_support, n_jobs):
            values[points] = found
            n_done += len(points)
            advance(n_done / len(cell), "predicting")
        return values

    def _exact_outputs(self, X, cell, cell_of_support, n_jobs: int | None) -> Iterator:
        """Yield points and their outputs, from threads that share the blocks of all cells."""

        def work(block: CellBlock) -> np.ndarray:
            used = self._used_landmarks(block.cell)
            points, coef = self._carriers(block.cell, cell_of_support, used)
            return _exact_outputs(self.kernel, X[block.points], points, coef)

        size = np.bincount(cell_of_support, minlength=len(self.centers))
        size += [len(self._used_landmarks(c)) for c in range(len(self.centers))]
        # A cell that was not reached in time has nothing.
        blocks = [b for c in np.unique(cell) if size[c] for b in _cell_blocks(cell, c, size[c])]
        results = _in_threads(work, blocks, n_jobs, self.kernel)
        yield from zip((block.points for block in blocks), results, strict=True)

    def _fast_outputs(self, X, cell, cell_of_support, n_jobs: int | None) -> Iterator:
        """Yield points and their outputs, one cell at a time, in single precision."""
        landmarks = lengths = None  # prepared once for all cells that need all of them
        for c in np.unique(cell):
            points, used = np.flatnonzero(cell == c), self._used_landmarks(c)
            found = np.zeros((len(points), self.coef.shape[1]))
            if len(used) == self.landmarks.shape[0]:
                if landmarks is None:
                    landmarks = fast_kernel(self.kernel, self.landmarks)
                    lengths = lengths_in_blocks(self.kernel, self.landmarks)[:, None]
                coef = np.ascontiguousarray(self.landmark_coef[c].T) * lengths
                found += np.concatenate(list(_fast_outputs(landmarks, X[points], coef, n_jobs)))
                used = used[:0]
            # Few landmarks take fewer operations as carriers like the others.
            carriers, coef = self._carriers(c, cell_of_support, used)
            if len(coef):
                near = outputs(self.kernel, X[points], carriers, coef, True, n_jobs)
                found += np.concatenate(list(near))
            yield points, found

    def _used_landmarks(self, c: int) -> np.ndarray:
        """Return the landmarks that matter in a cell."""
        return np.flatnonzero(np.any(self.landmark_coef[c] != 0, axis=0))

    def _carriers(self, c: int, cell_of_support: np.ndarray, used: np.ndarray):
        """Return the points that carry the hypothesis of a cell, and their coefficients."""
        own = np.flatnonzero(cell_of_support == c)
        coef = np.vstack([self.coef[own], self.landmark_coef[c][:, used].T])
        if not len(used):
            return self.support_vectors[own], coef
        return stack_points(self.support_vectors[own], self.landmarks[used]), coef


def cell_coordinates(kernel: Kernel, X):
    """Return points in the units in which cells are divided: columns that matter count more."""
    return X if kernel.mixture is None else kernel.mixture.views.see("position", X)


def precomputed_outputs(
    X,
    support: np.ndarray,
    coef: np.ndarray,
    constant: float,
    length: float,
    n_jobs: int | None = None,
) -> Iterator[np.ndarray]:
    """Yield the outputs at rows of a precomputed kernel matrix, for points of one length."""
    rows = _block_rows(max(coef.shape))

    def work(start: int) -> np.ndarray:
        part = X[start : start + rows]
        part = part.toarray() if sparse.issparse(part) else part
        return (part[:, support] + constant) / length @ coef

    yield from _in_threads(work, range(0, X.shape[0], rows), n_jobs)


def _block_rows(n_columns: int) -> int:
    """Return how many rows of the kernel matrix a block has."""
    row_bytes = 8 * max(n_columns, 1)
    rows = max(CACHE_BYTES // row_bytes, MIN_BLOCK_ROWS)
    return max(min(rows, MAX_BLOCK_BYTES // row_bytes), 1)


def _cell_blocks(cell: np.ndarray, c: int, n_columns: int) -> list[CellBlock]:
    """Return the points of a cell in blocks."""
    points, rows = np.flatnonzero(cell == c), _block_rows(n_columns)
    return [CellBlock(c, points[i : i + rows]) for i in range(0, len(points), rows)]


def _exact_outputs(kernel: Kernel, X, support, coef: np.ndarray, unit: bool = True) -> np.ndarray:
    """Return the outputs at a block of points, in double precision."""
    X = in_double(X)
    values = kernel(X, in_double(support))
    if unit:
        lengths = finite_lengths(kernel, X)
        values = values / np.where(lengths > 0, lengths, 1.0)[:, None]
    return values @ coef


def _in_threads(
    work: Callable, items: Iterable, n_jobs: int | None, kernel: Kernel | None = None
) -> Iterator:
    """Yield the results for all items in their order.

    A function of the user may not be safe in threads. Without `n_jobs`, BLAS may use its own.
    """
    by_user = kernel is not None and callable(kernel.name)
    if by_user or (n_jobs is None and count_threads(None) == 1):
        yield from map(work, items)
        return
    with one_blas_thread(), threads(n_jobs) as thread_map:
        yield from thread_map(work, items)


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
