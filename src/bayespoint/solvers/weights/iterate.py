"""Expectation propagation: sweep over rows until the posterior no longer moves."""

from __future__ import annotations

import numpy as np

from ..._runtime.share_done import advance, share_of_way
from .anderson import MAX_MIXED_CHANGE, Sweep, mix_sweeps
from .belief import Belief, move_size
from .prior_scale import PriorScale
from .rows import Fit, Rows

# Multiply damping by the first factor when updates oscillate, by the second when they do not.
OSCILLATION_DAMPING = 0.8
DAMPING_RECOVERY = 1.1
# Damping stays above this share of its first value.
MIN_DAMPING_SHARE = 0.1
# The logarithm of the prior's factor need not be as exact as weights in standard deviations: its
# correction counts this much in the stopping rule.
CORRECTION_WEIGHT = 0.5


def iterate(
    rows: Rows,
    prior: Belief,
    max_iter: int,
    tol: float,
    *,
    scale: PriorScale | None = None,
    start: Belief | None = None,
) -> Fit:
    """Sweep over rows until the posterior no longer moves.

    Stop after `max_iter` sweeps, when a sweep moves the posterior by less than `tol` (see
    `Belief.distance`), or when `rows.is_over()`; then nobody waits for the evidence, which is NaN.
    `scale` improves the prior between sweeps. The first sweep begins at
    `start`, by default at the prior.
    """
    belief, sites = start or prior, prior.nothing()
    damping, change, n_iter = rows.damping, np.inf, 0
    past: list[Sweep] = []
    largest = done = 0.0  # the largest error so far, and the share of the way from it to tol
    scale = None if scale is None or scale.noise == 0 else scale  # then it does not matter
    correction = 0.0 if scale is None else np.inf
    if scale is not None:
        scale.restart()
    while n_iter < max_iter and _error(change, correction) > tol:
        before = change
        near = start is not None and n_iter == 1  # one sweep from a start ends near the posterior
        if past:
            prior, belief = mix_sweeps(rows, past, prior, scale)
        elif scale is not None and (near or change <= max(tol, abs(correction)) < np.inf):
            scale.step(correction)  # earlier, a sweep could change the correction as much
            prior = scale.prior(prior.is_full)
            belief = prior.times(sites)
            before = np.inf  # a move caused by a new prior is not an oscillation
        share = damping if n_iter else 1.0
        sites = rows.sweep(belief, share)
        last, belief = belief, prior.times(sites)
        move = belief.moved(last) / share
        change = move_size(move)
        if scale is not None:
            correction = scale.correction(belief)
        error = _error(change, correction)
        largest = max(largest, error if np.isfinite(error) else 0.0)
        done = max(done, share_of_way(error, largest, tol) or 0.0)
        advance(done, "fitting")
        if error <= MAX_MIXED_CHANGE and rows.mixable_sweeps:
            log_factor = 0.0 if scale is None else scale.log_factor
            past = [*past, Sweep(sites, log_factor, correction, move)][-rows.mixable_sweeps :]
        else:  # only sweeps with the same damping are mixed
            past = []
            damping = _next_damping(damping, rows.damping, oscillates=change > before)
        n_iter += 1
        if rows.is_over():
            return Fit(belief, prior, np.nan, change, n_iter)
    log_evidence = rows.log_constant(belief) + belief.log_integral() - prior.log_integral()
    return Fit(belief, prior, float(log_evidence), change, n_iter)


def _error(change: float, correction: float) -> float:
    """Return how far a fit is from its end."""
    return max(change, CORRECTION_WEIGHT * abs(correction))


def _next_damping(damping: float, first: float, oscillates: bool) -> float:
    damping *= OSCILLATION_DAMPING if oscillates else DAMPING_RECOVERY
    return np.clip(damping, MIN_DAMPING_SHARE * first, first)
