"""Training by label regression in cells that landmarks join."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from joblib import effective_n_jobs

from .._runtime.progress import Progress
from .._runtime.threads import threads
from .._runtime.warn import warn
from ..geometry.gram import IndefiniteKernelError
from ..solvers.cells import (
    MAX_CELL_RATIO,
    MAX_CLUSTERED_POINTS,
    Divided,
    divide_into_cells,
    nearest,
)
from ..solvers.mosaic import Joined, Patch
from ..solvers.regression import MIN_NOISE, describe, draws_of_each, units_of
from ..solvers.tiled_cholesky import tiles_of, times_upper
from ..solvers.watch import watching
from .cells_fit import members_of_cells
from .gram_fit import MAX_COPIED_POINTS
from .landmarks_fit import MIN_NEW_SQUARED_LENGTH, Landmarks, span_of
from .outputs import cell_coordinates
from .power_link import fit_power_link, known_outcomes
from .regression_fit import (
    DRAW_LANDMARKS,
    MIN_SOFTNESS,
    draw_off_mean,
    in_double_if_needed,
    infos_of,
    is_rounding_small,
    label_codes,
    weights_of,
)
from .sampling import sample_each_class
from .task import Answer, LandmarkPart, Task
from .time_budget import affordable_points, warn_unless_converged
from .training_points import used_points
from .unit_blocks import UnitBlocks, is_fast

# Estimates for a slow machine: seconds for a kernel value of two points, and for each of the
# operations of matrix products.
SECONDS_PER_ENTRY = 8e-8
SECONDS_PER_OPERATION = 3e-11
# Matrices of r x r numbers in memory for r landmarks: their basis, which is in double precision
# too, and sums in double precision.
FIXED_MATRICES = 5


class Setting(NamedTuple):
    """The parts of a mosaic."""

    rows: np.ndarray  # training points that are used
    landmarks: Landmarks
    centers: np.ndarray
    cells: list[np.ndarray]  # positions in `rows`


def fit_mosaic(task: Task, progress: Progress) -> Answer:
    """Return the Bayes points of all outputs, in the span of landmarks and cell by cell."""
    if task.kernel.name == "precomputed":
        raise ValueError(
            'solver="mosaic" divides the points by their features, which a precomputed kernel does '
            'not have. Pass solver="regression", "nystroem" or "perceptron".'
        )
    began = time.perf_counter()
    rows, lengths = used_points(task)
    kept = affordable_points(task, rows, lambda n: _seconds(task, n))
    rows, lengths = rows[kept], lengths[kept]
    weight = weights_of(task, rows)
    softness = max(task.softness, MIN_SOFTNESS)
    codes = label_codes(task.signs[:, rows])
    setting = _divide(task, rows)
    with (
        threads(task.n_jobs) as thread_map,
        progress.output(0) as on_round,
        watching(task.deadline, on_round) as watch,
    ):

        def solve(single: bool) -> Joined:
            return task.solver.solve(
                setting.cells,
                _patches(task, setting, lengths, single),
                codes,
                softness,
                np.minimum(weight, softness / MIN_NOISE),
                watch=watch,
                thread_map=thread_map,
                **_plan_memory(task, setting, single),
            )

        some = rows[sample_each_class(task.target[rows], DRAW_LANDMARKS)]
        single = rounding_is_small(task, setting, some, softness, weight)
        single, found = in_double_if_needed(solve, single)
    stop = watch.stop if found.n_done < len(setting.cells) else "done"
    answer = answer_of(task, setting, found, lengths, weight, began, stop)
    warn_unless_converged(answer.infos)
    return answer._replace(single=single)


def rounding_is_small(task: Task, setting: Setting, some: np.ndarray, softness, weight) -> bool:
    """Tell whether single precision is exact enough for these cells, and pays."""
    n, largest = len(setting.rows), max(map(len, setting.cells))
    if n <= MAX_COPIED_POINTS or not is_fast(task.kernel, task.X):
        return False
    given = coherent_points(n, largest, task.solver), softness, weight.min(), weight.max()
    return is_rounding_small(task.kernel, task.X[some], *given)


def coherent_points(n: int, largest: int, solver) -> float:
    """Return of how many points the rounding errors add up at most.

    Those of a cell may be equal and add up. Each cell has a factor of its own, so the errors of
    different cells have any sign, and add up like the root of their number.
    """
    return float(np.sqrt(n * min(n, largest, MAX_CELL_RATIO * solver.n_points)))


def _seconds(task: Task, n: np.ndarray) -> np.ndarray:
    """Estimate how long n points take."""
    r, b = np.minimum(n, task.solver.n_landmarks), np.minimum(n, task.solver.n_points)
    operations = 4.0 * r**2 + 3.0 * r * b + b**2
    return n * (SECONDS_PER_ENTRY * (r + b) + SECONDS_PER_OPERATION * operations)


def _divide(task: Task, rows: np.ndarray) -> Setting:
    """Choose landmarks and cells."""
    chosen = sample_each_class(task.target[rows], task.solver.n_landmarks, task.rng)
    landmarks = joining_span(task, rows[chosen])
    X = cell_coordinates(task.kernel, task.X[rows])
    centers = divide_into_cells(Divided(X, MAX_CLUSTERED_POINTS), task.solver.n_points)
    part = task._replace(target=task.target[rows])
    cells = members_of_cells(part, nearest(X, centers), len(centers))
    warn_of_left_out(task, len(rows), sum(map(len, cells)))
    kept = [number for number, cell in enumerate(cells) if len(cell)]
    return Setting(rows, landmarks, centers[kept], [cells[number] for number in kept])


def joining_span(task: Task, rows: np.ndarray) -> Landmarks:
    """Return the span of the landmarks, which are the given rows of `task.X`."""
    try:
        return span_of(task, rows, MIN_NEW_SQUARED_LENGTH)
    except IndefiniteKernelError as error:
        raise ValueError(
            'solver="mosaic" needs a positive semi-definite kernel, and this one is not. Choose '
            'another kernel, or pass solver="perceptron" and a larger softness.'
        ) from error


def warn_of_left_out(task: Task, n_points: int, n_used: int) -> None:
    """Warn if cells are too large, and cannot be divided."""
    if n_used < n_points:
        warn(
            f"{n_points - n_used} of {n_points} training points are left out, because cells with "
            f"more than {MAX_CELL_RATIO * task.solver.n_points} points that are nearly equal "
            "cannot be divided. Round them, so that equal ones count as one with a weight."
        )


def _patches(task: Task, setting: Setting, lengths: np.ndarray, single: bool):
    """Return a function: from the number of a cell to its points."""
    blocks = UnitBlocks(task.kernel, task.X, setting.rows, lengths, single)
    by_row = np.argsort(setting.rows)
    positions = by_row[np.searchsorted(setting.rows, setting.landmarks.rows, sorter=by_row)]
    return patches_of(blocks, positions, setting.landmarks.to_basis, setting.cells)


def patches_of(
    blocks: UnitBlocks, landmarks: np.ndarray, to_basis: np.ndarray, cells: list[np.ndarray]
) -> Callable[[int], Patch]:
    """Return a function: from the number of a cell to its points, all as positions in blocks."""
    with_landmarks = blocks.against(landmarks)
    to_basis = to_basis.astype(blocks.dtype)

    def patch_of(number: int) -> Patch:
        members = cells[number]
        features = times_upper(with_landmarks(members), to_basis)
        return Patch(features, _lower_triangle(blocks, members))

    return patch_of


def _lower_triangle(blocks: UnitBlocks, members: np.ndarray) -> np.ndarray:
    """Return the Gram matrix of some points, without most of what is above its diagonal."""
    n, compute = len(members), blocks.against(members)
    matrix = np.zeros((n, n), dtype=blocks.dtype)
    for here in tiles_of(n):
        matrix[here, : here.stop] = compute(members[here], here.stop)
    return matrix


def memory_needed(
    m: int, n_outputs: int, solver, *, itemsize: int = 4, n_at_once: int = 1, largest: int = 0
) -> float:
    """Return the megabytes of a mosaic that holds no cell longer than necessary.

    `largest` is the number of points of the largest cell, if it is known.
    """
    r, b = min(m, solver.n_landmarks), largest or min(m, MAX_CELL_RATIO * solver.n_points)
    of_cell = b**2 + b * r + r**2
    matrices = itemsize * (FIXED_MATRICES * r**2 + n_at_once * of_cell)
    each = 2 * draws_of_each(solver.n_draws, n_outputs) + m / solver.n_points
    return (matrices + 8 * n_outputs * (8 * m + r * each)) / 2**20


def n_held_in(megabytes: float, sizes: list[int], r: int, itemsize: int) -> int:
    """Return how many cells, the first ones, can be kept in memory between the passes."""
    n = np.array(sizes, dtype=float)
    each = itemsize * n * (n + r) / 2**20
    return int(np.searchsorted(np.cumsum(each), megabytes, side="right"))


def _plan_memory(task: Task, setting: Setting, single: bool) -> dict[str, int]:
    """Return how many cells to work on at a time, and how many to keep between the passes."""
    sizes, itemsize = [len(cell) for cell in setting.cells], 4 if single else 8
    given = len(setting.rows), len(task.signs), task.solver
    available = task.cache_size - task.copied / 2**20

    def needed(n_at_once: int) -> float:
        return memory_needed(*given, itemsize=itemsize, n_at_once=n_at_once, largest=max(sizes))

    r = len(setting.landmarks.rows)
    require_memory(needed(1), available, r, max(sizes))
    n_jobs = effective_n_jobs(task.n_jobs)
    n_at_once = max(n for n in range(1, n_jobs + 1) if needed(n) <= available)
    return {
        "n_at_once": n_at_once,
        "n_held": n_held_in(available - needed(n_at_once), sizes, r, itemsize),
    }


def require_memory(needed: float, available: float, n_landmarks: int, largest: int) -> None:
    """Raise an error if a mosaic needs more megabytes than there are."""
    if needed > available:
        raise ValueError(
            f"{n_landmarks} landmarks and cells of up to {largest} points need up to "
            f"{math.ceil(needed)} MB, but cache_size leaves {max(available, 0):.0f}. Raise "
            "cache_size, or lower n_landmarks or n_points of the solver."
        )


def answer_of(
    task: Task,
    setting: Setting,
    found: Joined,
    lengths: np.ndarray,
    weight: np.ndarray,
    began: float,
    stop: str,
) -> Answer:
    """Express hypotheses by coefficients on training points and landmarks.

    `lengths` and `weight` belong to `setting.rows`. The fit began at this value of
    time.perf_counter(), and `stop` says why it ended.
    """
    solution, landmarks = found.solution, setting.landmarks
    softness = max(task.softness, MIN_SOFTNESS)
    codes = label_codes(task.signs[:, setting.rows[found.rows]])
    units = units_of(solution, codes, softness, weight[found.rows])
    increasing = np.argsort(setting.rows[found.rows])
    used, outputs = found.rows[increasing], solution.outputs[increasing]
    coef = solution.coef[increasing].T / (softness * units.length)
    to_points = landmarks.to_basis.T / landmarks.lengths
    of_cells = np.swapaxes(found.of_cells, 1, 2) @ to_points / units.length
    n_outputs = len(coef)
    each = draws_of_each(task.solver.n_draws, n_outputs)
    off = draw_off_mean(found.root, (n_outputs, each), task.rng) @ to_points
    known = known_outcomes(task.target[setting.rows[used]], max(n_outputs, 2), weight[used])
    with threads(task.n_jobs) as thread_map:
        link = fit_power_link(outputs, known, thread_map)
    info = describe(units, time.perf_counter() - began) | {
        "n_cells": len(setting.cells),
        "n_done": found.n_done,
        "stop": stop,
    }
    return Answer(
        rows=setting.rows[used],
        coef=coef / lengths[used],
        draws=off * (units.scale / units.length),
        chains=np.zeros((n_outputs, 2, len(landmarks.rows))),
        resultant=units.resultant,
        softness=task.softness,
        label_noise=0.0,
        probit_scale=units.length,
        probit_df=np.inf,
        infos=infos_of(info, np.abs(coef)),
        loo=outputs,
        centers=setting.centers,
        landmarks=LandmarkPart(landmarks.rows, of_cells),
        link=link,
    )
