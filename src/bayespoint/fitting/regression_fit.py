"""Training by label regression: one factorization of the Gram matrix for all classes."""

from __future__ import annotations

import time

import numpy as np

from .._runtime.progress import Progress
from .._runtime.threads import threads
from ..geometry.gram import unit_matrix
from ..solvers.regression import RegressionPosterior, describe
from .gram_fit import choose_rows, is_solved_in_place
from .landmarks_fit import MIN_NEW_SQUARED_LENGTH, span_of
from .power_link import fit_power_link, known_outcomes
from .sampling import sample_each_class
from .task import Answer, Task
from .training_points import kernel_matrix, point_lengths
from .unit_blocks import UnitBlocks, is_fast

# A hard boundary leaves no noise: then this little is added, so that the matrix can be factored.
MIN_SOFTNESS = 1e-9
# Single precision may change the noise of a point by at most this share of it, by an estimate
# that is too large: at one, outputs still change by less than 1e-3 (docs/notes/mosaic.md).
MAX_ROUNDING = 0.5
# Landmarks in whose span hypotheses are drawn if the Gram matrix is large.
DRAW_LANDMARKS = 500
# Rows of the Gram matrix that a thread computes at once.
GRAM_ROWS = 512


def fit_regression(task: Task, progress: Progress) -> Answer:
    """Return the Bayes points of all outputs, and the link that gives their probabilities."""
    rows = choose_rows(task)
    solve = _solve_large if is_solved_in_place(len(rows), task.solver) else _solve_small
    weight = np.ones(len(rows)) if task.weight is None else task.weight[rows]
    softness = max(task.softness, MIN_SOFTNESS)
    codes = label_codes(task.signs[:, rows])
    with progress.output(0):
        found, lengths, single = solve(task, rows, codes, softness, weight)
    known = known_outcomes(task.target[rows], max(len(task.signs), 2), weight)
    # Points at the origin have length zero, and coefficients that have no effect.
    to_points = 1 / np.where(lengths > 0, lengths, np.inf)
    coef = found.coef * to_points
    return Answer(
        rows=rows,
        coef=coef,
        draws=found.draws * to_points,
        chains=np.stack([coef, coef], axis=1),
        resultant=found.resultant,
        softness=task.softness,
        label_noise=0.0,
        probit_scale=found.length,
        probit_df=np.inf,
        infos=infos_of(found.info, np.abs(found.coef)),
        loo=found.left_out,
        link=fit_power_link(found.left_out, known),
        single=single,
    )


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


def _solve_small(task: Task, rows, codes, softness: float, weight):
    """Solve with copies of the Gram matrix, in double precision."""
    unit, lengths = unit_matrix(kernel_matrix(task.kernel, task.X, rows), rows)
    return task.solver.solve(unit, codes, softness, task.rng, weight), lengths, False


def _solve_large(task: Task, rows, codes, softness: float, weight):
    """Solve in place, in single precision if that is exact enough, and draw in a span."""
    began = time.perf_counter()
    lengths = point_lengths(task)[rows]
    span = span_of(
        task,
        rows[sample_each_class(task.target[rows], DRAW_LANDMARKS, task.rng)],
        MIN_NEW_SQUARED_LENGTH,
    )
    single = rounding_is_small(task, rows, span.rows, softness, weight)
    blocks = UnitBlocks(task.kernel, task.X, rows, np.where(lengths > 0, lengths, np.inf), single)
    with threads(task.n_jobs) as thread_map:
        matrix = _gram_matrix(blocks, len(rows), thread_map)
        solution, units = task.solver.solve_large(matrix, codes, softness, weight, thread_map)
    del matrix
    coef = solution.coef.T / (softness * units.length)
    landmarks = np.searchsorted(rows, span.rows)
    features = blocks.against(landmarks)(np.arange(len(rows))) @ span.to_basis
    precision = np.eye(features.shape[1]) + features.T @ (features * (weight / softness)[:, None])
    root = np.linalg.inv(np.linalg.cholesky(precision))
    each = task.solver.draws_of_each(len(coef))
    draws = np.repeat(coef[:, None], each, axis=1)
    off = draw_off_mean(root, (len(coef), each), task.rng) @ span.to_basis.T
    draws[:, :, landmarks] += off * (units.scale / units.length)
    found = RegressionPosterior(
        coef,
        draws,
        units.resultant,
        solution.outputs,
        units.length,
        describe(units, time.perf_counter() - began) | {"n_factors": 1},
    )
    return found, lengths, single


def draw_off_mean(root: np.ndarray, shape: tuple[int, int], rng) -> np.ndarray:
    """Return normal vectors with the covariance root' root, as the last axis of an array."""
    return rng.standard_normal((*shape, len(root))) @ root


def rounding_is_small(task: Task, rows, some: np.ndarray, softness: float, weight) -> bool:
    """Tell whether single precision is exact enough for a factorization.

    Rounding changes the matrix, in units of the noise, by about its largest eigenvalue times
    the precision. Its largest row sum is larger, and is estimated from some of the points.
    """
    if not is_fast(task.kernel, task.X):
        return False
    unit, _ = unit_matrix(kernel_matrix(task.kernel, task.X, some), some)
    largest = len(rows) * np.abs(unit).mean(axis=1).max() * weight.max() / softness
    return bool(largest * np.finfo(np.float32).eps <= MAX_ROUNDING)


def _gram_matrix(blocks: UnitBlocks, m: int, thread_map) -> np.ndarray:
    """Return the lower triangle of the Gram matrix of unit points; the rest is not set."""
    matrix = np.empty((m, m), dtype=blocks.dtype)
    compute = blocks.against(np.arange(m))

    def fill(start: int) -> None:
        stop = min(start + GRAM_ROWS, m)
        matrix[start:stop, :stop] = compute(np.arange(start, stop), stop)

    # The longest rows first: then no thread has much to do at the end.
    for _ in thread_map(fill, range(0, m, GRAM_ROWS)[::-1]):
        pass
    return matrix
