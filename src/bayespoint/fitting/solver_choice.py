"""Which solver for many training points: perceptrons, landmarks or cells."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
from scipy import special
from sklearn.metrics.pairwise import euclidean_distances

from ..geometry.gram import soften, unit_matrix
from ..geometry.kernels import in_double
from ..geometry.unit_kernel import lengths_in_blocks
from ..solvers import Cells, Nystroem, Perceptron
from ..solvers.propagation.on_features import propagate as propagate_weights
from ..solvers.propagation.on_gram import propagate
from .landmarks_fit import describe_points, noise_of
from .parameters import Choice, Settings, choose
from .task import Task

# Up to this share of errors at left-out points of the sample by which parameters are chosen,
# perceptrons learn the rest from more points; beyond, they would learn noise.
FEW_ERRORS = 0.05
# Cells are of use where the kernel says nothing about points far away.
LOCAL_KERNELS = ("rbf", "laplacian")
# All points around so many training points tell what cells would know; these and points from
# everywhere, what landmarks know. Cells take ten times as long, and have to be worth it: by
# so much in the mean logarithm of the probability of a label (docs/architecture.md).
N_NEIGHBORHOODS, N_NEIGHBORS = 8, 300
N_EVERYWHERE = 5000
WORTH = 0.02
# The same, for the choice of parameters.
N_FOR_CHOICE, N_NEIGHBORS_FOR_CHOICE = 3, 200
# Moments need to match only so well, within so many passes.
TOL = 0.02
MAX_ITER = 40


def solver_for_many(
    X,
    signs: np.ndarray,
    kernel_for: Callable,
    given: Settings,
    should_stop: Callable[[float], bool],
) -> tuple[Cells | Nystroem | Perceptron, Choice | None]:
    """Return a solver, and the settings that were chosen for it on the way, if any.

    First as for perceptrons, so that clean data cost nothing more.

    Parameters
    ----------
    X, signs, kernel_for, given, should_stop
        As in `evidence.choose`.
    """
    material = (X, signs, kernel_for)
    choice = choose(*material, for_solver(given, Perceptron()), should_stop, look_anyway=True)
    if not choice.loo_error > FEW_ERRORS:
        return Perceptron(), choice
    if given.gamma == "auto":
        choice = choose(*material, for_solver(given, Nystroem()), should_stop)
    is_local = kernel_for(choice.best.gamma, choice.best.fit_intercept).name in LOCAL_KERNELS
    if is_local and not should_stop(0.0):
        of_cells = choose(*material, given, should_stop, neighborhoods(X), look_anyway=True)
        if gain_of_cells(*material, of_cells.best, choice.best) > WORTH:
            return Cells(), of_cells
    return Nystroem(), choice


def for_solver(given: Settings, solver) -> Settings:
    """Return what is given without what the solver does not know."""
    if isinstance(solver, Nystroem | Perceptron) and given.label_noise == "auto":
        given = given._replace(label_noise=0.0)
    if isinstance(solver, Perceptron) and given.gamma == "auto":
        # They do best with a larger gamma than the posterior does (docs/architecture.md).
        given = given._replace(gamma="scale")
    return given


def neighborhoods(
    X, number: int = N_FOR_CHOICE, size: int = N_NEIGHBORS_FOR_CHOICE
) -> list[np.ndarray]:
    """Return the neighbors of some training points, the same whatever the user's seed."""
    rng = np.random.default_rng(X.shape[0])
    some = rng.choice(X.shape[0], min(number, X.shape[0]), replace=False)
    far = euclidean_distances(X[some], X)
    return [np.sort(np.argsort(d, kind="stable")[:size]) for d in far]


def gain_of_cells(
    X, signs: np.ndarray, kernel_for: Callable, of_cells: Settings, of_landmarks: Settings
) -> float:
    """Return by how much more neighbors than landmarks know of left-out points, each at its best.

    In the mean logarithm of the probability of a label.
    """
    groups = neighborhoods(X, N_NEIGHBORHOODS, N_NEIGHBORS)
    kernel, far = (kernel_for(s.gamma, s.fit_intercept) for s in (of_cells, of_landmarks))
    near = np.unique(np.concatenate(groups))
    known = _of_landmarks(X, signs, far, of_landmarks.softness, near)
    gains = [_of_neighbors(X[g], signs[:, g], kernel, of_cells) - known[g] for g in groups]
    return float(np.mean(gains))


def _of_neighbors(X, signs, kernel, settings: Settings) -> np.ndarray:
    """Return the logarithms of the probabilities of labels given their neighbors."""
    points = in_double(X)
    matrix = soften(unit_matrix(kernel(points, points))[0], settings.softness)
    quick = partial(propagate, matrix, tol=TOL, max_iter=MAX_ITER, one_by_one=False)
    return np.sum([quick(s, settings.label_noise).log_loo for s in signs], axis=0)


def _of_landmarks(X, signs, kernel, softness: float, near: np.ndarray) -> np.ndarray:
    """Return the same given points from everywhere, too, in the span of landmarks."""
    m = X.shape[0]
    everywhere = np.random.default_rng(m).choice(m, min(N_EVERYWHERE, m), replace=False)
    rows = np.union1d(near, everywhere)
    task = Task(
        X=X[rows],
        signs=signs[:, rows],
        target=np.argmax(signs[:, rows], axis=0) if len(signs) > 1 else signs[0, rows],
        kernel=kernel,
        solver=Nystroem(),
        fallback=None,
        softness=softness,
        may_soften=False,
        label_noise=0.0,
        cache_size=np.inf,
        copied=0,
        max_time=None,
        deadline=np.inf,
        n_jobs=None,
        rng=np.random.default_rng(0),
    )
    lengths = lengths_in_blocks(kernel, task.X)
    _, features = describe_points(task, np.arange(len(rows)), lengths)
    noise = noise_of(features, softness)
    total = np.full(m, np.nan)
    total[rows] = 0.0
    for s in task.signs:
        found = propagate_weights(features, s, noise, tol=TOL)
        total[rows] += special.log_ndtr(s * found.cavity_mean / np.sqrt(found.cavity_variance))
    return total
