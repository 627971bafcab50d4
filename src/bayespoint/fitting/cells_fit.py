"""Training in cells of input space: EP on the whole Gram matrix of each cell."""

from __future__ import annotations

import math
import time
from typing import Any

import numpy as np
from joblib import effective_n_jobs

from .._runtime.interrupt import interrupts
from .._runtime.progress import Progress
from .._runtime.threads import threads
from ..solvers.cells import (
    MAX_CELL_RATIO,
    MAX_CLUSTERED_POINTS,
    Divided,
    divide_into_cells,
    nearest,
)
from .gram_fit import average_hypotheses
from .gram_fit import memory_needed as gram_memory_needed
from .sampling import sample_each_class
from .task import Answer, Task
from .time_budget import affordable_points, warn_unless_converged

# Estimate for a slow machine, with cells of 1000 points.
SECONDS_PER_POINT = 1e-3


def fit_cells(task: Task, progress: Progress) -> Answer:
    """Return the Bayes points of all outputs, cell by cell."""
    began = time.perf_counter()
    if task.kernel.name == "precomputed":
        raise ValueError(
            'solver="cells" divides the points by their features, which a precomputed kernel does '
            'not have. Pass solver="nystroem" or "perceptron".'
        )
    n_threads = effective_n_jobs(task.n_jobs)
    check_memory(task, task.n_samples, n_threads)
    with interrupts() as interrupted:
        rows = task.points
        rows = rows[affordable_points(task, rows, lambda n: _seconds(task, n))]
        task = task._replace(
            X=task.X[rows],
            signs=task.signs[:, rows],
            target=task.target[rows],
            weight=None if task.weight is None else task.weight[rows],
            sets=None,
            max_time=None,
        )
        points = Divided(task.X, MAX_CLUSTERED_POINTS)
        centers = divide_into_cells(points, task.solver.n_points)
        cells = members_of_cells(task, nearest(task.X, centers), len(centers))
        answers = _solve(task, cells, progress, interrupted)
    answer = join_cells(task, rows, cells, answers)
    for info in answer.infos:
        info["seconds"] = time.perf_counter() - began
    warn_unless_converged(answer.infos)
    return answer._replace(centers=centers)


def _seconds(task: Task, n: np.ndarray) -> np.ndarray:
    """Estimate how long n points take."""
    return SECONDS_PER_POINT * n * (task.solver.n_points / 1000) ** 2 * len(task.signs)


def check_memory(task: Task, m: int, n_threads: int) -> None:
    """Raise an error if m points, and a cell in each thread, need more than `cache_size`."""
    n_outputs = len(task.signs)
    each = gram_memory_needed(min(MAX_CELL_RATIO * task.solver.n_points, m), n_outputs, task.solver)
    hypotheses = 8 * n_outputs * m * (2 * task.solver.n_draws + 4) / 2**20
    needed = each * n_threads + hypotheses + task.copied / 2**20
    if needed > task.cache_size:
        raise ValueError(
            f"Cells of up to {MAX_CELL_RATIO * task.solver.n_points} points, and the draws of all "
            f"{m}, need up to {math.ceil(needed)} MB, but cache_size is {task.cache_size:g}. Raise "
            "cache_size, or lower n_points or n_draws of the solver."
        )


def members_of_cells(task: Task, cell: np.ndarray, n_cells: int) -> list[np.ndarray]:
    """Return the points of each cell, or a sample of them if the cell is too large."""
    order = np.argsort(cell, kind="stable")
    cells = np.split(order, np.cumsum(np.bincount(cell, minlength=n_cells))[:-1])
    rngs = task.rng.spawn(n_cells)
    return [
        points[sample_cell(task, task.target[points], rng)]
        for points, rng in zip(cells, rngs, strict=True)
    ]


def sample_cell(task: Task, target: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return which points of a cell to use, from their classes."""
    most = MAX_CELL_RATIO * task.solver.n_points
    return sample_each_class(target, most, rng) if len(target) > most else np.arange(len(target))


def _solve(task: Task, cells: list[np.ndarray], progress: Progress, interrupted):
    """Find the Bayes points of all cells, one cell in each thread at a time."""
    rngs = task.rng.spawn(len(cells))
    stop = ""

    def work(number: int) -> Answer | None:
        points = cells[number]
        if not len(points):
            return None
        part = task._replace(
            X=task.X[points],
            signs=task.signs[:, points],
            target=task.target[points],
            weight=None if task.weight is None else task.weight[points],
            deadline=-np.inf if stop else task.deadline,
            rng=rngs[number],
        )
        answer = solve_cell(part)
        for info in answer.infos:
            info["stop"] = stop if stop and info["stop"] == "max_time" else info["stop"]
        return answer

    answers: list[Answer | None] = []
    with threads(task.n_jobs) as thread_map, progress.output(0) as on_round:
        for number, answer in enumerate(thread_map(work, range(len(cells)))):
            answers.append(answer)
            stopped = on_round({"n_done": number + 1, "n_cells": len(cells), "stop": stop})
            stop = stop or ("interrupted" if interrupted else "callback" if stopped else "")
    return answers


def solve_cell(task: Task) -> Answer:
    """Return the Bayes points of all outputs for the points of one cell."""
    # All classes that are missing in a cell have the same labels there: solve them once.
    signs, same = np.unique(task.signs, axis=0, return_inverse=True)
    target = np.unique(task.target, return_inverse=True)[1]
    task = task._replace(signs=signs, target=target, n_jobs=1)
    return _repeat(average_hypotheses(task, np.arange(len(target)), None), same.ravel())


def _repeat(answer: Answer, outputs: np.ndarray) -> Answer:
    """Expand the answer for distinct outputs to all outputs."""
    return answer._replace(
        coef=answer.coef[outputs],
        draws=None if answer.draws is None else answer.draws[outputs],
        chains=answer.chains[outputs],
        resultant=answer.resultant[outputs],
        infos=[dict(answer.infos[i]) for i in outputs],
        loo=None if answer.loo is None else answer.loo[:, outputs],
    )


def join_cells(task: Task, rows: np.ndarray, cells, answers: list[Answer | None]) -> Answer:
    """Put the hypotheses of all cells side by side, scaled to one common deviation."""
    pairs = [(points, a) for points, a in zip(cells, answers, strict=True) if a is not None]
    parts = [a for _, a in pairs]
    used = np.concatenate([points[a.rows] for points, a in pairs])
    order = np.argsort(rows[used])
    # Dividing by the largest scale keeps decisions between -1 and 1.
    scale = max(a.probit_scale for a in parts)

    def side_by_side(name: str) -> np.ndarray:
        blocks = [getattr(a, name) * (a.probit_scale / scale) for a in parts]
        return np.concatenate(blocks, axis=-1)[..., order]

    has_loo = all(a.loo is not None for a in parts)
    weights = [len(a.rows) for a in parts]
    return Answer(
        rows=rows[used[order]],
        coef=side_by_side("coef"),
        draws=side_by_side("draws"),
        chains=side_by_side("chains"),
        resultant=np.average([a.resultant for a in parts], axis=0, weights=weights),
        softness=max(a.softness for a in parts),
        label_noise=task.label_noise,
        probit_scale=scale,
        probit_df=np.inf,
        infos=[_join_infos([a.infos[i] for a in parts], order) for i in range(len(task.signs))],
        loo=np.concatenate([a.loo for a in parts])[order] if has_loo else None,
    )


def _join_infos(infos: list[dict[str, Any]], order: np.ndarray) -> dict[str, Any]:
    """Merge the infos of one output over all cells."""
    worst = max(infos, key=lambda info: (info["stop"] != "tol", info["residual"]))
    return {
        "angle": worst["angle"],
        "ess": worst["ess"],
        "mixed": all(info["mixed"] for info in infos),
        "n_iter": max(info["n_iter"] for info in infos),
        "residual": max(info["residual"] for info in infos),
        "log_evidence": sum(info["log_evidence"] for info in infos),
        "stop": worst["stop"],
        "hits": np.concatenate([info["hits"] for info in infos])[order],
        "n_cells": len(infos),
    }
