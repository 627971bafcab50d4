"""Training by label regression: one factorization of the Gram matrix for all classes."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from .._runtime.progress import Progress
from .._runtime.threads import threads
from ..geometry.gram import IndefiniteKernelError, unit_matrix
from ..geometry.kernels import Kernel
from ..solvers.definite_inverse import NOT_DEFINITE_MESSAGE
from ..solvers.regression import MIN_NOISE, RegressionPosterior, Units, describe
from ..solvers.watch import watching
from .gram_fit import MAX_COPIED_POINTS, choose_rows, is_solved_in_place
from .landmarks_fit import MIN_NEW_SQUARED_LENGTH, Landmarks, span_of
from .power_link import fit_power_link, known_outcomes
from .sampling import sample_each_class
from .task import Answer, Task
from .time_budget import warn_unless_converged
from .training_points import kernel_matrix, point_lengths
from .unit_blocks import UnitBlocks, is_fast

# A hard boundary leaves no noise: then this little is added, so that the matrix can be factored.
MIN_SOFTNESS = 1e-9
# Single precision may change the noise of a point by at most about this share of it. Then
# outputs change by less than 0.02 where equal points add up their errors, and by far less
# elsewhere (docs/notes/mosaic.md).
MAX_ROUNDING = 0.05
# The noise of points with smaller weights overflows in single precision.
MIN_SINGLE_WEIGHT = 1e-30
# Landmarks in whose span hypotheses are drawn if the Gram matrix is large; also the number of
# points that estimate its row sums.
DRAW_LANDMARKS = 500
# Rows of the Gram matrix that a thread computes at once.
GRAM_ROWS = 512


def fit_regression(task: Task, progress: Progress) -> Answer:
    """Return the Bayes points of all outputs, and the link that gives their probabilities."""
    rows = choose_rows(task)
    solve = _solve_large if is_solved_in_place(len(rows), task.solver) else _solve_small
    with progress.output(0) as on_round:
        found = solve(task, rows, max(task.softness, MIN_SOFTNESS), on_round)
    answer = answer_of(task, found)
    warn_unless_converged(answer.infos)
    return answer


def answer_of(task: Task, found: Found) -> Answer:
    """Return hypotheses as coefficients on training points, and the link."""
    posterior, rows = found.posterior, found.rows
    known = known_outcomes(task.target[rows], max(len(task.signs), 2), weights_of(task, rows))
    # Points at the origin have length zero, and coefficients that have no effect.
    to_points = 1 / np.where(found.lengths > 0, found.lengths, np.inf)
    coef = posterior.coef * to_points
    with threads(task.n_jobs) as thread_map:
        link = fit_power_link(posterior.left_out, known, thread_map)
    return Answer(
        rows=rows,
        coef=coef,
        draws=None if posterior.draws is None else posterior.draws * to_points,
        chains=np.stack([coef, coef], axis=1),
        resultant=posterior.resultant,
        softness=task.softness,
        label_noise=0.0,
        probit_scale=posterior.length,
        probit_df=np.inf,
        infos=infos_of(posterior.info, np.abs(posterior.coef)),
        loo=posterior.left_out,
        link=link,
        single=found.single,
    )


class Found(NamedTuple):
    """What a regression found, and for which points."""

    posterior: RegressionPosterior
    rows: np.ndarray
    lengths: np.ndarray
    single: bool


def weights_of(task: Task, rows: np.ndarray) -> np.ndarray:
    """Return the weights of some training points."""
    return np.ones(len(rows)) if task.weight is None else task.weight[rows]


def infos_of(info: dict, hits: np.ndarray) -> list[dict]:
    """Return what `diagnostics_` reports, for each output."""
    return [
        info | {"hits": of_output, "log_evidence": float(evidence)}
        for of_output, evidence in zip(hits, info["log_evidence"], strict=True)
    ]


def label_codes(signs: np.ndarray) -> np.ndarray:
    """Return the labels as numbers, one column for each output.

    The signs of one class against the rest become 1 and 0, minus their mean over the classes.
    """
    codes = signs.T / 2.0
    return codes if len(signs) == 1 else codes + 0.5 - 1 / len(signs)


def _solve_small(task: Task, rows: np.ndarray, softness: float, on_round) -> Found:
    """Solve with copies of the Gram matrix, in double precision."""
    codes, weight = label_codes(task.signs[:, rows]), weights_of(task, rows)
    with threads(task.n_jobs) as thread_map:
        matrix = kernel_matrix(task.kernel, task.X, rows, thread_map)
        # A user's kernel may keep the matrix that it returns.
        can_overwrite, mixed = isinstance(task.kernel.name, str), task.kernel.mixture is not None
        unit, lengths = unit_matrix(matrix, rows, can_overwrite, is_symmetric=mixed)
        # Draws take about as long as the rest, and few users ask for them. Points at the origin
        # are no support vectors, but a later answer has all points.
        later = task.may_draw_later and len(rows) == task.n_samples and lengths.all()
        rng = None if later else task.rng
        posterior = task.solver.solve(unit, codes, softness, rng, weight, thread_map)
    return Found(posterior, rows, lengths, False)


def _solve_large(task: Task, rows: np.ndarray, softness: float, on_round) -> Found:
    """Solve in place, in single precision if that is exact enough, and draw in a span.

    If time is up, the answer is that of the points so far, which are in random order.
    """
    began = time.perf_counter()
    landmarks = rows[sample_each_class(task.target[rows], DRAW_LANDMARKS, task.rng)]
    rows = np.concatenate([landmarks, task.rng.permutation(np.setdiff1d(rows, landmarks))])
    span = _span_of(task, landmarks)
    lengths, weight = point_lengths(task)[rows], weights_of(task, rows)
    lengths_or_inf = np.where(lengths > 0, lengths, np.inf)
    codes = label_codes(task.signs[:, rows])

    def solve(single: bool, thread_map, watch):
        blocks = UnitBlocks(task.kernel, task.X, rows, lengths_or_inf, single)
        matrix = gram_matrix(blocks, len(rows), thread_map)
        given = matrix, codes, softness, weight, thread_map, watch, len(landmarks)
        return blocks, *task.solver.solve_large(*given)

    single = rounding_is_small(task, rows, landmarks, softness, weight)
    with threads(task.n_jobs) as thread_map, watching(task.deadline, on_round) as watch:
        single, (blocks, solution, units) = in_double_if_needed(
            lambda single: solve(single, thread_map, watch), single
        )
    n = len(solution.coef)
    coef = solution.coef.T / (softness * units.length)
    heeded = np.minimum(weight[:n], softness / MIN_NOISE)
    draws = _draw(task, span, blocks, coef, softness, heeded, units)
    info = describe(units, time.perf_counter() - began) | {
        "n_factors": 1,
        "n_done": n,
        "n_points": len(rows),
        "stop": watch.stop if n < len(rows) else "done",
    }
    posterior = RegressionPosterior(
        coef, draws, units.resultant, solution.outputs, units.length, info
    )
    return _in_order(Found(posterior, rows[:n], lengths[:n], single))


def in_double_if_needed(solve: Callable[[bool], Any], single: bool) -> tuple[bool, Any]:
    """Return whether single precision was enough, and the answer."""
    if single:
        try:
            return True, solve(True)
        except np.linalg.LinAlgError:
            pass  # some points have more neighbors than the estimate of rounding knew of
    try:
        return False, solve(False)
    except np.linalg.LinAlgError:
        raise np.linalg.LinAlgError(NOT_DEFINITE_MESSAGE) from None


def _span_of(task: Task, rows: np.ndarray) -> Landmarks:
    """Return the span of some points, without the negative directions of an indefinite kernel."""
    try:
        return span_of(task, rows, MIN_NEW_SQUARED_LENGTH)
    except IndefiniteKernelError:
        unit, lengths = unit_matrix(kernel_matrix(task.kernel, task.X, rows), rows)
        values, vectors = np.linalg.eigh(unit)
        used = values > MIN_NEW_SQUARED_LENGTH
        return Landmarks(rows, lengths, vectors[:, used] / np.sqrt(values[used]))


def _draw(
    task: Task, span: Landmarks, blocks: UnitBlocks, coef, softness: float, weight, units: Units
) -> np.ndarray:
    """Return the mean hypotheses plus random ones in the span of landmarks, the first points."""
    position = {row: i for i, row in enumerate(blocks.rows)}
    landmarks = np.array([position[row] for row in span.rows])
    n_outputs, n = coef.shape
    features = blocks.against(landmarks)(np.arange(n)) @ span.to_basis
    precision = np.eye(features.shape[1]) + features.T @ (features * (weight / softness)[:, None])
    root = np.linalg.inv(np.linalg.cholesky(precision))
    each = task.solver.draws_of_each(n_outputs)
    off = draw_off_mean(root, (n_outputs, each), task.rng) @ span.to_basis.T
    draws = np.repeat(coef[:, None], each, axis=1)
    draws[:, :, landmarks] += off * (units.scale / units.length)
    return draws


def _in_order(found: Found) -> Found:
    """Return the same answer with increasing rows."""
    order = np.argsort(found.rows)
    draws = found.posterior.draws
    posterior = found.posterior._replace(
        coef=found.posterior.coef[:, order],
        draws=None if draws is None else draws[:, :, order],
        left_out=found.posterior.left_out[order],
    )
    return Found(posterior, found.rows[order], found.lengths[order], found.single)


def draw_off_mean(root: np.ndarray, shape: tuple[int, int], rng) -> np.ndarray:
    """Return normal vectors with the covariance root' root, as the last axis of an array."""
    return rng.standard_normal((*shape, len(root))) @ root


def rounding_is_small(task: Task, rows, some: np.ndarray, softness: float, weight) -> bool:
    """Tell whether single precision is exact enough for a factorization, and pays."""
    if len(rows) <= MAX_COPIED_POINTS or not is_fast(task.kernel, task.X):
        return False
    given = softness, weight.min(), weight.max()
    return is_rounding_small(task.kernel, task.X[some], len(rows), *given)


def is_rounding_small(
    kernel: Kernel, some, n_points: float, softness: float, least_weight: float, most_weight: float
) -> bool:
    """Tell whether single precision is exact enough if rounding errors of n points add up.

    Rounding changes the matrix, in units of the noise, by about its largest eigenvalue times
    the precision. Its largest row sum is larger, and is estimated from some random points.
    """
    if least_weight < MIN_SINGLE_WEIGHT:
        return False
    unit, _ = unit_matrix(kernel_matrix(kernel, some), np.arange(some.shape[0]))
    largest = n_points * np.abs(unit).mean(axis=1).max() * most_weight / softness
    return bool(largest * np.finfo(np.float32).eps <= MAX_ROUNDING)


def gram_matrix(blocks: UnitBlocks, m: int, thread_map=map) -> np.ndarray:
    """Return the lower triangle of the Gram matrix of unit points; most of the rest is zero."""
    matrix = np.zeros((m, m), dtype=blocks.dtype)
    compute = blocks.against(np.arange(m))

    def fill(start: int) -> None:
        stop = min(start + GRAM_ROWS, m)
        matrix[start:stop, :stop] = compute(np.arange(start, stop), stop)

    # The longest rows first: then no thread has much to do at the end.
    for _ in thread_map(fill, range(0, m, GRAM_ROWS)[::-1]):
        pass
    return matrix
