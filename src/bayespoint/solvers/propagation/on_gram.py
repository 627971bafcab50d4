"""Expectation propagation with the whole Gram matrix: all sites at once, or one by one."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .approximation import Approximation, approximate
from .sites import OSCILLATION_DAMPING, Copies, Sites, likelihood, match_moments

# Halve the damping when the residual exceeds this many times the best one.
MAX_RESIDUAL_GROWTH = 10.0
# With less damping than this, stop updating all sites at once.
MIN_DAMPING = 0.05
# Stop updating sites one by one after this many sweeps without a smaller residual.
MAX_SWEEPS_WITHOUT_PROGRESS = 10
# In a sweep, at most this many copies of a row learn one after another.
MAX_VISITS_OF_COPIES = 100


def propagate(
    matrix: np.ndarray,
    signs: np.ndarray,
    label_noise: float = 0.0,
    *,
    copies: Copies | None = None,
    sites: Sites | None = None,
    max_iter: int = 200,
    tol: float = 1e-3,
    damping: float = 0.9,
    watch: Callable[[Approximation], bool] | None = None,
    one_by_one: bool = True,
) -> Approximation:
    """Run expectation propagation on f ~ N(0, matrix) with labels `signs`.

    Parameters
    ----------
    matrix : array of shape (m, m)
        Gram matrix; its diagonal includes the noise of a soft boundary. With weights, a row
        is the mean of its copies: it has one w-th of this noise.
    signs : array of shape (m,)
        Labels, +1 and -1.
    label_noise : float, default=0
        Probability that a label was flipped.
    copies : Copies, default=None
        Weights of the points; by default all are one.
    sites : Sites, default=None
        Where to start, for example the result for similar parameters.
    max_iter, tol, damping :
        As in `EP`.
    watch : callable, default=None
        Called with each iterate; a true return value stops.
    one_by_one : bool, default=True
        Whether to update sites one by one if updating all at once does not converge.

    Returns
    -------
    Approximation
        The iterate with the smallest `residual`, which tells whether it converged.
    """
    stopped = False

    def look(found: Approximation) -> bool:
        nonlocal stopped
        stopped = watch is not None and watch(found)
        return stopped

    limit = (max_iter, tol, damping, look, copies)
    found = first_guess(matrix, signs, label_noise, sites, copies)
    found = update_all(matrix, signs, label_noise, found, *limit)
    if one_by_one and not stopped:
        found = update_one_by_one(matrix, signs, label_noise, found, *limit)
    return found


def first_guess(matrix, signs, noise, sites: Sites | None, copies=None) -> Approximation:
    """Return the posterior from the given sites, or from sites of each point on its own."""
    variance = np.diagonal(matrix)
    variance = variance if copies is None else copies.prior_variance(variance)
    alone = match_moments(*likelihood(signs, np.zeros(len(signs)), variance, noise))
    nothing = Sites(np.zeros(len(signs)), np.zeros(len(signs)))
    for tried in (sites, alone, nothing):
        found = None if tried is None else approximate(matrix, signs, noise, tried, 1, copies)
        if found is not None:
            return found
    raise AssertionError("without sites the posterior is the prior")


def update_all(
    matrix, signs, noise, found, max_iter, tol, damping, watch, copies=None
) -> Approximation:
    """Update all sites at once; when that gets no closer, go back and take smaller steps."""
    best, n_iter = found, 1
    while best.residual > tol and n_iter < max_iter and damping > MIN_DAMPING:
        if watch(best._replace(n_iter=n_iter)):
            break
        target = match_moments(*likelihood(signs, found.cavity_mean, found.cavity_variance, noise))
        moved = approximate(
            matrix, signs, noise, found.sites.moved(target, damping), n_iter, copies
        )
        n_iter += 1
        if moved is None or moved.residual > MAX_RESIDUAL_GROWTH * best.residual:
            found, damping = best, damping / 2
            continue
        if moved.residual > found.residual:  # it oscillates
            damping *= OSCILLATION_DAMPING
        found = moved
        if found.residual < best.residual:
            best = found
    return best._replace(n_iter=n_iter)


def update_one_by_one(
    matrix, signs, noise, best, max_iter, tol, damping, watch, copies=None
) -> Approximation:
    """Update sites one by one, each with its effect on all outputs."""
    sites, n_iter, since = best.sites, best.n_iter, 0
    while best.residual > tol and n_iter < max_iter and since <= MAX_SWEEPS_WITHOUT_PROGRESS:
        if watch(best._replace(n_iter=n_iter)):
            break
        sites = _sweep(matrix, signs, noise, sites, damping, copies)
        n_iter, since = n_iter + 1, since + 1
        found = approximate(matrix, signs, noise, sites, n_iter, copies)
        if found is not None and found.residual < best.residual:
            best, since = found, 0
    return best._replace(n_iter=n_iter)


def _sweep(matrix, signs, noise, sites: Sites, damping: float, copies=None) -> Sites:
    """Visit every site once; the covariance changes by a rank-one update."""
    if copies is None:
        copies = Copies(np.ones(len(signs)), np.zeros(len(signs)))
    precision, shift = copies.of_rows(sites)
    try:
        covariance = np.linalg.solve(np.eye(len(signs)) + matrix * precision, matrix)
    except np.linalg.LinAlgError:
        return sites
    mean = covariance @ shift
    for i in range(len(signs)):
        variance = covariance[i, i]
        left = 1 - precision[i] * variance
        if not (variance > 0 and left > 0):
            continue  # the cavity is not a distribution yet; updates of other sites may mend it
        V = variance / left
        M = mean[i] - V * (shift[i] - precision[i] * mean[i])
        here = slice(i, i + 1)
        one = Copies(copies.weight[here], copies.noise[here])
        site = Sites(precision[here], shift[here])
        change, kick = _visit_copies(signs[here], M, V, noise, site, damping, one)
        column = covariance[:, i].copy()
        mean += column * ((kick - change * mean[i]) / (1 + change * variance))
        covariance -= np.outer(column, column * (change / (1 + change * variance)))
        precision[i] += change
        shift[i] += kick
    return Sites(precision / copies.weight, shift / copies.weight)


def _visit_copies(sign, M, V, noise, site: Sites, damping, one: Copies) -> tuple[float, float]:
    """Return the changes of a row's precision and shift after its copies learned in turn.

    All copies share what one of them learns, so that they keep equal sites. The cavity N(M, V)
    of the row does not change meanwhile.
    """
    w, change, kick = one.weight[0], 0.0, 0.0
    step = damping * min(w, 1.0)
    for _ in range(min(int(np.ceil(w)), MAX_VISITS_OF_COPIES)):
        own = Sites((site.precision + change) / w, (site.shift + kick) / w)
        left, variance = one.cavities(own, np.array([M]), np.array([V]))
        if not variance[0] > 0:
            break
        target = match_moments(*likelihood(sign, left, variance, noise))
        more = step * (target.precision[0] - own.precision[0])
        if not 1 + (site.precision[0] + change + more) * V > 0:
            break  # the posterior would not be a distribution
        change += more
        kick += step * (target.shift[0] - own.shift[0])
    return change, kick
