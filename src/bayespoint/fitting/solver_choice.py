"""Choose the solver by name, by size or, for many points, by left-out points."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse, special
from sklearn.metrics.pairwise import euclidean_distances

from ..geometry.gram import noise_share, soften, unit_matrix
from ..geometry.kernels import Kernel
from ..geometry.unit_kernel import lengths_in_blocks
from ..solvers import (
    EP,
    Billiard,
    Cells,
    Corners,
    Gibbs,
    Mosaic,
    Nystroem,
    Perceptron,
    Regression,
)
from ..solvers.propagation.on_features import propagate as propagate_weights
from ..solvers.propagation.on_gram import propagate
from ..solvers.propagation.sites import copies_of
from .gram_fit import memory_needed
from .landmarks_fit import describe_points, noise_of
from .mosaic_fit import memory_needed as memory_of_mosaic
from .nearest_error import nearest_error
from .parameter_search import SHORT_RUN_MAX_ITER, SHORT_RUN_TOL, Search
from .parameters import Choice, Settings, choose
from .regression_search import RegressionSearch
from .task import Task, TrainingSet, needs_of
from .training_points import kernel_matrix

SOLVERS = {
    "billiard": Billiard,
    "cells": Cells,
    "corners": Corners,
    "ep": EP,
    "gibbs": Gibbs,
    "mosaic": Mosaic,
    "nystroem": Nystroem,
    "perceptron": Perceptron,
    "regression": Regression,
}
# solver="auto" is "ep" up to this many training points. For more, left-out points decide.
MAX_EP_POINTS = 2000
# Above this leave-one-out error, on the sample that parameters are chosen on, perceptrons would
# learn noise. Below it, they learn the rest from more points.
MAX_PERCEPTRON_ERROR = 0.05
# With many classes, each against the rest has few errors whatever the noise. Then the errors among
# all classes count. Where a sample makes more, nearest neighbors among all points tell whether
# labels are noisy: with a share e of noise they disagree in about 2 e of the cases.
MAX_NEIGHBOR_ERROR = 2 * MAX_PERCEPTRON_ERROR
# Cells need a kernel that says nothing about distant points.
LOCAL_KERNELS = ("rbf", "laplacian")
# Solvers whose parameters are chosen by the left-out points of a label regression.
LABEL_REGRESSIONS = ("regression", "mosaic")
# To compare cells with landmarks, neighborhoods stand for cells. Landmarks get the same points,
# and this many random ones. Cells take ten times as long, so they must gain at least this much
# in the mean log probability of a label (docs/notes/many_points.md).
COMPARED_NEIGHBORHOODS, COMPARED_NEIGHBORS = 8, 300
COMPARED_POINTS = 5000
MIN_GAIN_OF_CELLS = 0.02
# Number and size of the neighborhoods on which the parameters of cells are chosen.
CHOICE_NEIGHBORHOODS, CHOICE_NEIGHBORS = 3, 200


class Request(NamedTuple):
    """What the user asked for."""

    solver: Any  # a name, "auto" or an object
    settings: Settings
    cache_size: float  # megabytes


def choose_solver(
    data: TrainingSet, request: Request, should_stop: Callable[[float], bool]
) -> tuple[TrainingSet, Any, Choice]:
    """Return the data, a solver, and the parameters chosen for it; `should_stop` as in `choose`."""
    solver = named_solver(data, request)
    if solver is None:
        return data, *solver_for_many_points(data, request, should_stop)
    given, groups = request.settings, None
    if needs_of(solver) == "cells" and "auto" in given:
        groups = neighborhoods(data)
    search = RegressionSearch if needs_of(solver) in LABEL_REGRESSIONS else Search
    return data, solver, choose(data, supported(given, solver), should_stop, groups, search=search)


def named_solver(data: TrainingSet, request: Request):
    """Return the solver that the user or the size of the data names, or None."""
    if not isinstance(request.solver, str):
        return request.solver
    if request.solver != "auto":
        return SOLVERS[request.solver]()
    n_outputs, m = len(data.signs), len(data.points)
    if m <= MAX_EP_POINTS:
        return EP() if fits_memory(m, n_outputs, EP(), request.cache_size) else Perceptron()
    # Landmarks and perceptrons do not support label noise; for perceptrons the fit raises an error.
    if request.settings.label_noise not in (0, "auto"):
        return Cells() if data.kernel_name in LOCAL_KERNELS else Perceptron()
    return None


def fits_memory(m: int, n_outputs: int, solver, cache_size: float) -> bool:
    """Tell whether the kernel matrix of m points, its factor and the draws fit."""
    return memory_needed(m, n_outputs, solver) <= cache_size


def solver_for_many_points(
    data: TrainingSet, request: Request, should_stop: Callable[[float], bool]
) -> tuple[Cells | Mosaic | Nystroem | Perceptron, Choice]:
    """Return perceptrons for clean labels, else cells or landmarks or both; and their parameters.

    Perceptrons are judged first, so that clean data need no further search. Where each of many
    classes is easy to tell from the rest, but they are noisy together, 500 landmarks lose too
    much (docs/notes/perceptrons.md).
    """
    given = request.settings
    choice = choose(data, supported(given, Perceptron()), should_stop, score_given=True)
    if not has_noisy_labels(data, choice):
        return Perceptron(), choice
    if choice.loo_error <= MAX_PERCEPTRON_ERROR and can_join_cells(data, request):
        given = supported(given, Mosaic())
        return Mosaic(), choose(data, given, should_stop, search=RegressionSearch)
    if given.gamma == "auto":
        choice = choose(data, supported(given, Nystroem()), should_stop)
    if data.kernel_name in LOCAL_KERNELS and not should_stop(0.0):
        of_cells = choose(data, given, should_stop, neighborhoods(data), score_given=True)
        if gain_of_cells(data, of_cells.best, choice.best) > MIN_GAIN_OF_CELLS:
            return Cells(), of_cells
    return Nystroem(), choice


def has_noisy_labels(data: TrainingSet, choice: Choice) -> bool:
    """Tell whether perceptrons would learn noise; if there was no time to judge, they would not."""
    if choice.loo_error > MAX_PERCEPTRON_ERROR:
        return True
    if not choice.class_error > MAX_PERCEPTRON_ERROR:
        return False
    kernel = data.kernel_for(choice.best.gamma, choice.best.fit_intercept)
    return nearest_error(data, kernel) > MAX_NEIGHBOR_ERROR


def can_join_cells(data: TrainingSet, request: Request) -> bool:
    """Tell whether a mosaic is possible: with a local kernel, a soft boundary and memory for it."""
    needed = memory_of_mosaic(len(data.points), len(data.signs), Mosaic(), itemsize=8)
    return (
        data.kernel_name in LOCAL_KERNELS
        and not sparse.issparse(data.X)
        and request.settings.softness != 0
        and needed + data.X.nbytes / 2**20 <= request.cache_size
    )


def supported(given: Settings, solver) -> Settings:
    """Replace "auto" where a solver does not support the parameter."""
    if not getattr(solver, "supports_label_noise", True) and given.label_noise == "auto":
        given = given._replace(label_noise=0.0)
    if needs_of(solver) == "rows" and given.gamma == "auto":
        # Perceptrons do best with a larger gamma than the posterior (docs/notes/perceptrons.md).
        given = given._replace(gamma="scale")
    return given


def neighborhoods(
    data: TrainingSet, number: int = CHOICE_NEIGHBORHOODS, size: int = CHOICE_NEIGHBORS
) -> list[np.ndarray]:
    """Return the neighbors of a few training points, independent of the user's seed."""
    points = data.points
    rng = np.random.default_rng(len(points))
    centers = points[rng.choice(len(points), min(number, len(points)), replace=False)]
    distances = euclidean_distances(data.X[centers], data.X)[:, points]
    return [points[np.sort(np.argsort(d, kind="stable")[:size])] for d in distances]


def gain_of_cells(data: TrainingSet, of_cells: Settings, of_landmarks: Settings) -> float:
    """Return how much better neighbors predict left-out points than landmarks do.

    The unit is the mean log probability of a label, each with its best parameters.
    """
    groups = neighborhoods(data, COMPARED_NEIGHBORHOODS, COMPARED_NEIGHBORS)
    near, far = (data.kernel_for(s.gamma, s.fit_intercept) for s in (of_cells, of_landmarks))
    compared = np.unique(np.concatenate(groups))
    by_landmarks = _log_loo_of_landmarks(data, far, of_landmarks.softness, compared)
    gains = [_log_loo_of_neighbors(data, g, near, of_cells) - by_landmarks[g] for g in groups]
    weights = None if data.weight is None else [data.weight[g] for g in groups]
    return float(np.average(gains, weights=weights))


def _log_loo_of_neighbors(
    data: TrainingSet, rows: np.ndarray, kernel: Kernel, settings: Settings
) -> np.ndarray:
    """Return the log probability of each label, given the labels of the other rows."""
    unit = unit_matrix(kernel_matrix(kernel, data.X[rows]))[0]
    weight = None if data.weight is None else data.weight[rows]
    quick = partial(
        propagate,
        soften(unit, settings.softness, weight),
        copies=copies_of(weight, noise_share(settings.softness)),
        tol=SHORT_RUN_TOL,
        max_iter=SHORT_RUN_MAX_ITER,
        one_by_one=False,
    )
    return np.sum([quick(s, settings.label_noise).log_loo for s in data.signs[:, rows]], axis=0)


def _log_loo_of_landmarks(
    data: TrainingSet, kernel: Kernel, softness: float, compared: np.ndarray
) -> np.ndarray:
    """Return these log probabilities in the span of landmarks; NaN for unused points."""
    points = data.points
    rng = np.random.default_rng(len(points))
    everywhere = rng.choice(points, min(COMPARED_POINTS, len(points)), replace=False)
    # In the order of content: landmarks are chosen among them.
    rows = points[np.isin(points, np.union1d(compared, everywhere))]
    task = Task(
        X=data.X[rows],
        signs=data.signs[:, rows],
        target=data.target[rows],
        kernel=kernel,
        solver=Nystroem(),
        softness=softness,
        weight=None if data.weight is None else data.weight[rows],
        rng=np.random.default_rng(0),
    )
    lengths = lengths_in_blocks(kernel, task.X)
    _, features = describe_points(task, np.arange(len(rows)), lengths)
    noise = noise_of(features, softness)
    total = np.full(len(data.target), np.nan)
    total[rows] = 0.0
    for s in task.signs:
        found = propagate_weights(features, s, noise, weight=task.weight, tol=SHORT_RUN_TOL)
        total[rows] += special.log_ndtr(s * found.cavity_mean / np.sqrt(found.cavity_variance))
    return total
