"""What a classifier asks for, and what it gets."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..geometry.kernels import Kernel


class Task(NamedTuple):
    """A training set with everything that is settled about it."""

    X: Any  # the training points; the kernel matrix for a precomputed kernel
    signs: np.ndarray  # (n_outputs, n_samples), +1 and -1
    target: np.ndarray  # (n_samples,), the class of each point by number
    kernel: Kernel
    solver: Any
    fallback: Any  # the solver to take where that one does not get close, or None
    softness: float
    may_soften: bool  # whether softness may become more if it has to
    label_noise: float
    cache_size: float  # megabytes
    copied: int  # bytes of X that are a copy of what the user gave
    max_time: float | None
    deadline: float  # of time.perf_counter()
    n_jobs: int | None
    rng: np.random.Generator

    @property
    def n_samples(self) -> int:
        """Return the number of training points."""
        return self.signs.shape[1]


class Answer(NamedTuple):
    """Hypotheses as coefficients on training points, an entry an output."""

    rows: np.ndarray  # the training points that were used
    coef: np.ndarray  # (n_outputs, n_carriers), of the mean of unit hypotheses
    draws: np.ndarray  # (n_outputs, n_draws, n_carriers), of single ones
    chains: np.ndarray  # (n_outputs, n_chains, n_carriers), of means of independent parts
    resultant: np.ndarray  # (n_outputs,), length of the mean
    softness: float
    label_noise: float
    probit_scale: float
    probit_df: float
    infos: list[dict[str, Any]]
    draw_chains: int = 1  # the draws are of so many chains, one after the other
    loo: np.ndarray | None = None  # (n_rows, n_outputs), standardized outputs of left-out points
    carriers: np.ndarray | None = None  # the points that coefficients are for, if not all rows
    centers: np.ndarray | None = None  # of cells, where the kernel is zero between them
    single: bool = False  # whether kernel values in single precision will do
    state: dict[str, Any] | None = None  # from which to go on
