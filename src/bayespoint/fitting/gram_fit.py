"""Training with the whole Gram matrix: enter version spaces and sample them."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from .._runtime.progress import Progress
from .._runtime.threads import count_threads, threads
from .._runtime.warn import warn
from ..geometry.gram import IndefiniteKernelError
from ..geometry.problem import Problem, pose_problem
from ..solvers import Posterior
from ..solvers.posterior import mean_length, stack_chains
from ..solvers.propagation.approximation import trust_in
from .probabilities import probit_scale, typical_variance
from .task import Answer, Task, needs_of
from .time_budget import affordable_points, solve_at_once, solve_in_turn, warn_unless_converged
from .training_points import heed_weights, kernel_matrix

# Estimates for a slow machine: seconds for each entry of the kernel matrix, and for each of the
# m^3 operations of its factor.
SECONDS_PER_ENTRY = 8e-8
SECONDS_PER_FACTOR_OPERATION = 3e-11
# Assumed for a solver that does not say: matrices of the size of the Gram matrix held at once,
# factorizations for each output, and draws.
DEFAULT_MATRICES, DEFAULT_FACTORS, DEFAULT_DRAWS = 4, 0, 256
# Matrices of the size of the Gram matrix that each output needs while it is solved.
MATRICES_OF_AN_OUTPUT = 3
# Up to this many points label regression copies the Gram matrix as often as it likes.
MAX_COPIED_POINTS = 2000


def fit_gram(task: Task, progress: Progress) -> Answer:
    """Return the Bayes points of all outputs, from a solver that takes version spaces."""
    answer = average_hypotheses(task, choose_rows(task), progress)
    warn_unless_converged(answer.infos)
    return answer


def average_hypotheses(task: Task, rows: np.ndarray, progress: Progress | None) -> Answer:
    """Return the Bayes points of all outputs, trained on the given rows."""
    problem = _pose(task, rows)
    posteriors = _solve(task, problem, progress)
    if task.fallback is not None and any(_did_not_converge(p.info) for p in posteriors):
        fallback = heed_weights(task._replace(solver=task.fallback))
        problem = problem if fallback.weight is task.weight else _pose(fallback, rows)
        posteriors = _solve(fallback, problem, None)
    return _answer(problem, posteriors)


def _did_not_converge(info: dict[str, Any]) -> bool:
    """Tell whether a solver had enough time and still did not get close."""
    return info["stop"] in ("max_iter", "stalled") and not info["mixed"]


def _pose(task: Task, rows: np.ndarray) -> Problem:
    """Make version spaces; soften an indefinite kernel matrix if the task allows it."""
    matrix = kernel_matrix(task.kernel, task.X, rows if len(rows) < task.n_samples else None)
    pose = partial(
        pose_problem, matrix, rows, task.signs, label_noise=task.label_noise, weight=task.weight
    )
    try:
        return pose(softness=task.softness)
    except IndefiniteKernelError as error:
        if not task.may_soften or error.needed_softness is None:
            raise
        softness = error.needed_softness
    warn(
        f'softness="auto" chose softness={softness:.3g}, because the kernel matrix is not positive '
        "semi-definite. Choose another kernel, or pass a number to choose the softness yourself.",
    )
    return pose(softness=softness)


def memory_needed(m: int, n_outputs: int, solver: Any) -> float:
    """Return the megabytes that m points need: Gram matrix, its factor, draws."""
    each = getattr(solver, "n_draws", DEFAULT_DRAWS)
    if hasattr(solver, "draws_of_each"):
        each = solver.draws_of_each(n_outputs)
    n_matrices = getattr(solver, "n_matrices", DEFAULT_MATRICES)
    if is_solved_in_place(m, solver):
        n_matrices = 1
    return 8 * m * (n_matrices * m + 4 * n_outputs * each) / 2**20


def is_solved_in_place(m: int, solver: Any) -> bool:
    """Tell whether m points are so many that a regression overwrites their Gram matrix."""
    return m > MAX_COPIED_POINTS and hasattr(solver, "solve_large")


def choose_rows(task: Task) -> np.ndarray:
    """Return the training points that time allows; raise an error if they need more memory."""
    rows = np.sort(task.points)
    rows = rows[affordable_points(task, rows, lambda n: _seconds(task, n))]
    needed = memory_needed(len(rows), len(task.signs), task.solver)
    if needed > task.cache_size:
        raise ValueError(
            f"The kernel matrix of {len(rows)} training points, its factor and the draws "
            f"need up to {needed:.3g} MB, but cache_size is {task.cache_size:g}. Raise "
            'cache_size if there is that much memory, or pass solver="perceptron", which needs '
            "only parts of the matrix."
        )
    return rows


def _seconds(task: Task, n: np.ndarray) -> np.ndarray:
    """Estimate how long it takes to prepare n points."""
    n_solves = 1 if needs_of(task.solver) == "regression" else len(task.signs)
    factors = 1 + n_solves * getattr(task.solver, "n_factors", DEFAULT_FACTORS)
    in_place = [is_solved_in_place(m, task.solver) for m in n]
    return (
        SECONDS_PER_ENTRY * n**2.0
        + np.where(in_place, 1, factors) * SECONDS_PER_FACTOR_OPERATION * n**3.0
    )


def _solve(task: Task, problem: Problem, progress: Progress | None) -> list[Posterior]:
    """Run the solver for each output."""
    starts, n_outputs = _starts(task, problem), len(problem.spaces)
    in_threads = n_outputs > 1 and getattr(task.solver, "outputs_in_threads", False)
    rngs = task.rng.spawn(n_outputs) if in_threads else [task.rng] * n_outputs
    solves = [
        partial(task.solver.solve, space, rng, start=start, n_jobs=task.n_jobs)
        for space, rng, start in zip(problem.spaces, rngs, starts, strict=True)
    ]
    with threads(_affordable_jobs(task, problem) if in_threads else 1) as thread_map:
        # With a time limit each output gets a share of what the others left.
        if thread_map is map or np.isfinite(task.deadline):
            return solve_in_turn(task, progress, solves)
        return solve_at_once(thread_map, progress, solves)


def _affordable_jobs(task: Task, problem: Problem) -> int:
    """Return how many outputs memory allows at once; each needs matrices of its own."""
    m, n_outputs = len(problem.rows), len(problem.spaces)
    spare = task.cache_size - memory_needed(m, n_outputs, task.solver)
    n_more = int(max(spare, 0) // (8 * m * m * MATRICES_OF_AN_OUTPUT / 2**20))
    return min(count_threads(task.n_jobs), n_outputs, 1 + n_more)


def _starts(task: Task, problem: Problem) -> list[np.ndarray | None]:
    """Enter all version spaces before sampling any of them: one may be empty."""
    if task.label_noise or task.weight is not None:  # then every hypothesis is possible
        return [None] * len(problem.spaces)
    return [space.enter(task.rng, task.deadline) for space in problem.spaces]


def left_out(
    infos: list[dict], softness: float, n_dimensions: float, weight: np.ndarray | None
) -> tuple[float, np.ndarray]:
    """Return the probit scale and standardized outputs of left-out points, taken from the infos."""
    mean, variance = (
        np.stack([info.pop(key) for info in infos], axis=-1) for key in ("loo_mean", "loo_variance")
    )
    typical = typical_variance(variance, weight)
    scale = mean_length(n_dimensions) / np.sqrt((1 + softness) * typical)
    return scale, mean / np.sqrt(variance)


def _answer(problem: Problem, posteriors: list[Posterior]) -> Answer:
    """Express hypotheses by coefficients on the training points."""
    space = problem.spaces[0]
    gram = space.gram
    signs = np.array([space.signs for space in problem.spaces])
    to_points = signs / gram.lengths
    coef = np.array([p.coef for p in posteriors])
    n_draws = min(len(p.draws) for p in posteriors)
    kinds = {(len(p.draws), p.draw_chains) for p in posteriors}
    draws = np.array([p.draws[:n_draws] for p in posteriors])
    lengths = [np.linalg.norm(s.combine(c)) for s, c in zip(problem.spaces, coef, strict=True)]
    infos = [p.info for p in posteriors]
    if "loo_variance" in infos[0]:
        scale, loo = left_out(infos, gram.softness, space.n_dimensions, space.weight)
        # An answer that did not converge says less.
        trust = np.array([trust_in(info["residual"]) for info in infos])
        scale, loo, share = scale * trust.max(), loo * trust, trust / trust.max()
        coef, draws = coef * share[:, None], draws * share[:, None, None]
    else:
        scale, loo = probit_scale(gram, draws * signs[:, None]), None
    return Answer(
        rows=problem.rows,
        coef=coef * to_points,
        draws=draws * to_points[:, None],
        chains=stack_chains([p.chains for p in posteriors]) * to_points[:, None],
        resultant=np.array(lengths),
        softness=gram.softness,
        label_noise=space.label_noise,
        probit_scale=scale,
        probit_df=np.inf,
        infos=infos,
        draw_chains=kinds.pop()[1] if len(kinds) == 1 else 1,
        loo=loo,
    )
