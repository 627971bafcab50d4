"""Hypotheses drawn from the posterior of a label regression, in blocks that threads share."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
from scipy import linalg

from .._runtime.lapack import factor_upper, solve_upper
from .._runtime.threads import run_all
from .definite_inverse import tiles_of

# Added to the diagonal of the unit Gram matrix to draw from the prior on the span of the points,
# where the matrix itself may be singular.
PRIOR_JITTER = 1e-9


def draw_posterior(
    unit: np.ndarray,
    inverse: np.ndarray,
    noise: np.ndarray,
    codes: np.ndarray,
    each: int,
    rng: np.random.Generator,
    factor: float = 1.0,
    thread_map: Callable = map,
) -> np.ndarray:
    """Return coefficients of hypotheses drawn from the posterior, (n_outputs, each, m).

    A draw from the prior is corrected by the regression of what it gets wrong.

    Parameters
    ----------
    unit, inverse : array of shape (m, m)
        Gram matrix of unit points, and its inverse with noise on the diagonal.
    noise : array of shape (m,)
        Variances of the noise.
    codes : array of shape (m, n_outputs)
        Labels as numbers.
    each : int
        Number of draws of each output.
    rng : numpy.random.Generator
        Source of the draws.
    factor : float, default=1
        What all coefficients are multiplied by.
    thread_map : callable, default=map
        A `map` that may use threads; the result does not depend on it.
    """
    m, n_outputs = codes.shape
    shape = m, n_outputs * each

    def draw_normal() -> tuple[np.ndarray, np.ndarray]:
        return rng.standard_normal(shape), rng.standard_normal(shape)

    # A thread of its own draws numbers while another one factors the matrix.
    steps: tuple[Callable, ...] = (partial(_prior_root, unit), draw_normal)
    to_prior, (of_prior, of_noise) = run_all(thread_map, lambda step: step(), steps)
    deviation, wanted = np.sqrt(noise)[:, None], np.repeat(codes, each, axis=1)
    draws = np.empty((n_outputs * each, m))

    def correct(some: slice) -> None:
        free = to_prior(of_prior[:, some])
        wrong = unit @ free + deviation * of_noise[:, some]
        draws[some] = ((free + inverse @ (wanted[:, some] - wrong)) * factor).T

    run_all(thread_map, correct, tiles_of(n_outputs * each))
    return draws.reshape(n_outputs, each, m)


def _prior_root(unit: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
    """Return a function: from normal numbers to coefficients with outputs of covariance `unit`."""
    upper = unit.T.copy(order="F")
    upper.flat[:: len(unit) + 1] += PRIOR_JITTER
    if factor_upper(upper):
        return lambda normal: solve_upper(upper, normal)
    # Negative eigenvalues, as those of sigmoid, are not part of any prior.
    values, vectors = linalg.eigh(unit)
    used = values > PRIOR_JITTER
    root = vectors[:, used] / np.sqrt(values[used])
    return lambda normal: root @ normal[used]
