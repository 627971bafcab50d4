"""Fit a kernel machine on a Dask cluster: read, sort, choose, solve, store."""

from __future__ import annotations

import time
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from sklearn.utils import Bunch

from .._runtime.interrupt import interrupts
from .._runtime.progress import Progress, say, with_callbacks
from .._runtime.share_done import advance
from .._runtime.threads import one_blas_thread, threads
from ..classifiers._fit_steps import CHOICE_SHARE
from ..classifiers._labels import one_against_rest
from ..classifiers._results import store_answer
from ..classifiers._training_rows import UsedRows
from ..fitting.automatic_kernel import (
    MAX_EXACT_POINTS,
    OTHERWISE,
    can_mix,
    choose_with_mixture,
    solver_of_size,
)
from ..fitting.dispatch import ALL_OUTPUTS_TOGETHER, check_solver
from ..fitting.mixture_search import MAX_MERGED_POINTS
from ..fitting.parameter_search import Search, sample_size
from ..fitting.parameters import Choice, Settings, choose
from ..fitting.regression_search import RegressionSearch
from ..fitting.sampling import new_generator
from ..fitting.solver_choice import LABEL_REGRESSIONS, SOLVERS, Request, supported
from ..fitting.task import Task, TrainingSet, needs_of
from ..fitting.training_points import heed_weights
from ..solvers import Mosaic
from .cells import fit_cells_of, neighborhoods_of
from .landmarks import fit_landmarks_of
from .members import fit_members
from .mosaic import fit_mosaic_of
from .point_statistics import ClusterStatistics
from .row_parts import Part, RowParts
from .sorting import bytes_of, sort_by_content
from .tables import read_partitions

if TYPE_CHECKING:
    from distributed import Client

# What a cluster can prepare for solvers that divide the points, and for all solvers.
FIT_FUNCTIONS = {
    "landmarks": fit_landmarks_of,
    "cells": fit_cells_of,
    "mosaic": fit_mosaic_of,
}
DISTRIBUTED = (*FIT_FUNCTIONS, "rows")


def fit_kernel_machine(model, client: Client, X, y, sample_weight):
    """Fit a Bayes point classifier to data on a cluster."""
    model._check_parameters()
    solver = _solver_of(model)
    if solver is not None and needs_of(solver) == "rows":
        return fit_members(model, client, X, y, sample_weight)
    return _fit_divided(model, solver, client, X, y, sample_weight)


@with_callbacks
def _fit_divided(model, solver, client: Client, X, y, sample_weight):
    """Fit a machine whose workers have different points; `solver` is None for a mosaic."""
    began = time.perf_counter()
    with one_blas_thread(), interrupts() as interrupted:
        rng = new_generator(model.random_state)
        deadline = began + (np.inf if model.max_time is None else model.max_time)
        points = read_partitions(client, model, X, y, sample_weight)
        given_weights, n_bytes = _weight_limits(points), bytes_of(points)
        rows = sort_by_content(points)
        del points  # the sorted rows are enough
        model.kernel_ = OTHERWISE if model.kernel == "auto" else model.kernel
        statistics = ClusterStatistics(rows)
        kernel_for = partial(model._settle_kernel, statistics)
        weights = _Weights(given_weights, _weight_limits(rows))
        signs = np.empty((len(_outputs(model)), 0))
        data = TrainingSet(None, np.empty(0), signs, model.kernel_, kernel_for)
        data = data.of_columns(model.columns_)
        if solver is None:
            solver = _automatic_solver(
                model, rows.n_rows, None if statistics.is_sparse else n_bytes
            )
        data, choice = _choose(model, data, rows, weights, solver, deadline, interrupted)
        task = model._task(data, solver, choice.best, rng, deadline, 0)
        task = weights.heed(task)
        check_solver(task)
        n_steps = 1 if needs_of(solver) in ALL_OUTPUTS_TOGETHER else len(task.signs)
        progress = Progress(model, n_steps, model.verbose)
        solve = FIT_FUNCTIONS[needs_of(solver)]
        task, answer, numbers = solve(task, rows, len(model.classes_), progress)
        progress.end()
        store_answer(model, task, answer, UsedRows(used=numbers))
        model.log_evidence_ = float(model.diagnostics_.log_evidence.sum())
        if "n_iter" in model.diagnostics_:
            model.n_iter_ = int(model.diagnostics_.n_iter.max())
        model._keep_rows(task, None, None, None, None, solver, False)
    return model


def _solver_of(model):
    """Return the solver of the model; raise an error if it does not work on a cluster.

    None is "auto" where it can be a mosaic.
    """
    solver = model.solver
    if isinstance(solver, str) and solver != "auto":
        solver = SOLVERS[solver]()
    if solver == "auto" and model.kernel == "auto" and model.gamma == "auto":
        return None
    if model.kernel == "precomputed" or solver == "auto" or needs_of(solver) not in DISTRIBUTED:
        given = 'kernel="precomputed"' if model.kernel == "precomputed" else f"solver={solver!r}"
        raise ValueError(
            f'On a cluster, {type(model).__name__} works with solver="mosaic", "nystroem", "cells" '
            f'or "perceptron" and a kernel of points, but it has {given}. Pass one of these '
            "solvers, or fit a sample of the rows on one machine with the method fit."
        )
    return solver


def _automatic_solver(model, n_points: int, n_bytes: int | None) -> Mosaic:
    """Return the mosaic that solver="auto" is; raise an error if it is another solver.

    `n_bytes` is the size of the points, None if they are sparse.
    """
    request = Request("auto", _given(model), model.cache_size)
    solver = solver_of_size(n_points, len(_outputs(model)), n_bytes, request)
    if isinstance(solver, Mosaic):
        return solver
    kind = "sparse" if n_bytes is None else "dense"
    raise ValueError(
        f'On a cluster, solver="auto" works with more than {MAX_EXACT_POINTS} distinct dense rows, '
        f"softness > 0, no label noise and enough cache_size, but there are {n_points} {kind} rows,"
        f" softness={model.softness!r}, label_noise={model.label_noise!r} and cache_size="
        f'{model.cache_size:g}. Pass solver="mosaic", "nystroem", "cells" or "perceptron"; or use '
        "the method fit on one machine."
    )


def _given(model) -> Settings:
    """Return the parameters of the user, some of which may be "auto"."""
    gamma = model._given_gamma()
    return Settings(gamma, model.fit_intercept, model.softness, model.label_noise)


def _outputs(model) -> range:
    return range(1 if len(model.classes_) == 2 else len(model.classes_))


class _Limits(NamedTuple):
    """The least and the largest weight, of samples and in the likelihood."""

    of_samples: np.ndarray
    of_likelihood: np.ndarray


class _Weights(NamedTuple):
    """The weights of the user's rows, and of distinct points."""

    of_rows: _Limits
    of_points: _Limits

    @property
    def of_samples(self) -> bool:
        """Tell whether sample weights, or numbers of equal rows, differ from one."""
        return bool(np.any(self.of_points.of_samples != 1))

    def heed(self, task: Task) -> Task:
        """Return the task with weights (their limits) if they count."""
        limits = self.of_points.of_likelihood
        if np.all(limits == 1):
            return task
        differ = bool(np.ptp(self.of_rows.of_likelihood))
        two = np.ones((len(task.signs), 2))
        probe = task._replace(signs=two, weight=limits, weights_differ=differ)
        return task._replace(weight=heed_weights(probe).weight)


def _weight_limits(rows: RowParts) -> _Limits:
    limits = np.array(rows.ask(_limits_of_part))
    return _Limits(*np.stack([limits[:, 0].min(axis=0), limits[:, 1].max(axis=0)], axis=1))


def _choose(
    model, data: TrainingSet, rows: RowParts, weights: _Weights, solver, deadline, interrupted
) -> tuple[TrainingSet, Choice]:
    """Return the data with its kernel, and parameters, given or chosen.

    They are chosen on the points that one machine would look at.
    """
    given = _given(model)
    now = time.perf_counter()
    end = now + (deadline - now) * CHOICE_SHARE

    def should_stop(seconds: float) -> bool:
        return bool(interrupted) or time.perf_counter() + seconds > end

    advance(0.0, "choosing")
    n_classes, chosen = len(model.classes_), "auto" in given
    request = Request(solver, given, model.cache_size)
    if model.kernel == "auto" and can_mix(data._replace(X=rows.take(np.arange(1)).X), request):
        part = rows.take(_sample(rows, MAX_MERGED_POINTS, n_classes))
        some = _with_points(data, part, n_classes, weights)
        with threads(model.n_jobs) as thread_map:
            some = some._replace(thread_map=thread_map)
            some, _, choice = choose_with_mixture(some, request, should_stop)
        data = data._replace(kernel_name=some.kernel_name, kernel_for=some.kernel_for)
    else:
        some, groups = data, None
        if chosen:
            chosen_on = _judged_points(rows, n_classes, solver)
            part = rows.take(np.concatenate(chosen_on))
            some = _with_points(data, part, n_classes, weights)
            ends = np.cumsum([len(group) for group in chosen_on])
            groups = np.split(np.arange(part.n_rows), ends[:-1])
        search = RegressionSearch if needs_of(solver) in LABEL_REGRESSIONS else Search
        choice = choose(some, supported(given, solver), should_stop, groups, search=search)
    model.candidates_ = Bunch(**(choice if chosen else Choice(choice.best, {})).columns())
    if model.verbose and model.solver == "auto":
        say(f"solver {solver}")
    if model.verbose and chosen and choice.score:
        say(f"{choice}")
    return data, choice


def _judged_points(rows: RowParts, n_classes: int, solver) -> list[np.ndarray]:
    """Return the positions of the points on which candidates are judged, in groups."""
    if needs_of(solver) == "cells":
        return neighborhoods_of(rows)
    return [_sample(rows, sample_size(1 if n_classes == 2 else n_classes), n_classes)]


def _sample(rows: RowParts, n: int, n_classes: int) -> np.ndarray:
    """Return positions that, as on one machine, depend only on the number of points."""
    return rows.sample_each_class(n, n_classes, np.random.default_rng(rows.n_rows))


def _with_points(data: TrainingSet, part: Part, n_classes: int, weights: _Weights) -> TrainingSet:
    """Return a training set with some points."""
    return data._replace(
        X=part.X,
        target=part.target,
        signs=one_against_rest(part.target, n_classes),
        weight=part.weight if weights.of_samples else None,
    )


# Tasks


def _limits_of_part(part: Part) -> np.ndarray:
    """Return the least and the largest weight, of samples and in the likelihood."""
    both = np.stack([part.weight, part.likelihood])
    return np.stack([both.min(axis=1, initial=np.inf), both.max(axis=1, initial=0.0)])
