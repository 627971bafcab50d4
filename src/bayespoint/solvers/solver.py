"""The base classes of solvers: what a solver needs, and how it is called."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
from sklearn.base import BaseEstimator

from .._runtime.old_pickles import OldPickles
from .._runtime.threads import one_blas_thread
from ..geometry.version_space import VersionSpace
from .posterior import Posterior

# Called after each round with the `info` so far; a true return value stops the solver.
OnRound: TypeAlias = Callable[[dict[str, Any]], bool | None]


class Solver(OldPickles, BaseEstimator):
    """Declare what a solver needs; parameters are checked when it is used.

    A fit reads these class attributes to prepare the data and to predict time and memory. An
    object that only has a `solve` method gets version spaces, with label noise if the user asks
    for it, and the defaults of the other attributes.

    Attributes
    ----------
    needs : {"gram", "regression", "rows", "landmarks", "cells", "mosaic"}, default="gram"
        What the solver works on: version spaces with their whole Gram matrix, this matrix
        with the labels of all classes as numbers, rows of the Gram matrix one by one, features
        from landmarks, the points of one cell, or cells with features from landmarks.
    supports_label_noise : bool, default=False
        Whether the solver samples the posterior with label noise.
    supports_weights : bool, default=False
        Whether weights of training points, other than one, change the answer.
    grows : bool, default=False
        Whether rows can be added to an answer and removed from it (`fitting/growing_fit.py`).
    outputs_in_threads : bool, default=False
        Whether threads should share the outputs, because a single one does not use them.
    n_factors : int, default=0
        Factorizations of an m x m matrix in a typical run, for the estimate of time.
    n_matrices : int, default=4
        Matrices of size m x m in memory at the same time, for the estimate of memory.
    """

    needs: str = "gram"
    supports_label_noise: bool = False
    supports_weights: bool = False
    grows: bool = False
    outputs_in_threads: bool = False
    n_factors: int = 0
    n_matrices: int = 4
    _parameter_constraints: dict[str, list] = {}


class GramSolver(Solver):
    """Solve problems that are given by their whole Gram matrix.

    A subclass implements `_solve(space, rng, start, n_jobs, deadline, on_round)`.
    """

    def solve(
        self,
        space: VersionSpace,
        rng: np.random.Generator,
        *,
        start: np.ndarray | None = None,
        n_jobs: int | None = None,
        deadline: float = np.inf,
        on_round: OnRound | None = None,
    ) -> Posterior:
        """Sample or approximate the posterior of a version space.

        Parameters
        ----------
        space : VersionSpace
            The problem: unit constraints, labels and label noise.
        rng : numpy.random.Generator
            Source of randomness. The answer does not depend on `n_jobs`.
        start : array of shape (rank,), default=None
            A hypothesis, in version space if there is no label noise. Samplers start there,
            and without it choose their own start; other solvers ignore it.
        n_jobs : int, default=None
            Number of threads for chains; solvers without chains ignore it.
        deadline : float, default=inf
            Value of `time.perf_counter()` at which to return the answer so far.
        on_round : callable, default=None
            Called after each round with the `info` so far; a true return value stops the
            solver.

        Returns
        -------
        Posterior
            Its `info` holds `stop` (why the solver stopped), `seconds`, and the entries that
            the class docstring of the solver lists.
        """
        self._validate_params()
        began = time.perf_counter()
        with one_blas_thread():
            posterior = self._solve(space, rng, start, n_jobs, deadline, on_round)
        posterior.info["seconds"] = time.perf_counter() - began
        return posterior

    def _solve(
        self,
        space: VersionSpace,
        rng: np.random.Generator,
        start: np.ndarray | None,
        n_jobs: int | None,
        deadline: float,
        on_round: OnRound | None,
    ) -> Posterior:
        raise NotImplementedError
