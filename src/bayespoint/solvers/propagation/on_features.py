"""Expectation propagation on the weights of features, in blocks of points."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from scipy import linalg

from .sites import OSCILLATION_DAMPING, Sites, likelihood

# Rows of features in one matrix product: enough for BLAS, few enough for the cache.
FEATURE_ROWS_PER_BLOCK = 2048
# Share of each update that is applied. The first update, from the prior, is applied in full.
DAMPING = 0.9
# Rounding may change the posterior precision by this share of the prior precision. If it could
# be more, features in single precision are multiplied in double precision.
MAX_PRECISION_ROUNDING = 0.1
# A cavity keeps at least this share of the posterior precision.
MIN_CAVITY_SHARE = 1e-12


class Approximation(NamedTuple):
    """A Gaussian posterior of weights, with the cavity of each point."""

    mean: np.ndarray
    root: np.ndarray  # root @ root.T is the covariance
    sites: Sites
    pressure: np.ndarray  # the contribution of each point to the mean, along the point
    cavity_mean: np.ndarray
    cavity_variance: np.ndarray  # with the noise
    log_evidence: float
    residual: float  # largest mismatch of moments, in standard deviations
    n_iter: int


class Belief(NamedTuple):
    """Product of prior and sites."""

    mean: np.ndarray  # of the weights
    root: np.ndarray  # upper triangular root of their covariance
    shift: np.ndarray

    def log_integral(self) -> float:
        """Return the logarithm of the integral of prior and sites."""
        return float(0.5 * self.shift @ self.mean + np.sum(np.log(np.diagonal(self.root))))


class Sums(NamedTuple):
    """Sums over the points of a block, or of all blocks."""

    precision: Any  # of the weights
    shift: Any
    constants: float  # terms of the log evidence
    residual: float  # the largest, not the sum


def propagate(
    features: np.ndarray,
    signs: np.ndarray,
    noise: np.ndarray,
    label_noise: float = 0.0,
    *,
    weight: np.ndarray | None = None,
    sites: Sites | None = None,
    max_iter: int = 50,
    tol: float = 1e-2,
    thread_map: Callable = map,
    watch: Callable[[Approximation], bool] | None = None,
    break_off: Callable[[], bool] | None = None,
) -> Approximation:
    """Run expectation propagation on f = features @ w + noise, w ~ N(0, I).

    Parameters
    ----------
    features, signs, noise, weight
        As in `Nystroem.solve`.
    label_noise : float, default=0
        Probability that a label was flipped. Sites whose precision would be negative get none.
    sites : Sites, default=None
        Where to start, for example the result for similar parameters.
    max_iter, tol
        As in `Nystroem`.
    thread_map : callable, default=map
        A `map` that may use threads; the result does not depend on them.
    watch : callable, default=None
        Called after each sweep; a true return value stops.
    break_off : callable, default=None
        Called after each block; a true return value breaks off any sweep but the first.

    Returns
    -------
    Approximation
        Its `residual` tells whether it converged.
    """
    blocks = Blocks(features, signs, noise, label_noise, sites, weight, thread_map=thread_map)
    start = None if sites is None else _belief(blocks.collect())
    return iterate(blocks, start, max_iter, tol, watch, break_off)


def iterate(
    blocks,
    start: Belief | None = None,
    max_iter: int = 50,
    tol: float = 1e-2,
    watch: Callable[[Approximation], bool] | None = None,
    break_off: Callable[[], bool] | None = None,
) -> Approximation:
    """Sweep over blocks, here or on a cluster, until moments match; see `propagate`.

    `start` is the product of the prior and the sites of the blocks, by default the prior.
    """
    belief, damping = (blocks.first_belief(), 1.0) if start is None else (start, DAMPING)
    found, before, n_iter = None, np.inf, 0
    while found is None or (before > tol and n_iter < max_iter):
        sums = blocks.sweep(belief, damping, break_off if n_iter else None)
        if sums is None:
            break
        log_evidence = sums.constants + belief.log_integral()
        belief, n_iter = _belief(sums), n_iter + 1
        found = blocks.approximation(belief, log_evidence, sums.residual, n_iter)
        oscillates = sums.residual > before
        damping = DAMPING if n_iter == 1 else damping * (OSCILLATION_DAMPING if oscillates else 1)
        before = sums.residual
        if watch is not None and watch(found):
            break
    assert found is not None  # the first sweep is never broken off
    return found


class Blocks:
    """Sites and cavities of points, updated in blocks.

    If these points are a part of the training points, `n_points` is the number of all.
    """

    def __init__(
        self,
        features,
        signs,
        noise,
        label_noise: float = 0.0,
        sites: Sites | None = None,
        weight=None,
        *,
        n_points: int | None = None,
        thread_map: Callable = map,
    ):
        m, size = len(signs), FEATURE_ROWS_PER_BLOCK
        self.n_points, self.thread_map = m if n_points is None else n_points, thread_map
        self.weight = np.ones(m) if weight is None else weight
        self.features, self.signs, self.noise = features, signs, noise
        self.label_noise = label_noise
        start = Sites(np.zeros(m), np.zeros(m)) if sites is None else sites
        self.precision, self.shift = start.precision.copy(), start.shift.copy()
        self.pressure, self.cavity_mean, self.cavity_variance = np.zeros((3, m))
        self.slices = [slice(i, min(i + size, m)) for i in range(0, m, size)]

    def first_belief(self) -> Belief:
        """Return the prior of the weights."""
        return prior(self.features.shape[1])

    def collect(self) -> Sums:
        """Return precision and shift of the product of the sites."""
        return add_up(Sums(*self._products(here), 0.0, 0.0) for here in self.slices)

    def sweep(
        self, belief: Belief, damping: float, break_off: Callable[[], bool] | None = None
    ) -> Sums | None:
        """Match the moments of all blocks; return their sums, or None if broken off."""
        update = partial(self.update, belief=belief, damping=damping)
        return add_up(self.thread_map(update, self.slices), break_off)

    def update(self, here: slice, belief: Belief, damping: float) -> Sums:
        """Match the moments of a block; return its part of the sums."""
        block = self.features[here]
        variance, output = _outputs(block, belief)
        p, s, w = self.precision[here], self.shift[here], self.weight[here]
        # One copy of a row is left out, all of it if its weight is below one.
        out = np.minimum(w, 1.0)
        V = variance / np.maximum(1 - out * p * variance, MIN_CAVITY_SHARE)
        M = output - V * out * (s - p * output)
        log_z, a, scaled, _, total = likelihood(
            self.signs[here], M, V + self.noise[here], self.label_noise
        )
        b = np.maximum(scaled, 0.0) / total
        # Compare the moments of cavity times site with the moments of cavity times likelihood.
        q = 1 / (1 + p * V)
        mismatch = np.maximum(np.abs(a - q * (s - p * M)) * np.sqrt(V), np.abs(1 - V * b - q))
        exponent = q * (s**2 * V + 2 * s * M - p * M**2) / 2
        constants = np.sum(w * (log_z - 0.5 * np.log(q) - exponent))
        left = np.maximum(1 - V * b, np.finfo(float).eps)
        self.precision[here] += damping * (b / left - p)
        self.shift[here] += damping * ((a + M * b) / left - s)
        self.pressure[here], self.cavity_mean[here], self.cavity_variance[here] = w * a, M, total
        return Sums(*self._products(here), constants, float(mismatch.max(initial=0.0)))

    def _products(self, here: slice) -> tuple[np.ndarray, np.ndarray]:
        """Return the part of a block's sites in the precision and shift of the weights."""
        block, w = self.features[here], self.weight[here]
        p, shift = w * self.precision[here], w * self.shift[here]
        if p.mean() * self.n_points * np.finfo(block.dtype).eps > MAX_PRECISION_ROUNDING:
            block = block.astype(np.float64)
        scaled = block * np.sqrt(p).astype(block.dtype)[:, None]
        return scaled.T @ scaled, shift.astype(block.dtype) @ block

    def approximation(
        self, belief: Belief, log_evidence: float, residual: float, n_iter: int
    ) -> Approximation:
        """Return the posterior, with the sites and cavities of the last sweep."""
        return Approximation(
            belief.mean,
            belief.root,
            Sites(self.precision, self.shift),
            self.pressure,
            self.cavity_mean,
            self.cavity_variance,
            float(log_evidence),
            residual,
            n_iter,
        )


def prior(n_weights: int) -> Belief:
    """Return the belief about weights before any point is known."""
    return Belief(np.zeros(n_weights), np.eye(n_weights), np.zeros(n_weights))


def _outputs(block: np.ndarray, belief: Belief) -> tuple[np.ndarray, np.ndarray]:
    """Return variances and means of the outputs of a block, without noise."""
    trmm = linalg.get_blas_funcs("trmm", (block,))
    # Transposed: BLAS takes this memory order without a copy.
    half = trmm(1.0, belief.root.T.astype(block.dtype), block.T, lower=1)
    variance = np.einsum("ij,ij->j", half, half).astype(np.float64)
    return variance, (block @ belief.mean.astype(block.dtype)).astype(np.float64)


def add_up(parts: Iterable[Sums], break_off: Callable[[], bool] | None = None) -> Any:
    """Add sums in their order; None if the sweep is broken off."""
    precision: Any = 0.0
    shift: Any = 0.0
    constants, residual = 0.0, 0.0
    for part in parts:
        precision = precision + part.precision.astype(np.float64)
        shift = shift + part.shift.astype(np.float64)
        constants += part.constants
        residual = max(residual, part.residual)
        if break_off is not None and break_off():
            return None
    return Sums(precision, shift, constants, residual)


def _belief(sums: Sums) -> Belief:
    """Return the posterior of the weights; the precision is overwritten."""
    sums.precision.flat[:: len(sums.precision) + 1] += 1  # of the prior
    lower = linalg.cholesky(sums.precision, lower=True, overwrite_a=True)
    root = linalg.lapack.dtrtri(lower, lower=1)[0].T
    return Belief(root @ (root.T @ sums.shift), root, sums.shift)
