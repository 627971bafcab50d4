"""A mosaic on a cluster: points go to the worker of their cell, and sums join the cells."""

from __future__ import annotations

import copy
import time
import warnings
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .._runtime.progress import Progress
from .._runtime.share_done import advance, between
from .._runtime.threads import one_blas_thread
from ..classifiers._labels import one_against_rest
from ..fitting.cells_fit import sample_cell
from ..fitting.gram_fit import MAX_COPIED_POINTS
from ..fitting.landmarks_fit import Landmarks
from ..fitting.mosaic_fit import (
    Setting,
    answer_of,
    coherent_points,
    joining_span,
    memory_needed,
    n_held_in,
    patches_of,
    require_memory,
    warn_of_left_out,
)
from ..fitting.regression_fit import (
    DRAW_LANDMARKS,
    MIN_SOFTNESS,
    in_double_if_needed,
    is_rounding_small,
    label_codes,
    weights_of,
)
from ..fitting.task import Answer, Task
from ..fitting.unit_blocks import UnitBlocks, is_fast
from ..geometry.kernels import Kernel
from ..geometry.points import stack_points
from ..geometry.unit_kernel import lengths_in_blocks
from ..solvers.cells import MAX_CELL_RATIO, divide_into_cells
from ..solvers.mosaic import (
    SHARE_OF_FIRST_PASS,
    Factored,
    Finished,
    Half,
    Joined,
    Sums,
    Whole,
    condense,
    finish,
    solve_sums,
)
from ..solvers.mosaic import join as join_cells
from ..solvers.regression import MIN_NOISE
from .cells import ClusterPoints
from .landmarks import points_off_origin
from .row_parts import Part, RowParts, join

if TYPE_CHECKING:
    from distributed import Client, Future

# Workers add up the sums of this many tasks at a time.
SUMS_AT_ONCE = 4


def fit_mosaic_of(
    task: Task, rows: RowParts, n_classes: int, progress: Progress
) -> tuple[Task, Answer, np.ndarray]:
    """Return a task with the points of all cells, the Bayes points, and the rows of the points.

    `task` has everything but the points, which are distinct and sorted by content.
    """
    began = time.perf_counter()
    rows = points_off_origin(rows, task.kernel)
    chosen = rows.take(rows.sample_each_class(task.solver.n_landmarks, n_classes, task.rng))
    landmarks = joining_span(task._replace(X=chosen.X), np.arange(chosen.n_rows))
    points = ClusterPoints(rows, task.kernel)
    centers = divide_into_cells(points, task.solver.n_points)
    sizes = points.sizes(centers)
    largest = int(min(sizes.max(), MAX_CELL_RATIO * task.solver.n_points))
    fit = MosaicFit(task, points, n_classes, chosen.take(landmarks.rows), landmarks, largest)
    single = _rounding_is_small(task, rows, n_classes, largest)
    with progress.output(0) as on_round:
        single, (whole, found) = in_double_if_needed(
            lambda single: fit.solve(len(centers), single, on_round), single
        )
    parts, answers = zip(*found, strict=True)
    task, setting, numbers = _with_points(fit, list(parts), centers[sizes > 0])
    warn_of_left_out(task, rows.n_rows, len(setting.rows))
    answer = _answer(task, setting, whole, list(answers), began)
    return task, answer._replace(single=single), numbers


def _rounding_is_small(task: Task, rows: RowParts, n_classes: int, largest: int) -> bool:
    """Tell what `fitting.mosaic_fit.rounding_is_small` tells."""
    n = rows.n_rows
    if n <= MAX_COPIED_POINTS or not all(rows.ask(_is_fast, task.kernel)):
        return False
    some = rows.take(rows.sample_each_class(DRAW_LANDMARKS, n_classes, np.random.default_rng(n)))
    weight = np.ones(1) if task.weight is None else task.weight  # the least and the largest
    given = max(task.softness, MIN_SOFTNESS), weight.min(), weight.max()
    n_coherent = coherent_points(n, largest, task.solver)
    return is_rounding_small(task.kernel, some.X, n_coherent, *given)


class MosaicFit(NamedTuple):
    """A mosaic whose points are on workers."""

    task: Task  # without points
    points: ClusterPoints
    n_classes: int
    chosen: Part  # the landmarks
    landmarks: Landmarks
    largest: int  # number of points of a cell

    @property
    def client(self) -> Client:
        """Return the connection to the cluster."""
        return self.points.rows.client

    def solve(
        self, n_cells: int, single: bool, on_round
    ) -> tuple[Whole, list[tuple[Part, Finished]]]:
        """Return the global weights, and points and answers of all cells that have points."""
        submit, groups = self.client.submit, self.points.groups_of_cells(n_cells)
        work = self._work(single, len(groups))
        pieces, rngs = self.points.pieces(groups), copy.deepcopy(self.task.rng).spawn(n_cells)
        condensed = [
            submit(
                condense_cells, [p[i] for p in pieces], g, [rngs[c] for c in g], work, pure=False
            )
            for i, g in enumerate(groups)
        ]
        del pieces
        whole = submit(
            _solve, self._add_up([submit(_sums, c, pure=False) for c in condensed]), pure=False
        )
        finished = [submit(finish_cells, c, work, whole, pure=False) for c in condensed]
        counts = [submit(_count, c, pure=False) for c in condensed]
        del condensed
        n_done = 0
        for count, group in zip(counts, groups, strict=True):
            count.result()
            n_done += len(group)
            with between(0, SHARE_OF_FIRST_PASS):
                on_round({"n_done": n_done, "n_cells": n_cells, "stop": ""})
        found = []
        with between(SHARE_OF_FIRST_PASS, 1):
            for number, future in enumerate(finished):
                found += future.result()
                advance((number + 1) / len(finished), "fitting")
        return whole.result(), found

    def _add_up(self, sums: list[Future]) -> Future:
        """Return the sums over all cells, added up where they are."""
        submit = self.client.submit
        while len(sums) > 1:
            starts = range(0, len(sums), SUMS_AT_ONCE)
            sums = [submit(_add, sums[i : i + SUMS_AT_ONCE], pure=False) for i in starts]
        return sums[0]

    def _work(self, single: bool, n_groups: int) -> Future:
        """Send workers what they need to know; an error if a worker has too little memory."""
        task, threads = self.task, self.client.nthreads()
        itemsize, n_points = 4 if single else 8, self.points.n_points
        needed = memory_needed(
            n_points,
            len(task.signs),
            task.solver,
            itemsize=itemsize,
            n_at_once=max(threads.values()),
            largest=self.largest,
        )
        require_memory(needed, task.cache_size, len(self.landmarks.rows), self.largest)
        n_here = -(-n_groups // len(threads))  # groups on a worker
        held = (task.cache_size - needed) / n_here
        work = Work(task, self.n_classes, self.chosen.X, self.landmarks, single, held)
        with warnings.catch_warnings():
            # The basis of the landmarks is large, but sent only once.
            warnings.filterwarnings("ignore", "Sending large graph")
            return self.client.submit(_keep, work, pure=False)


def _with_points(
    fit: MosaicFit, parts: list[Part], centers: np.ndarray
) -> tuple[Task, Setting, np.ndarray]:
    """Return the task with its points, the parts of the mosaic, and the rows of the points."""
    ends = np.cumsum([p.n_rows for p in parts])
    part = join(parts)
    # Landmarks may be points that a sample of a large cell left out.
    missing = np.flatnonzero(~np.isin(fit.chosen.number, part.number))
    part = join([part, fit.chosen.take(missing)])
    # As on one machine, points are in the order of the user's rows.
    order = np.argsort(part.number)
    part, position = part.take(order), np.argsort(order)
    task = fit.task._replace(
        X=part.X,
        target=part.target,
        signs=one_against_rest(part.target, fit.n_classes),
        weight=None if fit.task.weight is None else part.likelihood,
    )
    landmarks = fit.landmarks._replace(rows=np.searchsorted(part.number, fit.chosen.number))
    cells = np.split(np.arange(ends[-1]), ends[:-1])
    return task, Setting(position[: ends[-1]], landmarks, centers, cells), part.number


def _answer(
    task: Task, setting: Setting, whole: Whole, found: list[Finished], began: float
) -> Answer:
    """Return the answer of one machine, without results of single rows."""
    weight = weights_of(task, setting.rows)
    lengths = lengths_in_blocks(task.kernel, task.X[setting.rows])
    joined = _join(task, setting, whole, found, weight)
    answer = answer_of(task, setting, joined, lengths, weight, began, "done")
    for info in answer.infos:
        del info["hits"]
    return answer._replace(loo=None)


def _join(task: Task, setting: Setting, whole: Whole, found: list[Finished], weight) -> Joined:
    softness = max(task.softness, MIN_SOFTNESS)
    codes = label_codes(task.signs[:, setting.rows])
    heeded = np.minimum(weight, softness / MIN_NOISE)
    return join_cells(setting.cells, found, whole, codes, softness, heeded)


# Tasks


class Work(NamedTuple):
    """What a worker needs to know to solve cells."""

    task: Task  # without points
    n_classes: int
    chosen: Any  # the landmarks
    landmarks: Landmarks
    single: bool  # precision
    held: float  # megabytes for cells that a task keeps between the passes


class Condensed:
    """Cells after the first pass, on a worker."""

    def __init__(self, cells: list[Part], work: Work):
        self.cells = cells
        sizes, r = [p.n_rows for p in cells], len(work.landmarks.rows)
        n_held = n_held_in(work.held, sizes, r, 4 if work.single else 8)
        self.sums = Sums(r, 1 if work.n_classes == 2 else work.n_classes)
        self.held: list[Factored] = []
        for number, found in enumerate(_halves(cells, work)):
            self.sums.add(found)
            if number < n_held:
                self.held.append(found.half)

    def finish(self, work: Work, whole: Whole) -> list[tuple[Part, Finished]]:
        """Return points and answers of the cells; those that were not kept are computed again."""
        halves = [*self.held, *(None for _ in self.cells[len(self.held) :])]
        again = (found.half for found in _halves(self.cells[len(self.held) :], work))
        return [
            (part, finish(next(again) if half is None else half, whole))
            for part, half in zip(self.cells, halves, strict=True)
        ]

    def __sizeof__(self) -> int:
        """Return the bytes of all arrays, for Dask, which moves results to disk by their size."""
        arrays = [array for half in self.held for array in half]
        return self.sums.square.nbytes + sum(array.nbytes for array in arrays)


def condense_cells(
    pieces: list[tuple[Part, np.ndarray]], cells: list[int], rngs: list[Any], work: Work
) -> Condensed:
    """Return some cells after the first pass."""
    part, cell = join([p for p, _ in pieces]), np.concatenate([c for _, c in pieces])
    found = []
    # A task that runs again must draw the same numbers again.
    for number, rng in zip(cells, copy.deepcopy(rngs), strict=True):
        points = part.take(np.flatnonzero(cell == number))
        if points.n_rows:
            found.append(points.take(sample_cell(work.task, points.target, rng)))
    with one_blas_thread():
        return Condensed(found, work)


def _halves(cells: list[Part], work: Work) -> Iterator[Half]:
    """Yield cells after the first pass."""
    if not cells:
        return
    task, r = work.task, len(work.landmarks.rows)
    softness = max(task.softness, MIN_SOFTNESS)
    # The landmarks come first, then the points of all cells.
    X = stack_points(work.chosen, join(cells).X)
    positions = np.arange(X.shape[0])
    ends = r + np.cumsum([p.n_rows for p in cells])
    lengths = lengths_in_blocks(task.kernel, X)
    blocks = UnitBlocks(task.kernel, X, positions, lengths, work.single)
    members = np.split(positions[r:], ends[:-1] - r)
    patch_of = patches_of(blocks, positions[:r], work.landmarks.to_basis, members)
    for number, part in enumerate(cells):
        codes = label_codes(one_against_rest(part.target, work.n_classes))
        weight = np.ones(part.n_rows) if task.weight is None else part.likelihood
        yield condense(patch_of(number), codes, softness, np.minimum(weight, softness / MIN_NOISE))


def finish_cells(condensed: Condensed, work: Work, whole: Whole) -> list[tuple[Part, Finished]]:
    """Return points and answers of some cells."""
    with one_blas_thread():
        return condensed.finish(work, whole)


def _keep(work: Work) -> Work:
    return work


def _sums(condensed: Condensed) -> Sums:
    return condensed.sums


def _count(condensed: Condensed) -> int:
    return len(condensed.cells)


def _add(some: list[Sums]) -> Sums:
    total = copy.deepcopy(some[0])
    for sums in some[1:]:
        total.add_sums(sums)
    return total


def _solve(sums: Sums) -> Whole:
    with one_blas_thread():
        return solve_sums(copy.deepcopy(sums))


def _is_fast(part: Part, kernel: Kernel) -> bool:
    """Tell whether single precision is exact enough for these points."""
    return not part.n_rows or bool(is_fast(kernel, part.X))
