"""kernel="auto": a mixture of kernels, chosen by left-out points, where it can be afforded."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse

from ..solvers import EP, Mosaic, Regression
from .mixture_candidates import choose_among_mixtures
from .mixture_search import MAX_MERGED_POINTS
from .mosaic_fit import memory_needed as memory_of_mosaic
from .parameters import Choice
from .sampling import sample_each_class
from .solver_choice import (
    LABEL_REGRESSIONS,
    MAX_EP_POINTS,
    Request,
    choose_solver,
    fits_memory,
    named_solver,
)
from .task import TrainingSet, needs_of

# The kernel where a mixture cannot be afforded.
OTHERWISE = "rbf"
# What a fit prepares for the solvers that a mixture is chosen for.
MIXABLE = ("gram", "regression", "mosaic")
# Label regression is exact up to this many training points, if memory allows.
MAX_EXACT_POINTS = 10_000
# Beyond, a mosaic has as many landmarks and points of a cell as its work allows (training points
# times squared landmarks), but at least and at most so many; fewer if memory is short.
MOSAIC_WORK = 1.5e11
LANDMARKS, CELL_POINTS = (1000, 3000), (1000, 2000)
# Points of a cell for each landmark.
CELL_SHARE = 2 / 3
# Points with many features vary in more directions than landmarks can follow, and neighbors tell
# more: beyond this many features the work grows with them, up to so many times, and cells with
# this power of it (docs/notes/mosaic.md).
FEATURES_OF_WORK, MAX_WORK_RATIO, CELL_GROWTH = 64, 10, 0.4
# If memory is short, sizes shrink by this factor, down to the first of the small ones.
SHRINKING = 0.9
SMALL_MOSAICS = ((1000, 1000), (500, 500))


def can_mix(data: TrainingSet, request: Request) -> bool:
    """Tell whether the kernel is a mixture: for dense points, with a solver that can use it.

    A gamma that the user gave belongs to the other kernel.
    """
    if sparse.issparse(data.X) or request.settings.gamma != "auto":
        return False
    if request.solver == "auto":
        return automatic_solver(data, request) is not None
    return needs_of(named_solver(data, request)) in MIXABLE


def automatic_solver(data: TrainingSet, request: Request) -> EP | Regression | Mosaic | None:
    """Return the solver of a mixture for these data; None if it would take too much."""
    shape = len(data.points), data.X.shape[1]
    n_bytes = None if sparse.issparse(data.X) else data.X.nbytes
    return solver_of_size(shape, len(data.signs), n_bytes, request)


def solver_of_size(
    shape: tuple[int, int], n_outputs: int, n_bytes: int | None, request: Request
) -> EP | Regression | Mosaic | None:
    """Return the solver of a mixture for points of a dense table; None if it takes too much.

    `shape` has the numbers of points and features. `n_bytes` is the size of the table, None if it
    is sparse. A hard boundary or flipped labels need another likelihood than that of label
    regression.
    """
    settings, available = request.settings, request.cache_size
    m = shape[0]
    if settings.softness == 0 or settings.label_noise != 0:
        fits = m <= MAX_EP_POINTS and fits_memory(m, n_outputs, EP(), available)
        return EP() if fits else None
    if m <= MAX_EXACT_POINTS and fits_memory(m, n_outputs, Regression(), available):
        return Regression()
    if m > MAX_EP_POINTS and n_bytes is not None:
        available -= n_bytes / 2**20  # they may be a copy
        for size in mosaic_sizes(*shape):
            if memory_of_mosaic(m, n_outputs, Mosaic(*size), itemsize=8) <= available:
                return Mosaic(*size)
    return None


def is_exact_without_mixture(data: TrainingSet, request: Request) -> bool:
    """Tell whether sparse points, too many for EP, are few enough for an exact regression.

    Word counts lose much in the span of landmarks (docs/notes/mosaic.md).
    """
    return (
        sparse.issparse(data.X)
        and request.solver == "auto"
        and len(data.points) > MAX_EP_POINTS
        and isinstance(automatic_solver(data, request), Regression)
    )


def mosaic_sizes(m: int, n_features: int) -> list[tuple[int, int]]:
    """Return numbers of landmarks and of points of a cell for m training points, best first."""
    ratio = np.clip(n_features / FEATURES_OF_WORK, 1, MAX_WORK_RATIO)
    n_landmarks = np.clip((MOSAIC_WORK * ratio / m) ** 0.5, *LANDMARKS)
    growth = ratio**CELL_GROWTH
    fewest, most = CELL_POINTS[0], CELL_POINTS[1] * growth
    sizes = []
    while n_landmarks > SMALL_MOSAICS[0][0]:
        n_points = np.clip(n_landmarks * CELL_SHARE * growth, fewest, most)
        sizes.append((round(n_landmarks), round(n_points)))
        n_landmarks *= SHRINKING
    return [*sizes, *SMALL_MOSAICS]


def _distinct(data: TrainingSet) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
    """Return points, class numbers and weights to choose a mixture with.

    If equal rows are merged they come once, and in the order of their content. No more points are
    copied than a choice looks at.
    """
    if data.sets is None:
        return data.X, data.target, data.weight
    rows = data.points[sample_each_class(data.target[data.points], MAX_MERGED_POINTS)]
    return data.X[rows], data.target[rows], None if data.weight is None else data.weight[rows]


def choose_with_mixture(
    data: TrainingSet, request: Request, should_stop: Callable[[float], bool]
) -> tuple[TrainingSet, Any, Choice]:
    """Return the training set with its kernel, a solver, and the other parameters.

    Label regression takes the softness that was chosen with the mixture. Other solvers choose
    their own, because noise means something else to them.
    """
    if not can_mix(data, request):
        if is_exact_without_mixture(data, request):
            request = request._replace(solver=Regression())
        return choose_solver(data, request, should_stop)
    settings = request.settings
    intercept = bool(settings.fit_intercept)  # "auto" is true
    given = *_distinct(data), intercept, should_stop, data.groups
    chosen = choose_among_mixtures(*given, data.thread_map, data.shared_unit)
    data = data._replace(kernel_name="mixture", kernel_for=lambda *_: chosen.kernel)
    settings = settings._replace(gamma=1.0, fit_intercept=intercept)
    solver = request.solver
    if solver == "auto":
        solver = automatic_solver(data, request)
    solver = named_solver(data, request._replace(solver=solver))
    if needs_of(solver) not in LABEL_REGRESSIONS:
        request = Request(solver, settings, request.cache_size)
        data, solver, choice = choose_solver(data, request, should_stop)
        return data, solver, choice._replace(kernel=chosen.mixture.describe())
    if settings.label_noise == "auto":
        settings = settings._replace(label_noise=0.0)
    if settings.softness != "auto":
        return data, solver, Choice(settings, {})
    tried = {settings._replace(softness=softness): score for softness, score in chosen.score}
    best = settings._replace(softness=chosen.softness)
    return data, solver, Choice(best, tried, kernel=chosen.mixture.describe())
