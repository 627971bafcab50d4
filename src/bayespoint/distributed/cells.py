"""Cells on a cluster: points go to the worker of their cell, which solves it exactly."""

from __future__ import annotations

import copy
import time
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from sklearn.metrics.pairwise import euclidean_distances

from .._runtime.interrupt import end_if_pressed_twice, interrupts
from .._runtime.progress import Progress
from .._runtime.threads import one_blas_thread
from ..classifiers._labels import one_against_rest
from ..fitting.cells_fit import check_memory, join_cells, sample_cell, solve_cell
from ..fitting.outputs import cell_coordinates
from ..fitting.solver_choice import CHOICE_NEIGHBORHOODS, CHOICE_NEIGHBORS
from ..fitting.task import Answer, Task
from ..fitting.temperature import tempered
from ..fitting.time_budget import warn_unless_converged
from ..geometry.kernels import Kernel
from ..solvers.cells import (
    MAX_CLUSTERED_POINTS,
    divide_into_cells,
    evenly_spaced,
    means,
    nearest,
    spaced_positions,
)
from .calls import MAX_PAUSE, MIN_PAUSE, gather
from .row_parts import Part, RowParts, join

if TYPE_CHECKING:
    from distributed import Future

# Cells are solved in this many tasks for each thread, so that no thread waits long for another.
TASKS_PER_THREAD = 4


def fit_cells_of(
    task: Task, rows: RowParts, n_classes: int, progress: Progress
) -> tuple[Task, Answer, np.ndarray]:
    """Return a task with the points of all cells, the Bayes points, and the rows of the points.

    `task` has everything but the points, which are distinct and sorted by content.
    """
    began = time.perf_counter()
    check_memory(task, rows.n_rows, max(rows.client.nthreads().values()))
    points = ClusterPoints(rows, task.kernel)
    centers = divide_into_cells(points, task.solver.n_points)
    sizes = points.sizes(centers)
    rngs = zip(task.rng.spawn(len(centers)), task.rng.spawn(len(centers)), strict=True)
    # Clocks that count from the start of a process differ from worker to worker.
    work = Work(task, n_classes, time.time() + task.deadline - time.perf_counter())
    solved = _solve(points, sizes, list(rngs), work, progress)
    parts, answers = zip(*solved, strict=True)
    part = join(list(parts))
    ends = np.cumsum([p.n_rows for p in parts])
    cells = np.split(np.arange(part.n_rows), ends[:-1])
    # As on one machine, points are in the order of the user's rows.
    order = np.argsort(part.number)
    position = np.argsort(order)
    part = part.take(order)
    task = task._replace(
        X=part.X,
        target=part.target,
        signs=one_against_rest(part.target, n_classes),
        weight=None if task.weight is None else part.likelihood,
    )
    answer = join_cells(task, position, cells, list(answers))
    for info in answer.infos:
        info["seconds"] = time.perf_counter() - began
        del info["hits"]
    warn_unless_converged(answer.infos)
    answer = tempered(task, answer)._replace(centers=centers, loo=None)
    return task, answer, part.number


class ClusterPoints:
    """Points on workers that are divided among centers, as `solvers.cells.Divided` does."""

    def __init__(self, rows: RowParts, kernel: Kernel):
        self.rows, self.n_points, self.kernel = rows, rows.n_rows, kernel
        self.cells: list[Future] = []  # the cell of each point, one array for each part

    def means(self, k: int) -> np.ndarray:
        """Return the centers of k clusters of all points."""
        n = min(self.n_points, MAX_CLUSTERED_POINTS)
        some = self.rows.take(spaced_positions(self.n_points, n))
        return means(cell_coordinates(self.kernel, some.X), k)

    def sizes(self, centers: np.ndarray) -> np.ndarray:
        """Divide the points among centers; return how many each has."""
        client, given = self.rows.client, (self.kernel, centers)
        self.cells = [client.submit(_nearest, p, *given, pure=False) for p in self.rows.parts]
        counts = [client.submit(np.bincount, c, None, len(centers)) for c in self.cells]
        return np.sum(gather(client, counts, "dividing"), axis=0)

    def means_in(self, cells: np.ndarray, k: list[int]) -> list[np.ndarray]:
        """Return centers of clusters of the points of some cells."""
        submit = self.rows.client.submit
        found = [
            submit(_means, self.kernel, [p[0] for p in self.pieces([[c]])], n, pure=False)
            for c, n in zip(cells, k, strict=True)
        ]
        return self.rows.client.gather(found)

    def groups_of_cells(self, n_cells: int) -> list[list[int]]:
        """Return the cells of each task."""
        n_threads = sum(self.rows.client.nthreads().values())
        n_groups = min(TASKS_PER_THREAD * n_threads, n_cells)
        return [group.tolist() for group in np.array_split(np.arange(n_cells), n_groups)]

    def pieces(self, groups: list[Any]) -> list[list[Future]]:
        """Return for each part, and each group of cells, the points of the part in the group."""
        submit = self.rows.client.submit
        both = zip(self.rows.parts, self.cells, strict=True)
        divided = [submit(_divide, part, cell, groups, pure=False) for part, cell in both]
        return [[submit(_pick, d, i, pure=False) for i in range(len(groups))] for d in divided]


class Work(NamedTuple):
    """What a worker needs to know to solve cells."""

    task: Task  # without points
    n_classes: int
    end: float  # a value of time.time()


def _solve(
    points: ClusterPoints, sizes: np.ndarray, rngs: list[Any], work: Work, progress: Progress
) -> list[tuple[Part, Answer]]:
    """Solve all cells that have points; return their points and answers, in order."""
    client = points.rows.client
    groups = points.groups_of_cells(len(sizes))
    pieces = points.pieces(groups)

    def start(i: int) -> Future:
        given = [p[i] for p in pieces], groups[i], [rngs[c] for c in groups[i]], work
        return client.submit(solve_cells, *given, pure=False)

    futures = [start(i) for i in range(len(groups))]
    pending, stop, n_done, pause = set(range(len(groups))), "", 0, MIN_PAUSE
    with progress.output(0) as on_round, interrupts() as interrupted:
        while pending:
            stopped = False
            for i in [i for i in pending if futures[i].done()]:
                pending.remove(i)
                n_done += len(groups[i])
                stopped |= on_round({"n_done": n_done, "n_cells": len(sizes), "stop": stop})
            if not stop and (interrupted or stopped):
                # The others get the shortest run that gives an answer.
                stop = "interrupted" if interrupted else "callback"
                work = work._replace(end=-np.inf)
                client.cancel([futures[i] for i in pending])
                futures = [start(i) if i in pending else f for i, f in enumerate(futures)]
            end_if_pressed_twice()
            time.sleep(pause if pending else 0)
            pause = min(2 * pause, MAX_PAUSE)
    found = [pair for pairs in client.gather(futures) for pair in pairs]
    for info in (info for _, answer in found for info in answer.infos):
        info["stop"] = stop if stop and info["stop"] == "max_time" else info["stop"]
    return found


def neighborhoods_of(rows: RowParts) -> list[np.ndarray]:
    """Return the same positions as `fitting.solver_choice.neighborhoods`."""
    rng = np.random.default_rng(rows.n_rows)
    chosen = rng.choice(rows.n_rows, min(CHOICE_NEIGHBORHOODS, rows.n_rows), replace=False)
    found = rows.ask(_neighbors, rows.take(chosen).X)
    groups = []
    for i in range(len(chosen)):
        distances = np.concatenate([distance[i] for distance, _ in found])
        places = [inside[i] + start for (_, inside), start in zip(found, rows.starts, strict=True)]
        closest = np.argsort(distances, kind="stable")[:CHOICE_NEIGHBORS]
        groups.append(np.sort(np.concatenate(places)[closest]))
    return groups


# Tasks


def _nearest(part: Part, kernel: Kernel, centers: np.ndarray) -> np.ndarray:
    if not part.n_rows:
        return np.zeros(0, dtype=int)
    with one_blas_thread():
        return nearest(cell_coordinates(kernel, part.X), centers)


def _divide(part: Part, cell: np.ndarray, groups: list[Any]) -> list[tuple[Part, np.ndarray]]:
    """Return the points of each group of cells, and their cells."""
    found = []
    for group in groups:
        inside = np.flatnonzero(np.isin(cell, group))
        found.append((part.take(inside), cell[inside]))
    return found


def _pick(pieces: list[Any], number: int) -> Any:
    return pieces[number]


def _means(kernel: Kernel, pieces: list[tuple[Part, np.ndarray]], k: int) -> np.ndarray:
    with one_blas_thread():
        X = cell_coordinates(kernel, join([part for part, _ in pieces if part.n_rows]).X)
        return means(evenly_spaced(X, MAX_CLUSTERED_POINTS), k)


def solve_cells(
    pieces: list[tuple[Part, np.ndarray]], cells: list[int], rngs: list[Any], work: Work
) -> list[tuple[Part, Answer]]:
    """Return points and Bayes points of some cells."""
    deadline = time.perf_counter() + work.end - time.time()
    part, cell = join([p for p, _ in pieces]), np.concatenate([c for _, c in pieces])
    found = []
    # A task that runs again must draw the same numbers again.
    for number, (of_sample, of_solver) in zip(cells, copy.deepcopy(rngs), strict=True):
        points = part.take(np.flatnonzero(cell == number))
        if not points.n_rows:
            continue
        points = points.take(sample_cell(work.task, points.target, of_sample))
        task = work.task._replace(
            X=points.X,
            signs=one_against_rest(points.target, work.n_classes),
            target=points.target,
            weight=None if work.task.weight is None else points.likelihood,
            deadline=deadline,
            rng=of_solver,
        )
        with one_blas_thread():
            found.append((points, solve_cell(task)))
    return found


def _neighbors(part: Part, centers) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """Return the distances of the points closest to each center, and the points."""
    distances = euclidean_distances(centers, part.X) if part.n_rows else np.empty((len(centers), 0))
    closest = [np.argsort(d, kind="stable")[:CHOICE_NEIGHBORS] for d in distances]
    return [d[c] for d, c in zip(distances, closest, strict=True)], closest
