"""Rows of the Gram matrix on demand, in bounded memory."""

from __future__ import annotations

import contextlib
import mmap
import threading
from collections.abc import Callable
from typing import Any

import numpy as np

from .unit_kernel import PANEL_POINTS, AnyKernel, ProductKernel, panels

# Rows computed by one matrix product. Less is slower a row; more needs more rows to be
# guessed before anybody asks for them (docs/architecture.md).
BLOCK_POINTS = 96
# Bytes of the rows of a block of sparse points, made dense.
_MAX_DENSE_BLOCK_BYTES = 2**26
# Up to so many points all rows are one block.
MAX_POINTS_IN_ONE_BLOCK = 2000
NOT_STORED = -1


class RowStore:
    """A cache of rows of the Gram matrix of unit points, in single precision.

    Rows come in blocks: those that are needed now, and as many of those that are likely
    to be needed as fit in. When the store is full, the rows that are the least likely
    to be needed again make room.

    Parameters
    ----------
    kernel : ProductKernel or AnyKernel
        Computes the rows.
    n_rows : int
        How many to hold, at least a block.
    thread_map : callable
        `map`, or one that uses threads.

    Attributes
    ----------
    rows : array of shape (n_rows, n_points)
        The rows, in any order.
    slot : array of shape (n_points,)
        Where the row of each point is, or NOT_STORED.
    n_computed : int
        Rows computed so far, those computed twice counted twice.
    """

    def __init__(self, kernel: ProductKernel | AnyKernel, n_rows: int, thread_map: Callable = map):
        m = kernel.n_points
        self.kernel = kernel
        self.block = block_size(kernel)
        self.rows = _large_array((min(max(n_rows, self.block), m), m))
        self.slot = np.full(m, NOT_STORED, dtype=np.int32)
        self.n_computed = 0
        self._point = np.full(len(self.rows), NOT_STORED, dtype=np.int64)
        self._map = thread_map
        self._scratch = threading.local()
        self._kind = _kinds_of_positions(kernel, self.block)

    def fetch(self, needed: np.ndarray, score: np.ndarray) -> None:
        """Compute a block with rows that are needed and others of high score.

        Parameters
        ----------
        needed : array of int
            Missing rows, the most urgent first. At least one of them comes in.
        score : array of shape (n_points,)
            How likely each row is to be needed soon. Rows of score 0 are not computed
            in advance.
        """
        block = self._choose(needed, score)
        filled = np.flatnonzero(block != NOT_STORED)
        points = block[filled]
        left: Any = self.kernel.rows(np.where(block == NOT_STORED, points[0], block))
        slots = self._make_room(len(points), score)
        parts = panels(self.kernel.n_points)

        def fill(number: int) -> None:
            here = parts[number]
            if not hasattr(self._scratch, "panel"):
                self._scratch.panel = np.empty((self.block, PANEL_POINTS), dtype=np.float32)
            out = self._scratch.panel[:, : here.stop - here.start]
            self.kernel.panel(left, number, out)
            self.rows[slots, here] = out if len(filled) == self.block else out[filled]

        for _ in self._map(fill, range(len(parts))):
            pass
        # A unit point has unit length, whatever rounding says.
        self.rows[slots, points] = 1.0
        self.slot[points] = slots
        self._point[slots] = points
        self.n_computed += len(points)

    def _choose(self, needed: np.ndarray, score: np.ndarray) -> np.ndarray:
        """Return the point for each position of a block, or NOT_STORED."""
        wanted = np.concatenate([needed, self._likely(needed, score)])
        kinds = self._kind[wanted % self.block]
        block = np.full(self.block, NOT_STORED, dtype=np.int64)
        for kind in np.unique(self._kind):
            positions = np.flatnonzero(self._kind == kind)
            these = wanted[kinds == kind][: len(positions)]
            block[positions[: len(these)]] = these
        return block

    def _likely(self, needed: np.ndarray, score: np.ndarray) -> np.ndarray:
        """Return missing rows of high score that are not needed yet, the highest first.

        Only as many as have a higher score than the rows that would make room for them.
        """
        likely = (score > 0) & (self.slot == NOT_STORED)
        likely[needed] = False
        points = _highest(np.flatnonzero(likely), score, 2 * self.block)
        leaving = np.sort(self._value(score))[min(len(needed), self.block) :]
        n = min(len(points), len(leaving))
        leaving = leaving[:n]
        return points[:n][score[points[:n]] > leaving]

    def _value(self, score: np.ndarray) -> np.ndarray:
        """Return the score of what is in each slot, -1 for nothing."""
        return np.where(self._point == NOT_STORED, -1, score[self._point])

    def _make_room(self, n: int, score: np.ndarray) -> np.ndarray:
        """Return n free slots; rows with the lowest scores go first."""
        slots = _highest(np.arange(len(self._point)), -self._value(score), n)
        evicted = self._point[slots]
        self.slot[evicted[evicted != NOT_STORED]] = NOT_STORED
        return slots


def _highest(candidates: np.ndarray, score: np.ndarray, n: int) -> np.ndarray:
    """Return the n candidates of the highest score, the highest first."""
    if len(candidates) > n:
        candidates = candidates[np.argpartition(-score[candidates], n - 1)[:n]]
    return candidates[np.argsort(-score[candidates], kind="stable")]


def block_size(kernel: ProductKernel | AnyKernel) -> int:
    """Return how many rows to compute at once."""
    if kernel.n_points <= MAX_POINTS_IN_ONE_BLOCK:
        return kernel.n_points
    return int(np.clip(_MAX_DENSE_BLOCK_BYTES // (4 * max(kernel.n_features, 1)), 8, BLOCK_POINTS))


def _kinds_of_positions(kernel: ProductKernel | AnyKernel, block: int) -> np.ndarray:
    """Return a number for each row of a product, equal for rows rounded in the same way.

    Libraries for matrix products add in an order that may depend on where in the matrix
    a row is. Kept to positions of the same kind, a row of the Gram matrix has the same
    digits in whichever block it is computed. Which these are is found by multiplying
    equal rows.
    """
    if not isinstance(kernel, ProductKernel) or not kernel.n_dense:
        return np.zeros(block, dtype=np.int64)
    rng = np.random.default_rng(0)
    equal = np.tile(rng.standard_normal(kernel.n_dense, dtype=np.float32), (block, 1))
    widths = {part.stop - part.start for part in panels(kernel.n_points)}
    others = [rng.standard_normal((w, kernel.n_dense), dtype=np.float32) for w in widths]
    products = np.hstack([equal @ other.T for other in others])
    return np.unique(products, axis=0, return_inverse=True)[1].ravel()


def _large_array(shape: tuple[int, int]) -> np.ndarray:
    """Return an array of large memory pages, where the system has them.

    Its memory is taken when it is written for the first time, which with pages of the
    usual size can take as long as computing what is written.
    """
    n_bytes = 4 * shape[0] * shape[1]
    if not hasattr(mmap, "MADV_HUGEPAGE") or n_bytes < 2**22:
        return np.empty(shape, dtype=np.float32)
    memory = mmap.mmap(-1, n_bytes, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    with contextlib.suppress(OSError):  # a system may refuse
        memory.madvise(mmap.MADV_HUGEPAGE)
    return np.frombuffer(memory, dtype=np.float32).reshape(shape)
