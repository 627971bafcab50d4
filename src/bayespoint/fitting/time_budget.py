"""Time that is too short for all points, and for an exact answer."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from .._runtime.progress import describe
from .._runtime.warn import warn
from .parameters import part_of_each_class
from .task import Task


def affordable_part(
    task: Task, rows: np.ndarray, seconds: Callable[[np.ndarray], np.ndarray]
) -> np.ndarray:
    """Return which of the training points can be made ready in half of the time that is left.

    `seconds` tells about how long some numbers of points take.
    """
    m = len(rows)
    if task.max_time is None:
        return np.arange(m)
    left = task.deadline - time.perf_counter()
    sizes = np.arange(100, max(m, 100) + 50, 50)
    n = int(sizes[max(int(np.searchsorted(seconds(sizes), left / 2)) - 1, 0)])
    if n >= m:
        return np.arange(m)
    kept = part_of_each_class(task.target[rows], n, task.rng)
    warn(
        f"max_time={task.max_time:g} is too short to use all {m} training points: the "
        f"classifier is trained on {len(kept)} of them, chosen at random.",
        ConvergenceWarning,
    )
    return kept


def warn_unless_converged(infos: list[dict]) -> None:
    """Say how far the solver got where it had to stop early."""
    early = [info for info in infos if info["stop"] not in ("tol", "done")]
    if not early:
        return
    worst = max(early, key=lambda info: (not info["mixed"], np.nan_to_num(info["angle"])))
    advice = {
        "n_bounces": "Raise n_bounces or tol of the solver, or soften the boundary",
        "n_samples": "Raise n_samples or tol of the solver, or soften the boundary",
        "max_iter": "Raise max_iter or tol of the solver, or soften the boundary",
        "stalled": 'Soften the boundary, or pass solver="billiard"',
        "max_time": "Raise max_time",
        "interrupted": "Press Ctrl-C twice to stop without an answer",
    }.get(worst["stop"], "Fit again for a more exact answer")
    warn(
        f"The solver stopped early ({worst['stop']}): {describe(worst).strip()}. The answer so "
        f"far is kept. {advice}.",
        ConvergenceWarning,
    )
