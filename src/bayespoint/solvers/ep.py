"""Expectation propagation: the posterior as a Gaussian, without sampling."""

from __future__ import annotations

import time
from collections.abc import Callable
from numbers import Integral, Real
from typing import Any, NamedTuple

import numpy as np
from scipy import linalg, special
from sklearn.base import BaseEstimator
from sklearn.utils._param_validation import Interval

from .._runtime.interrupt import interrupts
from .._runtime.threads import one_blas_thread
from ..geometry.version_space import VersionSpace
from .posterior import Posterior, mean_length

# Below this precision of a site, 1 - q has lost the digits that (1 - q) / precision needs.
TINY_PRECISION = 1e-8
# Parallel updates may swing about the fixed point: when one leads away from it, damping
# is multiplied by CALMING, and halved when it leads so many times as far as the best did,
# or to what is no distribution. Below the least damping, sites are updated one by one, as
# long as that comes closer within so many passes.
CALMING = 0.8
RUNAWAY = 10.0
LEAST_DAMPING = 0.05
PATIENCE = 10
# An inverse with larger errors than this is none.
LARGEST_ERROR = 1e-6
# Up to this mismatch of moments the answer is close to that of the fixed point. Far from it
# what is called evidence can be any number.
CLOSE = 0.1
_LOG_SQRT_2PI = 0.5 * np.log(2 * np.pi)


class Sites(NamedTuple):
    """One Gaussian factor exp(shift f - precision f^2 / 2) for each training point."""

    precision: np.ndarray
    shift: np.ndarray


class Approximation(NamedTuple):
    """A Gaussian posterior of the outputs f at the training points, f ~ N(0, K) a priori.

    Its mean is K @ coef. The cavities are what all other points say of a point.
    """

    sites: Sites
    coef: np.ndarray
    cavity_mean: np.ndarray
    cavity_variance: np.ndarray
    log_loo: np.ndarray  # log p(y_i | all other labels)
    log_evidence: float  # log p(y)
    residual: float  # largest mismatch of moments, in standard deviations
    n_iter: int


class EP(BaseEstimator):
    """Approximate the posterior by a Gaussian with expectation propagation.

    Deterministic and fast. With w ~ N(0, I) the mean of the posterior points at the Bayes
    point, and each training point contributes a factor to it: a step, or a step that is
    wrong with the probability `label_noise`; softness is in the Gram matrix. Each factor
    is replaced by the Gaussian with the same effect on the moments of its own output
    (Minka 2001).

    Parameters
    ----------
    max_iter : int, default=200
        Upper limit on the passes over all training points, O(m^3) each.
    tol : float, default=1e-3
        Stop when the moments of every output are matched to this, in standard deviations.
    damping : float, default=0.9
        Share of each update that is made at first; it becomes less where that does not
        converge.
    n_draws : int, default=256
        Number of hypotheses drawn from the Gaussian, for votes.

    Notes
    -----
    For cavity N(M, V) and label y, with Z = eta + (1 - 2 eta) Phi(y M / sqrt(V)),
    a = d log Z / dM and b = -d^2 log Z / dM^2, the site that matches the moments has
    precision b / (1 - V b) and shift (a + M b) / (1 - V b). All sites are updated at once
    from one Cholesky factor; if this does not converge, one after the other.

    With q_i the diagonal of (I + K S)^-1, S the precisions of the sites, the variance of
    output i is (1 - q_i) / S_i and that of its cavity (1 - q_i) / (S_i q_i): no difference of
    inverses is taken. At the fixed point a are the coefficients of the mean.

    References
    ----------
    Herbrich, Graepel, Campbell (2001), Bayes Point Machines, JMLR 1, sec. 3.
    Minka (2001), A family of algorithms for approximate Bayesian inference, MIT.
    """

    needs = "gram"  # what a fit prepares for it
    supports_label_noise = True
    n_factors = 10  # of matrices, in a typical run: the work
    _parameter_constraints = {
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
        "damping": [Interval(Real, LEAST_DAMPING, 1, closed="right")],
        "n_draws": [Interval(Integral, 2, None, closed="left")],
    }

    def __init__(self, *, max_iter=200, tol=1e-3, damping=0.9, n_draws=256):
        self.max_iter = max_iter
        self.tol = tol
        self.damping = damping
        self.n_draws = n_draws

    def solve(
        self,
        space: VersionSpace,
        rng: np.random.Generator,
        *,
        start: np.ndarray | None = None,
        n_jobs: int | None = None,
        deadline: float = np.inf,
        on_round: Callable[[dict[str, Any]], bool] | None = None,
    ) -> Posterior:
        """Approximate the posterior of a version space.

        Parameters
        ----------
        space : VersionSpace
            What to approximate.
        rng : numpy.random.Generator
            Source of the draws.
        start : array, default=None
            Not used: nothing has to be entered.
        n_jobs : int, default=None
            Not used.
        deadline : float, default=inf
            Value of `time.perf_counter()` at which to return the answer so far.
        on_round : callable, default=None
            Called after each pass with a dict of what is known; a true answer stops.

        Returns
        -------
        Posterior
            Its `info` holds `n_iter`, `residual`, `log_evidence`, `loo_mean` and
            `loo_variance` (of the output at each training point, if it were left out),
            `hits` (coefficients of the mean: how hard each wall presses), `stop` and
            `seconds`.
        """
        self._validate_params()
        began = time.perf_counter()
        state = {"stop": ""}

        def watch(found: Approximation) -> bool:
            if interrupted:
                state["stop"] = "interrupted"
            elif time.perf_counter() > deadline:
                state["stop"] = "max_time"
            if on_round is not None and on_round(info_of(found, state["stop"])):
                state["stop"] = state["stop"] or "callback"
            return bool(state["stop"])

        with one_blas_thread(), interrupts() as interrupted:
            # A point at the origin, whose output is zero, tells nothing: as if it were noise.
            alone = np.diagonal(space.gram.matrix) == 0
            matrix = space.gram.matrix + np.diag(alone) if alone.any() else space.gram.matrix
            found = propagate(
                matrix,
                space.signs,
                space.label_noise,
                max_iter=self.max_iter,
                tol=self.tol,
                damping=self.damping,
                watch=watch,
            )
            draws = _draws(space, found, self.n_draws, rng)
        stop = state["stop"] or ("max_iter" if found.n_iter >= self.max_iter else "stalled")
        stop = "tol" if found.residual <= self.tol else stop
        coef = found.coef * space.signs / mean_length(space.gram.rank)
        # The mean of unit vectors is not longer than one, but its approximation may be.
        coef /= max(1.0, float(np.linalg.norm(space.combine(coef))))
        info = info_of(found, stop) | {
            "hits": np.abs(found.coef),
            "loo_mean": found.cavity_mean,
            "loo_variance": found.cavity_variance,
            "seconds": time.perf_counter() - began,
        }
        return Posterior(coef, draws, np.stack([coef, coef]), info)


def propagate(
    matrix: np.ndarray,
    signs: np.ndarray,
    label_noise: float = 0.0,
    *,
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
        Gram matrix; its diagonal includes the noise of a soft boundary.
    signs : array of shape (m,)
        Labels, +1 and -1.
    label_noise : float, default=0
        Probability that a label was flipped.
    sites : Sites, default=None
        Where to start, for example the result for similar parameters.
    max_iter, tol, damping :
        As in `EP`.
    watch : callable, default=None
        Called with each iterate; a true answer stops.
    one_by_one : bool, default=True
        Whether to update one site after the other where all at once does not converge.

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

    limit = (max_iter, tol, damping, look)
    found = _in_parallel(matrix, signs, label_noise, sites, *limit)
    if one_by_one and not stopped:
        found = _one_by_one(matrix, signs, label_noise, found, *limit)
    return found


def predict(
    matrix: np.ndarray, found: Approximation, across: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return mean and variance of the outputs at new points.

    Parameters
    ----------
    matrix : array of shape (m, m)
        The Gram matrix of `propagate`.
    found : Approximation
        Its answer.
    across : array of shape (n, m)
        Inner products of new points, of unit length, with the training points: of softened
        points, whose noise then is part of the variance.

    Returns
    -------
    mean, variance : ndarray of shape (n,)
        Phi(mean / sqrt(variance)) is the probability of a positive output.
    """
    precision = found.sites.precision
    known = np.linalg.solve(np.eye(len(matrix)) + matrix * precision, across.T)
    return across @ found.coef, 1 - np.einsum("ij,j,ji->i", across, precision, known)


def _in_parallel(matrix, signs, noise, sites, max_iter, tol, damping, watch) -> Approximation:
    """Update all sites at once; where that gets no closer, go back and take smaller steps."""
    found = _start(matrix, signs, noise, sites)
    best, n_iter = found, 1
    while best.residual > tol and n_iter < max_iter and damping > LEAST_DAMPING:
        if watch(best._replace(n_iter=n_iter)):
            break
        target = _matched(*likelihood(signs, found.cavity_mean, found.cavity_variance, noise))
        moved = _assess(matrix, signs, noise, _moved(found.sites, target, damping), n_iter)
        n_iter += 1
        if moved is None or moved.residual > RUNAWAY * best.residual:
            found, damping = best, damping / 2
            continue
        if moved.residual > found.residual:  # it swings
            damping *= CALMING
        found = moved
        if found.residual < best.residual:
            best = found
    return best._replace(n_iter=n_iter)


def _start(matrix, signs, noise, sites: Sites | None) -> Approximation:
    """Return the posterior from given sites, or from what single points say."""
    alone = _matched(*likelihood(signs, np.zeros(len(signs)), np.diagonal(matrix), noise))
    nothing = Sites(np.zeros(len(signs)), np.zeros(len(signs)))
    for tried in (sites, alone, nothing):
        found = None if tried is None else _assess(matrix, signs, noise, tried, 1)
        if found is not None:
            return found
    raise AssertionError("without sites the posterior is the prior")


def _one_by_one(matrix, signs, noise, best, max_iter, tol, damping, watch) -> Approximation:
    """Update one site after the other, each with its effect on all outputs."""
    sites, n_iter, since = best.sites, best.n_iter, 0
    while best.residual > tol and n_iter < max_iter and since <= PATIENCE:
        if watch(best._replace(n_iter=n_iter)):
            break
        sites = _sweep(matrix, signs, noise, sites, damping)
        n_iter, since = n_iter + 1, since + 1
        found = _assess(matrix, signs, noise, sites, n_iter)
        if found is not None and found.residual < best.residual:
            best, since = found, 0
    return best._replace(n_iter=n_iter)


def _moved(old: Sites, new: Sites, share: float) -> Sites:
    """Move sites a share of the way."""
    return Sites(*(a + share * (b - a) for a, b in zip(old, new, strict=True)))


def _sweep(matrix, signs, noise, sites: Sites, damping: float) -> Sites:
    """Visit every site once; the covariance changes by a rank-one update."""
    precision, shift = (np.array(part) for part in sites)
    try:
        covariance = np.linalg.solve(np.eye(len(signs)) + matrix * precision, matrix)
    except np.linalg.LinAlgError:
        return sites
    mean = covariance @ shift
    for i, y in enumerate(signs):
        variance = covariance[i, i]
        left = 1 - precision[i] * variance
        if not (variance > 0 and left > 0):
            continue  # a cavity that is no distribution waits for its neighbors
        V = variance / left
        M = mean[i] - V * (shift[i] - precision[i] * mean[i])
        target = _matched(*likelihood(np.array([y]), np.array([M]), np.array([V]), noise))
        change = damping * (target.precision[0] - precision[i])
        if not 1 + change * variance > 0:
            continue
        kick = damping * (target.shift[0] - shift[i])
        column = covariance[:, i].copy()
        mean += column * ((kick - change * mean[i]) / (1 + change * variance))
        covariance -= np.outer(column, column * (change / (1 + change * variance)))
        precision[i] += change
        shift[i] += kick
    return Sites(precision, shift)


def likelihood(signs, mean, variance, noise):
    """Return log Z of cavities, a = d log Z / dM, V b = -V d^2 log Z / dM^2, and the cavity."""
    deviation = np.sqrt(variance)
    z = signs * mean / deviation
    log_step = special.log_ndtr(z)
    if noise:
        log_z = np.log(noise + (1 - 2 * noise) * np.exp(log_step))
        slope = (1 - 2 * noise) * np.exp(-0.5 * z * z - _LOG_SQRT_2PI - log_z)
    else:
        log_z = log_step
        slope = np.exp(-0.5 * z * z - _LOG_SQRT_2PI - log_z)
    return log_z, signs * slope / deviation, slope * (slope + z), mean, variance


def _matched(log_z, a, vb, mean, variance) -> Sites:
    """Return the sites that match the moments of the tilted distributions."""
    # Where the likelihood is a step far on the wrong side, vb is 1 but for rounding.
    left = np.maximum(1 - vb, np.finfo(float).eps)
    return Sites(vb / (variance * left), (a + mean * vb / variance) / left)


def _assess(matrix, signs, noise, sites: Sites, n_iter: int) -> Approximation | None:
    """Return the posterior that sites give, or None if they give none."""
    precision, shift = sites
    solved = (_solve_cholesky if precision.min() >= 0 else _solve_lu)(matrix, precision, shift)
    if solved is None:
        return None
    q, variance, coef, log_det = solved
    mean = matrix @ coef
    cavity_variance = variance / q
    if not (np.all(q > 0) and np.all(cavity_variance > 0) and np.all(np.isfinite(coef))):
        return None
    cavity_mean = mean - cavity_variance * coef
    log_z, a, vb, M, V = likelihood(signs, cavity_mean, cavity_variance, noise)
    # log of the integral of cavity times site, which is 1 / sqrt(q) before the exponent.
    exponent = q * (shift**2 * V + 2 * shift * M - precision * M**2) / 2
    log_evidence = np.sum(log_z - 0.5 * np.log(q) - exponent) + 0.5 * (shift @ mean - log_det)
    mismatch = np.maximum(np.abs(a - coef) * np.sqrt(V), np.abs(1 - vb - q))
    return Approximation(
        sites, coef, M, V, log_z, float(log_evidence), float(mismatch.max()), n_iter
    )


def _solve_cholesky(matrix, precision, shift):
    """Return q, variances, coefficients and log |I + K S| for precisions >= 0."""
    root = np.sqrt(precision)
    b = matrix * root
    b *= root[:, None]
    b.flat[:: len(b) + 1] += 1
    upper, failed = linalg.lapack.dpotrf(b.T, lower=0, clean=1, overwrite_a=1)
    if failed:
        return None
    log_det = 2 * np.sum(np.log(np.diagonal(upper)))
    inverse, _ = linalg.lapack.dtrtri(upper, lower=0, overwrite_c=1)
    q = np.einsum("ij,ij->i", inverse, inverse)
    coef = shift - root * (inverse @ ((root * (matrix @ shift)) @ inverse))
    variance = (1 - q) / np.maximum(precision, TINY_PRECISION)
    tiny = np.flatnonzero(precision < TINY_PRECISION)
    if tiny.size:
        projected = inverse.T @ (root[:, None] * matrix[:, tiny])
        variance[tiny] = np.diagonal(matrix)[tiny] - np.einsum("ij,ij->j", projected, projected)
        q[tiny] = 1 - precision[tiny] * variance[tiny]
    return q, variance, coef, log_det


def _solve_lu(matrix, precision, shift):
    """Return the same where label noise has made some precisions negative."""
    unit = np.eye(len(matrix))
    a = unit + matrix * precision
    sign, log_det = np.linalg.slogdet(a)
    if sign <= 0:
        return None
    inverse = np.linalg.inv(a)
    if not np.abs(inverse @ a - unit).max() < LARGEST_ERROR:
        return None
    mean = inverse @ (matrix @ shift)
    variance = np.einsum("ij,ji->i", inverse, matrix)
    return 1 - precision * variance, variance, shift - precision * mean, log_det


def _draws(space: VersionSpace, found: Approximation, n_draws: int, rng) -> np.ndarray:
    """Return the coefficients of unit hypotheses drawn from the Gaussian."""
    factor, precision = space.gram.factor, found.sites.precision
    scaled = factor * np.sqrt(np.maximum(precision, 0.0))[:, None]
    inverse_covariance = scaled.T @ scaled
    if (negative := precision < 0).any():
        scaled = factor[negative] * np.sqrt(-precision[negative])[:, None]
        inverse_covariance -= scaled.T @ scaled
    del scaled
    inverse_covariance.flat[:: len(inverse_covariance) + 1] += 1
    noise = rng.standard_normal((factor.shape[1], n_draws))
    # Symmetric: its transpose, in the order that LAPACK wants, is the same without a copy.
    upper = linalg.cholesky(inverse_covariance.T, overwrite_a=True)
    draws = (found.coef @ factor) + linalg.solve_triangular(upper, noise).T
    del inverse_covariance, upper
    return space.dual(draws / np.linalg.norm(draws, axis=1, keepdims=True))


def info_of(found: Any, stop: str) -> dict[str, Any]:
    """Return what people want to know of an approximation."""
    close = found.residual <= CLOSE
    return {
        "angle": 0.0 if close else np.nan,
        "ess": np.inf,
        "mixed": close,
        "n_iter": found.n_iter,
        "residual": found.residual,
        "log_evidence": found.log_evidence if close else np.nan,
        "stop": stop,
    }
