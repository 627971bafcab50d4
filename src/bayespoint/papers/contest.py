"""Compare Bayes point and largest margin on the same random splits of a data set."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import ShuffleSplit

from ..classifiers.bayes_point import BayesPointClassifier
from ..geometry.conflicts import NoVersionSpaceError
from ..geometry.gram import unit_gram
from ..geometry.version_space import VersionSpace
from ..solvers.largest_ball import largest_margin
from .experiment import Plan


class Split(NamedTuple):
    """Test errors in percent and seconds of both machines on one split."""

    svm: float
    bpm: float
    svm_seconds: float
    bpm_seconds: float
    svm_early: bool  # stopped before it had converged
    bpm_early: bool


def compare(
    X: np.ndarray,
    y: np.ndarray,
    gamma: float,
    train_size: float | int,
    solver,
    n_splits: int,
    plan: Plan,
) -> list[Split | None]:
    """Compare both machines on random splits, the same for every solver.

    Parameters
    ----------
    X, y : ndarray
        Points, and their labels -1 and +1.
    gamma : float
        Parameter of the rbf kernel.
    train_size : float or int
        Share or number of training points; the others are test points.
    solver : solver object
        Solver of the Bayes point machine.
    n_splits : int
        Number of splits.
    plan : Plan
        Gives the seed and the number of processes.

    Returns
    -------
    list of Split or None
        None for training sets without a version space.
    """
    splits = ShuffleSplit(n_splits, train_size=train_size, random_state=plan.seed).split(X)
    return plan.repeat(
        compare_on_split,
        [
            (X, y, train, test, gamma, solver, plan.seed + i)
            for i, (train, test) in enumerate(splits)
        ],
        "splits",
    )


def compare_on_split(X, y, train, test, gamma: float, solver, seed: int) -> Split | None:
    """Fit both machines; None if the training set has no version space."""
    model = BayesPointClassifier(
        gamma=gamma, fit_intercept=False, softness=0.0, solver=solver, random_state=seed, n_jobs=1
    )
    try:
        _, bpm_seconds, bpm_early = _observe(lambda: model.fit(X[train], y[train]))
    except NoVersionSpaceError:
        return None
    coef, svm_seconds, svm_early = _observe(
        lambda: fit_hard_margin(rbf_kernel(X[train], gamma=gamma), y[train])
    )
    svm = np.where(rbf_kernel(X[test], X[train], gamma=gamma) @ coef > 0, 1, -1)
    svm_error, bpm_error = (
        100 * float(np.mean(p != y[test])) for p in (svm, model.predict(X[test]))
    )
    return Split(svm_error, bpm_error, svm_seconds, bpm_seconds, svm_early, bpm_early)


def fit_hard_margin(kernel_matrix: np.ndarray, y: np.ndarray, softness: float = 0.0) -> np.ndarray:
    """Return the coefficients of the support vector machine without bias.

    Softness times the diagonal of the kernel matrix is added to the diagonal. This is the
    machine that penalizes squared slacks (000, sec. 4.2).

    Notes
    -----
    This is 000's support vector machine, the center of the largest ball in version space
    (sec. 3): no bias, points of unit length. The active set method of `largest_ball` ends in
    finitely many steps; libsvm takes millions where margins are small, and may not converge. A
    `ConvergenceWarning` says that the margin is not proven to be the largest.
    """
    space = VersionSpace(unit_gram(kernel_matrix, softness), np.asarray(y, dtype=float))
    return space.gram.dual(largest_margin(space)) / space.gram.lengths


def _observe(fit: Callable[[], Any]) -> tuple[Any, float, bool]:
    """Return the result of a fit, its seconds, and whether it warned that it stopped early."""
    began = time.perf_counter()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", ConvergenceWarning)
        result = fit()
    seconds = time.perf_counter() - began
    others = [w for w in caught if not issubclass(w.category, ConvergenceWarning)]
    for warning in others:
        warnings.warn(warning.message, stacklevel=3)
    return result, seconds, len(others) < len(caught)
