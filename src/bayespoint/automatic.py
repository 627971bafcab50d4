"""Which solver for many training points: perceptrons, landmarks or cells."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
from scipy import special
from sklearn.metrics.pairwise import euclidean_distances

from .evidence import Choice, Settings, choose
from .fit_landmarks import describe_points
from .gram import soften, unit_matrix
from .kernels import in_double
from .solvers import Cells, Nystroem, Perceptron
from .solvers.ep import propagate
from .solvers.nystroem import propagate as propagate_weights
from .task import Task
from .unit_kernel import lengths_in_blocks

# Up to this share of errors at left-out points of the sample by which parameters are chosen,
# perceptrons learn the rest from more points; beyond, they would learn noise.
FEW_ERRORS = 0.1
# Cells are of use where the kernel says nothing about points far away.
LOCAL_KERNELS = ("rbf", "laplacian")
# Points around so many training points tell what cells would know; as many points from
# everywhere, what landmarks know.
N_NEIGHBORHOODS, N_NEIGHBORS = 4, 400
N_EVERYWHERE = 5000
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
    kernel = kernel_for(choice.best.gamma, choice.best.fit_intercept)
    is_local = kernel.name in LOCAL_KERNELS
    if is_local and not should_stop(0.0) and _cells_know_more(X, signs, kernel, choice.best):
        return Cells(), None
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


def _cells_know_more(X, signs: np.ndarray, kernel, settings: Settings) -> bool:
    """Compare what all neighbors say of a point with what landmarks everywhere say."""
    groups = neighborhoods(X, N_NEIGHBORHOODS, N_NEIGHBORS)
    known = np.concatenate(groups)
    rng = np.random.default_rng(X.shape[0])
    others = np.setdiff1d(rng.permutation(X.shape[0])[: N_EVERYWHERE + len(known)], known)
    of_cells = np.concatenate(
        [_left_out(X[g], signs[:, g], kernel, settings.softness) for g in groups]
    )
    of_landmarks = _predicted(X, signs, kernel, settings.softness, others[:N_EVERYWHERE], known)
    return bool(of_cells.mean() > of_landmarks.mean())


def _left_out(X, signs, kernel, softness: float) -> np.ndarray:
    """Return the logarithms of the probabilities of labels given their neighbors."""
    points = in_double(X)
    matrix = soften(unit_matrix(kernel(points, points))[0], softness)
    np.fill_diagonal(matrix, 1.0)
    quick = partial(propagate, matrix, tol=TOL, max_iter=MAX_ITER, one_by_one=False)
    return np.sum([quick(s).log_loo for s in signs], axis=0)


def _predicted(X, signs, kernel, softness: float, rows, known) -> np.ndarray:
    """Return the same given points from everywhere, in the span of landmarks."""
    both = np.concatenate([rows, known])
    task = Task(
        X=X[both],
        signs=signs[:, both],
        target=np.argmax(signs[:, both], axis=0) if len(signs) > 1 else signs[0, both],
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
    _, features = describe_points(task, np.arange(len(both)), lengths)
    inside = np.einsum("ij,ij->i", features, features, dtype=np.float64)
    noise = softness + np.maximum(1 - inside, 0.0)
    learned, new = features[: len(rows)], features[len(rows) :].astype(np.float64)
    total = np.zeros(len(known))
    for s in task.signs:
        found = propagate_weights(learned, s[: len(rows)], noise[: len(rows)], tol=TOL)
        variance = np.sum((new @ found.root) ** 2, axis=1) + noise[len(rows) :]
        total += special.log_ndtr(s[len(rows) :] * (new @ found.mean) / np.sqrt(variance))
    return total
