"""Landmarks on a cluster: features where the points are, and sweeps over all of them."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from .._runtime.progress import Progress
from ..fitting.landmarks_fit import (
    MIN_NEW_SQUARED_LENGTH,
    Landmarks,
    answer_of,
    memory_needed,
    span_of,
)
from ..fitting.task import Answer, Task
from ..fitting.temperature import best_temperature, no_surer
from ..fitting.time_budget import solve_in_turn, warn_unless_converged
from ..geometry.kernels import NOT_FINITE_MESSAGE, Kernel
from ..geometry.problem import off_origin
from ..geometry.row_store import MAX_POINTS_IN_ONE_BLOCK
from ..geometry.unit_kernel import is_product_kernel, lengths_in_blocks
from ..solvers.propagation.on_features import (
    FEATURE_ROWS_PER_BLOCK,
    Approximation,
    Belief,
    Sums,
    add_up,
    prior,
)
from ..solvers.propagation.sites import Sites
from . import feature_portion as tasks
from .calls import await_all, slots, submit
from .feature_portion import Span, Sweep
from .medians import medians_of
from .row_parts import Part, RowParts

if TYPE_CHECKING:
    from distributed import Client, Future


def fit_landmarks_of(
    task: Task, rows: RowParts, n_classes: int, progress: Progress
) -> tuple[Task, Answer, np.ndarray]:
    """Return a task with the landmarks alone, the Bayes points, and the rows of the landmarks.

    `task` has everything but the points, which are distinct and sorted by content.
    """
    rows = points_off_origin(rows, task.kernel)
    chosen = rows.take(rows.sample_each_class(task.solver.n_landmarks, n_classes, task.rng))
    single = rows.n_rows > MAX_POINTS_IN_ONE_BLOCK and all(rows.ask(_is_exact, task.kernel))
    task = task._replace(X=chosen.X)
    landmarks = span_of(task, np.arange(chosen.n_rows), MIN_NEW_SQUARED_LENGTH if single else 0.0)
    portions = _portions(task, rows, landmarks, single, n_classes)
    solves = [partial(_solve, task, portions, i) for i in range(len(task.signs))]
    posteriors = solve_in_turn(task, progress, solves)
    warn_unless_converged([p.info for p in posteriors])
    typical = medians_of(lambda *given: portions.ask(tasks.count_variances, *given), 1)
    answer = answer_of(task.softness, landmarks, posteriors, float(typical[0]))
    if len(task.signs) > 1:
        factor = no_surer(best_temperature(portions.log_likelihood), answer.infos)
        answer = answer._replace(probit_scale=factor * answer.probit_scale)
    return task, answer, chosen.number


def points_off_origin(rows: RowParts, kernel: Kernel) -> RowParts:
    """Return the points that are not at the origin of feature space."""
    n_outside = sum(rows.ask(_count_outside, kernel))
    off_origin(np.arange(rows.n_rows) < n_outside)
    return rows if n_outside == rows.n_rows else rows.change(_outside, kernel)


def _solve(task: Task, portions: Portions, output: int, **options) -> Any:
    portions.begin(output)
    return task.solver.solve_blocks(portions, task.rng, **options)[0]


def _portions(
    task: Task, rows: RowParts, landmarks: Landmarks, single: bool, n_classes: int
) -> Portions:
    """Divide the points among the threads of the cluster, and let workers make features."""
    client = rows.client
    places = slots(client)
    n_portions = max(len(places), len(rows.parts))
    # In single precision, rounding depends on which points are in one block.
    step = FEATURE_ROWS_PER_BLOCK if single else 1
    ends = np.unique(
        np.minimum(
            step * np.ceil(np.arange(1, n_portions + 1) * rows.n_rows / n_portions / step),
            rows.n_rows,
        ).astype(np.int64)
    )
    n_bytes = _bytes_for_features(task, np.diff(ends, prepend=0).max(), len(ends), client)
    n_rows = rows.n_rows
    total = sum(rows.ask(_total_weight)) if task.weight is not None else float(n_rows)
    span = Span(
        task.kernel,
        task.X[landmarks.rows],
        landmarks,
        single,
        task.softness,
        task.weight is not None,
        n_classes,
        n_rows,
        n_bytes,
    )
    return Portions(client, span, rows.regroup(ends), places, total)


def _bytes_for_features(task: Task, n_points: int, n_portions: int, client: Client) -> int:
    """Return the memory for the features of a portion; an error if work needs more than there is.

    Dask can move the sites of portions that no thread works on to disk.
    """
    threads = client.nthreads()
    r, n_outputs = task.solver.n_landmarks, len(task.signs)
    each = memory_needed(n_points, n_outputs, r, 0, 0)
    if (needed := max(threads.values()) * each) > task.cache_size:
        raise ValueError(
            f"Matrices and sites of {n_points} training points for each thread need about "
            f"{int(needed) + 1} MB on a worker, but cache_size, which is for each worker, is "
            f"{task.cache_size:g}. Raise cache_size, or lower n_landmarks of the solver."
        )
    n_here = -(-n_portions // len(threads))  # portions on a worker
    return int(max(task.cache_size / n_here - each, 0.0) * 2**20)


class Portions:
    """Points on workers, as blocks that `iterate` sweeps over.

    Everything that portions were asked to do is remembered, 8 r^2 bytes for each sweep with r
    landmarks. So a portion that is lost with its worker is made again and repeats its sweeps, with
    the same result in every bit.
    """

    def __init__(
        self,
        client: Client,
        span: Span,
        groups: list[list[Future]],
        places: list[str],
        total_weight: float,
    ):
        self.client, self.total_weight = client, total_weight
        self.n_weights, self.single = len(span.landmarks.rows), span.single
        self.addresses = [places[i * len(places) // len(groups)] for i in range(len(groups))]
        self.portions = [
            submit(client, address, tasks.make_portion, span, pieces)
            for address, pieces in zip(self.addresses, groups, strict=True)
        ]
        await_all(self.portions, "mapping")
        self.history: list[Sweep] = []
        self.output = 0

    def begin(self, output: int) -> None:
        """Turn to an output, which is class `output` against the rest."""
        self.output = output

    def first_belief(self) -> Belief:
        """Return the prior of the weights."""
        return prior(self.n_weights)

    def sweep(
        self, belief: Belief, damping: float, break_off: Callable[[], bool] | None = None
    ) -> Sums | None:
        """Match the moments of all points; return sums, or None if there is no time for it."""
        if break_off is not None and break_off():
            return None
        # Workers compute in this precision anyway.
        dtype = np.float32 if self.single else np.float64
        sent = Belief(*(values.astype(dtype, copy=False) for values in belief))
        work = Sweep(self.output, sent, damping)
        sums = self._ask(
            tasks.sweep, work, n_known=len(self.history), history=[*self.history, work]
        )
        self.history.append(work)
        return add_up(sums)

    def approximation(
        self, belief: Belief, log_evidence: float, residual: float, n_iter: int
    ) -> Approximation:
        """Return the posterior; what belongs to single points stays on the workers."""
        nothing = np.empty(0)
        sites, rest = Sites(nothing, nothing), (nothing, nothing, nothing)
        found = belief.mean, belief.root, sites, *rest
        return Approximation(*found, float(log_evidence), residual, n_iter)

    def log_likelihood(self, factor: float) -> float:
        """Return how probable left-out points are, if outputs are multiplied by a factor."""
        return sum(self.ask(tasks.likelihood_at, factor, self.total_weight))

    def ask(self, task, *arguments) -> list[Any]:
        """Run a task on all portions after the latest sweep."""
        return self._ask(task, *arguments, n_known=len(self.history), history=self.history)

    def _ask(self, task, *arguments, n_known: int, history: list[Sweep]) -> list[Any]:
        """Return the answers of all portions; those that were lost repeat their history first."""
        everyone = list(range(len(self.portions)))
        answers = self._run(everyone, task, n_known, *arguments)
        while lost := [i for i in everyone if answers[i] is None]:
            self._run(lost, tasks.forget)
            again: list[Any] = []
            for i, work in enumerate(history):
                again = self._run(lost, tasks.sweep, i, work)
            if len(history) == n_known:  # a question, not a sweep
                again = self._run(lost, task, n_known, *arguments)
            for i, answer in zip(lost, again, strict=True):
                answers[i] = answer
        return answers

    def _run(self, which: list[int], task, *arguments) -> list[Any]:
        """Run a task on some portions, if possible where they were last."""
        with warnings.catch_warnings():
            # A belief about many weights is large, but the same for all portions.
            warnings.filterwarnings("ignore", "Sending large graph")
            futures = [
                submit(self.client, self.addresses[i], task, self.portions[i], *arguments)
                for i in which
            ]
        answers = self.client.gather(futures)
        for i, answer in zip(which, answers, strict=True):
            self.addresses[i] = answer.address
        return [answer.value for answer in answers]


# Tasks


def _is_exact(part: Part, kernel: Kernel) -> bool:
    """Tell whether single precision is exact enough for these points."""
    return not part.n_rows or bool(is_product_kernel(kernel, part.X))


def _outside(part: Part, kernel: Kernel) -> Part:
    return part.take(np.flatnonzero(_lengths(part, kernel)))


def _count_outside(part: Part, kernel: Kernel) -> int:
    return int(np.count_nonzero(_lengths(part, kernel)))


def _lengths(part: Part, kernel: Kernel) -> np.ndarray:
    lengths = lengths_in_blocks(kernel, part.X) if part.n_rows else np.empty(0)
    if not np.isfinite(lengths).all():
        raise ValueError(NOT_FINITE_MESSAGE)
    return lengths


def _total_weight(part: Part) -> float:
    return float(part.likelihood.sum())
