"""Time limits: the points a deadline allows, and a warning if a solver stops early."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import nullcontext

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from .._runtime.interrupt import interrupts
from .._runtime.progress import Progress, describe
from .._runtime.warn import warn
from ..solvers import Posterior
from .sampling import sample_each_class
from .task import Task, needs_of

# Preparing the training points may take this share of the remaining time; more if nothing but the
# answer follows.
PREPARATION_SHARE = 0.5
PREPARATION_SHARE_OF_MOSAICS = 0.8
# Training sets are cut down to 100, 150, 200, ... points.
MIN_POINTS, POINTS_STEP = 100, 50
# Advice for each reason to stop early.
ADVICE = {
    "n_bounces": "Raise n_bounces or tol of the solver, or soften the boundary",
    "n_samples": "Raise n_samples or tol of the solver, or soften the boundary",
    "max_iter": "Raise max_iter or tol of the solver, or soften the boundary",
    "escaped": 'Pass algorithm="geodesic", whose balls cannot escape, or soften the boundary',
    "stalled": 'Soften the boundary, or pass solver="billiard"',
    "max_time": "Raise max_time",
    "interrupted": "Press Ctrl-C twice to stop without an answer",
}


def affordable_points(
    task: Task, rows: np.ndarray, seconds: Callable[[np.ndarray], np.ndarray]
) -> np.ndarray:
    """Return the positions in `rows` of the points that can be prepared in time.

    `seconds` estimates the time for given numbers of points.
    """
    m = len(rows)
    if task.max_time is None:
        return np.arange(m)
    left = task.deadline - time.perf_counter()
    sizes = np.arange(MIN_POINTS, max(m, MIN_POINTS) + POINTS_STEP, POINTS_STEP)
    longest = np.maximum.accumulate(seconds(sizes))
    is_mosaic = task.solver is not None and needs_of(task.solver) == "mosaic"
    share = PREPARATION_SHARE_OF_MOSAICS if is_mosaic else PREPARATION_SHARE
    n_fitting = int(np.searchsorted(longest, share * left))
    n = int(sizes[max(n_fitting - 1, 0)])
    if n >= m:
        return np.arange(m)
    kept = sample_each_class(task.target[rows], n, task.rng)
    warn(
        f"max_time={task.max_time:g} is too short to use all {m} training points: the "
        f"classifier is trained on {len(kept)} of them, chosen at random.",
        ConvergenceWarning,
    )
    return kept


def solve_in_turn(
    task: Task, progress: Progress | None, solves: Sequence[Callable[..., Posterior]]
) -> list[Posterior]:
    """Solve one output after another; each gets an equal share of the remaining time.

    After Ctrl-C, or if a callback stops the fit, the remaining outputs get the shortest run that
    gives an answer.
    """
    posteriors: list[Posterior] = []
    for i, solve in enumerate(solves):
        now = time.perf_counter()
        share = (task.deadline - now) / (len(solves) - i)
        if posteriors and posteriors[-1].info["stop"] in ("interrupted", "callback"):
            share = 0.0
        with progress.output(i) if progress else nullcontext() as on_round:
            posteriors.append(solve(deadline=now + share, on_round=on_round))
    return posteriors


def solve_at_once(
    thread_map: Callable, progress: Progress | None, solves: Sequence[Callable[..., Posterior]]
) -> list[Posterior]:
    """Solve outputs in threads, without a time limit.

    The callback hears of an output when it is done. After Ctrl-C, or if the callback stops the
    fit, outputs that have not begun get the shortest run that gives an answer.
    """
    posteriors: list[Posterior] = []
    stop = ""

    def work(solve: Callable[..., Posterior]) -> Posterior:
        posterior = solve(deadline=-np.inf if stop else np.inf, on_round=None)
        if stop and posterior.info["stop"] == "max_time":
            posterior.info["stop"] = stop
        return posterior

    with interrupts() as interrupted:
        for i, posterior in enumerate(thread_map(work, solves)):
            posteriors.append(posterior)
            with progress.output(i) if progress else nullcontext() as on_round:
                stopped = on_round is not None and on_round(posterior.info)
            stop = stop or ("interrupted" if interrupted else "callback" if stopped else "")
    return posteriors


def warn_unless_converged(infos: list[dict]) -> None:
    """Warn if a solver stopped early, and say how far it got."""
    early = [info for info in infos if info["stop"] not in ("tol", "done")]
    if not early:
        return
    worst = max(early, key=lambda info: (not info["mixed"], np.nan_to_num(info["angle"])))
    advice = ADVICE.get(worst["stop"], "Fit again for a more exact answer")
    warn(
        f"The solver stopped early ({worst['stop']}): {describe(worst).strip()}. The answer so "
        f"far is kept. {advice}.",
        ConvergenceWarning,
    )
