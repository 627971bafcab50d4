"""The data that a fit passes down to a solver, and the answer that comes back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ..geometry.columns import Columns
from ..geometry.equal_rows import EqualRows
from ..geometry.kernels import Kernel
from .power_link import PowerLink
from .shared_unit import shared_unit_scales


class TrainingSet(NamedTuple):
    """Training points and labels, before kernel parameters are chosen."""

    X: Any  # the training points; the kernel matrix for a precomputed kernel
    target: np.ndarray  # (n_samples,), the class number of each point
    signs: np.ndarray  # (n_outputs, n_samples), labels +1 and -1
    kernel_name: str | Callable
    kernel_for: Callable[[float | str, bool], Kernel]  # from gamma and fit_intercept
    weight: np.ndarray | None = None  # (n_samples,), positive; None if all are one
    groups: np.ndarray | None = None  # (n_features,), the column of each feature
    shared_unit: np.ndarray | None = None  # (n_features,), scales if columns may share a unit
    sets: EqualRows | None = None  # equal rows, if each set of them is trained as one point
    thread_map: Callable = map  # for the choice of parameters, which does not depend on it

    @property
    def points(self) -> np.ndarray:
        """Return the rows to train with: all, or the first row of each set of equal rows."""
        return points_of(self.sets, len(self.target))

    def of_columns(self, columns: Columns) -> TrainingSet:
        """Return the set with what is known of the columns that its features come from."""
        return self._replace(groups=columns.groups, shared_unit=shared_unit_scales(columns))


def points_of(sets: EqualRows | None, n_samples: int) -> np.ndarray:
    """Return the first row of each set, in an order that depends on the rows alone."""
    return np.arange(n_samples) if sets is None else sets.first


def needs_of(solver) -> str:
    """Return what a fit prepares for a solver: "gram", "regression", "rows", "landmarks",
    "cells" or "mosaic".

    A user's solver without `needs` gets the Gram matrix.
    """
    return getattr(solver, "needs", "gram")


class Task(NamedTuple):
    """A training set with a kernel, a solver and limits: nothing is left to choose."""

    X: Any  # the training points; the kernel matrix for a precomputed kernel
    signs: np.ndarray  # (n_outputs, n_samples), labels +1 and -1
    target: np.ndarray  # (n_samples,), the class number of each point
    kernel: Kernel
    solver: Any
    softness: float
    rng: np.random.Generator
    label_noise: float = 0.0
    weight: np.ndarray | None = None  # (n_samples,), positive; None if all are one
    sets: EqualRows | None = None  # equal rows, if each set of them is trained as one point
    weights_differ: bool = False  # whether the user gave weights that differ
    fallback: Any = None  # the solver to use if the first one does not converge
    may_soften: bool = False  # whether an indefinite kernel may raise the softness
    cache_size: float = np.inf  # megabytes
    copied: int = 0  # bytes of X that are a copy of the user's data
    max_time: float | None = None  # seconds that the user allowed; None uses all points
    deadline: float = np.inf  # a value of time.perf_counter()
    n_jobs: int | None = None
    previous: dict[str, Any] | None = None  # the state of an earlier fit, to continue from
    keep_state: bool = False  # whether to return a state to continue from
    may_draw_later: bool = False  # whether the same task can be solved again for its draws
    elsewhere: Any = None  # lets members learn on a cluster; see `distributed.members`

    @property
    def n_samples(self) -> int:
        """Return the number of training points."""
        return self.signs.shape[1]

    @property
    def points(self) -> np.ndarray:
        """Return the rows to train with: all, or the first row of each set of equal rows."""
        return points_of(self.sets, self.n_samples)


class LandmarkPart(NamedTuple):
    """The part of hypotheses that landmarks express, where cells have the rest.

    Draws and chains of the answer are then coefficients on the landmarks, and differences from
    the mean hypothesis.
    """

    rows: np.ndarray  # the landmarks, as training points
    coef: np.ndarray  # (n_cells, n_outputs, n_landmarks), of the mean hypothesis in each cell


class Answer(NamedTuple):
    """Hypotheses as coefficients on training points, one entry for each output."""

    rows: np.ndarray  # the training points that were used
    coef: np.ndarray  # (n_outputs, n_carriers), mean of the unit hypotheses
    draws: np.ndarray | None  # (n_outputs, n_draws, n_carriers); None if they are drawn later
    chains: np.ndarray  # (n_outputs, n_chains, n_carriers), means of independent chains
    resultant: np.ndarray  # (n_outputs,), length of the mean
    softness: float
    label_noise: float
    probit_scale: float
    probit_df: float
    infos: list[dict[str, Any]]
    draw_chains: int = 1  # the draws come from this many chains, one chain after another
    loo: np.ndarray | None = None  # (n_rows, n_outputs), standardized outputs of left-out points
    carriers: np.ndarray | None = None  # the points that have coefficients, if not all rows
    centers: np.ndarray | None = None  # of cells; the kernel is zero between cells
    link: PowerLink | None = None  # gives probabilities, if outputs are predicted codes
    landmarks: LandmarkPart | None = None  # joins cells, if hypotheses have a global part
    single: bool = False  # whether kernel values in single precision are exact enough
    state: dict[str, Any] | None = None  # to continue from
