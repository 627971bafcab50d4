"""Gram rows on demand, in bounded memory."""

from __future__ import annotations

import contextlib
import mmap
import threading
from collections.abc import Callable
from typing import Any

import numpy as np

from .unit_kernel import PANEL_POINTS, AnyKernel, ProductKernel, panels

# Gram rows computed in one matrix product. Smaller blocks take longer per Gram row; larger
# blocks need more guesses about the next Gram rows (docs/notes/many_points.md).
BLOCK_POINTS = 96
# So many blocks at once, if there are enough Gram rows that will surely be needed, and room for
# them: then the points on the right-hand side are read from memory once.
N_BLOCKS = 4
# But at most this many values, which take a processor about half a second: Ctrl-C waits for them.
MAX_VALUES_AT_ONCE = 25_000_000
# A block has fewer points if their features, made dense, would need more bytes than this.
_MAX_DENSE_BLOCK_BYTES = 2**26
# The smallest block.
_MIN_BLOCK_POINTS = 8
# Up to this many points, all Gram rows are computed in one block.
MAX_POINTS_IN_ONE_BLOCK = 2000
# The slot of a point without a Gram row, and the point of an empty slot.
NOT_STORED = -1
NOBODY = np.empty(0, dtype=np.int64)
# Gram rows are stored as multiples of this value, in 16 bits. It is a power of two: sums below 1024
# have no rounding errors in single precision (docs/notes/perceptrons.md).
UNIT = 2.0**-14
BYTES_PER_VALUE = 2
# No kernel value of unit points is larger, but for rounding, unless the kernel is indefinite.
LARGEST_VALUE = 1.001
# Arrays of at least this many bytes are allocated in large memory pages.
_MIN_LARGE_PAGE_BYTES = 2**22


class RowStore:
    """A cache of Gram rows of unit points, as multiples of `UNIT`.

    Gram rows are computed in blocks. A block holds the Gram rows that are needed now, and is
    filled up with the ones most likely to be needed soon. When the store is full, the Gram rows
    that are least likely to be needed again make room.

    Parameters
    ----------
    kernel : ProductKernel or AnyKernel
        Computes the Gram rows.
    n_rows : int
        How many Gram rows to hold, at least a block.
    thread_map : callable
        A `map` that may use threads.

    Attributes
    ----------
    rows : array of shape (n_rows, n_points)
        The Gram rows, in any order.
    slot : array of shape (n_points,)
        Index of each point's Gram row in `rows`, or NOT_STORED.
    n_computed : int
        Number of Gram rows computed so far; a Gram row computed twice counts twice.
    largest : float
        The largest absolute kernel value so far; values from 2 on are stored as 2.
    """

    def __init__(self, kernel: ProductKernel | AnyKernel, n_rows: int, thread_map: Callable = map):
        m = kernel.n_points
        self.kernel = kernel
        self.block = block_size(kernel)
        self.rows = _large_array((min(max(n_rows, self.block), m), m))
        self.slot = np.full(m, NOT_STORED, dtype=np.int32)
        self.n_computed, self.largest = 0, 0.0
        self._point = np.full(len(self.rows), NOT_STORED, dtype=np.int64)
        self._map = thread_map
        self._scratch = threading.local()
        self._kind = _kinds_of_positions(kernel, self.block)

    def fetch(self, needed: np.ndarray, score: np.ndarray, sure: np.ndarray = NOBODY) -> None:
        """Compute a block of Gram rows: needed ones, and others of high score.

        Parameters
        ----------
        needed : array of int
            Points whose Gram rows are missing, the most urgent first. The block contains at
            least one of them.
        score : array of shape (n_points,)
            How likely the Gram row of each point is to be needed soon. Gram rows of score 0
            are not computed in advance.
        sure : array of int, default=none
            Points whose Gram rows will be needed, sooner or later: more blocks, if there are many.
        """
        from .._jit.rows import store_rows

        wanted = np.concatenate([needed, self._likely(needed, score)])
        blocks = [self._arrange(wanted)]
        blocks += self._more_blocks(np.setdiff1d(sure, blocks[0]), score)
        filled = [np.flatnonzero(block != NOT_STORED) for block in blocks]
        points = [block[some] for block, some in zip(blocks, filled, strict=True)]
        lefts: list[Any] = [
            self.kernel.rows(np.where(block == NOT_STORED, some[0], block))
            for block, some in zip(blocks, points, strict=True)
        ]
        everything = np.concatenate(points)
        slots = self._make_room(len(everything), score)
        slots_of = np.split(slots, np.cumsum([len(some) for some in points])[:-1])
        parts = panels(self.kernel.n_points)

        def fill(number: int) -> float:
            here, most = parts[number], 0.0
            if not hasattr(self._scratch, "panel"):
                self._scratch.panel = np.empty((self.block, PANEL_POINTS), dtype=np.float32)
            out = self._scratch.panel[:, : here.stop - here.start]
            for left, these, there in zip(lefts, filled, slots_of, strict=True):
                self.kernel.panel(left, number, out)
                most = max(most, store_rows(out, these, UNIT, self.rows[:, here], there))
            return most

        self.largest = max([self.largest, *self._map(fill, range(len(parts)))])
        # A unit point has unit length; the product has rounding errors.
        self.rows[slots, everything] = 1 / UNIT
        self.slot[everything] = slots
        self._point[slots] = everything
        self.n_computed += len(everything)

    def _more_blocks(self, sure: np.ndarray, score: np.ndarray) -> list[np.ndarray]:
        """Return blocks of missing Gram rows, as many as can be filled and stored."""
        n_free = int(np.sum(self._point == NOT_STORED)) - self.block
        affordable = MAX_VALUES_AT_ONCE // (self.block * self.kernel.n_points)
        most = min(n_free // self.block, affordable - 1, N_BLOCKS - 1)
        missing = _highest(sure[self.slot[sure] == NOT_STORED], score, N_BLOCKS * self.block)
        blocks: list[np.ndarray] = []
        # Of twice as many points some have the right kind for each position.
        while len(blocks) < most and len(missing) >= 2 * self.block:
            blocks.append(self._arrange(missing))
            missing = missing[~np.isin(missing, blocks[-1])]
        return blocks

    def _arrange(self, wanted: np.ndarray) -> np.ndarray:
        """Return the point for each position of a block, NOT_STORED for unused positions.

        The first points come first; those for which no position of their kind is left wait.
        """
        kinds = self._kind[wanted % self.block]
        block = np.full(self.block, NOT_STORED, dtype=np.int64)
        for kind in np.unique(self._kind):
            positions = np.flatnonzero(self._kind == kind)
            these = wanted[kinds == kind][: len(positions)]
            block[positions[: len(these)]] = these
        return block

    def _likely(self, needed: np.ndarray, score: np.ndarray) -> np.ndarray:
        """Return points of high score whose Gram rows are missing but not needed yet.

        The highest score comes first. Each must be higher than the score of the Gram row
        that would make room for it.
        """
        likely = (score > 0) & (self.slot == NOT_STORED)
        likely[needed] = False
        points = _highest(np.flatnonzero(likely), score, 2 * self.block)
        leaving = np.sort(self._value(score))[min(len(needed), self.block) :]
        n = min(len(points), len(leaving))
        leaving = leaving[:n]
        return points[:n][score[points[:n]] > leaving]

    def _value(self, score: np.ndarray) -> np.ndarray:
        """Return the score of the point in each slot, -1 for an empty slot."""
        return np.where(self._point == NOT_STORED, -1, score[self._point])

    def _make_room(self, n: int, score: np.ndarray) -> np.ndarray:
        """Free n slots and return them; Gram rows with the lowest scores go first."""
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
    """Return how many Gram rows to compute at once."""
    if kernel.n_points <= MAX_POINTS_IN_ONE_BLOCK:
        return kernel.n_points
    fitting = _MAX_DENSE_BLOCK_BYTES // (4 * max(kernel.n_features, 1))
    return int(np.clip(fitting, _MIN_BLOCK_POINTS, BLOCK_POINTS))


def _kinds_of_positions(kernel: ProductKernel | AnyKernel, block: int) -> np.ndarray:
    """Number the positions of a block, with equal numbers for positions that round alike.

    Libraries for matrix products add in an order that may depend on the position of a row
    in the matrix. A Gram row that is always computed at positions of one kind has the same
    digits in every block. The kinds are found by multiplying equal rows.
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
    """Return an array of 16-bit whole numbers in large memory pages, if the system has them.

    Memory is allocated when it is first written. With pages of the usual size the allocation can
    take as long as computing the values.
    """
    n_bytes = BYTES_PER_VALUE * shape[0] * shape[1]
    if not hasattr(mmap, "MADV_HUGEPAGE") or n_bytes < _MIN_LARGE_PAGE_BYTES:
        return np.empty(shape, dtype=np.int16)
    memory = mmap.mmap(-1, n_bytes, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    with contextlib.suppress(OSError):  # a system may refuse
        memory.madvise(mmap.MADV_HUGEPAGE)
    return np.frombuffer(memory, dtype=np.int16).reshape(shape)
