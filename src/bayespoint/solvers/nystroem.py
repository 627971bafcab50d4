"""Expectation propagation in the span of a few landmarks, for many noisy points."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from numbers import Integral, Real
from typing import Any, NamedTuple

import numpy as np
from scipy import linalg
from sklearn.base import BaseEstimator
from sklearn.utils._param_validation import Interval

from .._runtime.interrupt import interrupts
from .._runtime.threads import one_blas_thread
from .ep import Sites, info_of, likelihood
from .posterior import Posterior

# Rows of features that one product takes: enough for BLAS, little enough for the cache.
FEATURE_ROWS_PER_BLOCK = 2048
# The share of each update that is made, but the first, and by what it is multiplied where
# updates swing.
DAMPING = 0.9
CALMING = 0.8
# Rounding may change the precision of the posterior by so much of that of the prior; where
# it could be more, products of features in single precision are taken in double.
LARGEST_ROUNDING = 0.1
# What is left of a cavity's precision, at least, relative to that of the posterior.
LEAST_LEFT = 1e-12


class Nystroem(BaseEstimator):
    """Approximate the posterior on the span of landmarks with expectation propagation.

    For training sets that are too large for the whole Gram matrix, and too noisy for
    perceptrons. A hypothesis is a combination of some training points, the landmarks
    (Williams and Seeger 2001); the part of a point outside their span is noise of its own,
    beside softness (Snelson and Ghahramani 2006). Predictions need the kernel with the
    landmarks only.

    Parameters
    ----------
    n_landmarks : int, default=500
        Training points that carry hypotheses. More of them resolve a more flexible boundary.
        With all of them it is the answer of "ep". Four times the time for twice as many.
    max_iter : int, default=50
        Upper limit on the sweeps over all training points, O(m n_landmarks^2) each.
    tol : float, default=1e-2
        Stop when the moments of every output are matched to this, in standard deviations.
    n_draws : int, default=256
        Number of hypotheses drawn from the Gaussian, for votes.

    Notes
    -----
    With k the kernel of unit points, z the landmarks and K_zz = L L', the features of x are
    phi(x) = L^-1 k(z, x), and f(x) = <w, phi(x)> with w ~ N(0, I). All sites are updated at
    once, as in `EP`, from the Cholesky factor of the precision of w. Some four sweeps
    are enough.

    References
    ----------
    Williams, Seeger (2001), Using the Nyström method to speed up kernel machines, NIPS 13.
    Naish-Guzman, Holden (2008), The generalized FITC approximation, NIPS 20.
    """

    needs = "landmarks"  # what a fit prepares for it
    supports_label_noise = False
    _parameter_constraints = {
        "n_landmarks": [Interval(Integral, 1, None, closed="left")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
        "n_draws": [Interval(Integral, 2, None, closed="left")],
    }

    def __init__(self, n_landmarks=500, *, max_iter=50, tol=1e-2, n_draws=256):
        self.n_landmarks = n_landmarks
        self.max_iter = max_iter
        self.tol = tol
        self.n_draws = n_draws

    def solve(
        self,
        features: np.ndarray,
        signs: np.ndarray,
        noise: np.ndarray,
        rng: np.random.Generator,
        *,
        thread_map: Callable = map,
        deadline: float = np.inf,
        on_round: Callable[[dict[str, Any]], bool] | None = None,
    ) -> Posterior:
        """Approximate the posterior of the weights of features.

        Parameters
        ----------
        features : array of shape (m, n_weights)
            Unit training points in an orthonormal basis of the span of the landmarks.
        signs : array of shape (m,)
            Labels, +1 and -1.
        noise : array of shape (m,)
            Variance of the noise on each output.
        rng : numpy.random.Generator
            Source of the draws.
        thread_map : callable, default=map
            A `map` that may use threads.
        deadline : float, default=inf
            Value of `time.perf_counter()` at which to return the answer so far.
        on_round : callable, default=None
            Called after each sweep with a dict of what is known; a true answer stops.

        Returns
        -------
        Posterior
            Its coefficients are weights of the features. Its `info` is that of `EP`, and the
            `length` (root mean square) of w, in units of which its mean is given.
        """
        self._validate_params()
        began = time.perf_counter()
        told = {"stop": ""}

        def break_off() -> bool:
            if interrupted:
                told["stop"] = "interrupted"
            elif time.perf_counter() > deadline:
                told["stop"] = "max_time"
            return bool(told["stop"])

        def watch(found: Approximation) -> bool:
            if on_round is not None and on_round(info_of(found, told["stop"])):
                told["stop"] = told["stop"] or "callback"
            return break_off() or bool(told["stop"])

        with one_blas_thread(), interrupts() as interrupted:
            found = propagate(
                features,
                signs,
                noise,
                max_iter=self.max_iter,
                tol=self.tol,
                thread_map=thread_map,
                watch=watch,
                break_off=break_off,
            )
            draws = found.mean + rng.standard_normal((self.n_draws, len(found.mean))) @ found.root.T
        stop = "tol" if found.residual <= self.tol else told["stop"] or "max_iter"
        # Noise is not a part of w here, so that labels do tell something about its length.
        length = float(np.sqrt(found.mean @ found.mean + np.sum(found.root**2)))
        coef = found.mean / length
        info = info_of(found, stop) | {
            "length": length,
            "hits": np.abs(found.pressure),
            "loo_mean": found.cavity_mean,
            "loo_variance": found.cavity_variance,
            "seconds": time.perf_counter() - began,
        }
        draws /= np.linalg.norm(draws, axis=1, keepdims=True)
        return Posterior(coef, draws, np.stack([coef, coef]), info)


class Approximation(NamedTuple):
    """A Gaussian posterior of weights, and what all other points say of each point."""

    mean: np.ndarray
    root: np.ndarray  # root @ root.T is the covariance
    sites: Sites
    pressure: np.ndarray  # what each point adds to the mean, in its own direction
    cavity_mean: np.ndarray
    cavity_variance: np.ndarray  # with the noise
    log_evidence: float
    residual: float  # largest mismatch of moments, in standard deviations
    n_iter: int


def propagate(
    features: np.ndarray,
    signs: np.ndarray,
    noise: np.ndarray,
    *,
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
    features, signs, noise
        As in `Nystroem.solve`.
    sites : Sites, default=None
        Where to start, for example the result for similar parameters.
    max_iter, tol
        As in `Nystroem`.
    thread_map : callable, default=map
        A `map` that may use threads; the result does not depend on them.
    watch : callable, default=None
        Called after each sweep; a true answer stops.
    break_off : callable, default=None
        Called often; a true answer breaks off a sweep, but the first.

    Returns
    -------
    Approximation
        Its `residual` tells whether it converged.
    """
    work = _Work(features, signs, noise, sites)
    belief = work.prior() if sites is None else _belief(work.collect(thread_map))
    damping = DAMPING if sites is not None else 1.0
    found: Any = None
    while found is None or (found.residual > tol and found.n_iter < max_iter):
        before = np.inf if found is None else found.residual
        parts = thread_map(lambda here: work.update(here, *belief, damping), work.blocks)  # noqa: B023
        swept = _sum_up(parts, break_off if found is not None else None)
        if swept is None:
            break
        totals, constants, residual = swept
        log_evidence = constants + _log_integral(*belief)
        belief = _belief(totals)
        found = Approximation(
            *belief[:2],
            Sites(work.precision, work.shift),
            work.pressure,
            work.cavity_mean,
            work.cavity_variance,
            float(log_evidence),
            residual,
            1 if found is None else found.n_iter + 1,
        )
        damping = DAMPING if found.n_iter == 1 else damping * (CALMING if residual > before else 1)
        if watch is not None and watch(found):
            break
    return found


# Mean of the weights, root of their covariance, shift; the root of the prior is None.
Belief = tuple[np.ndarray, np.ndarray, np.ndarray]


class _Work:
    """Sites and cavities of all points, updated in blocks of them."""

    def __init__(self, features, signs, noise, sites: Sites | None):
        m = len(signs)
        self.features, self.signs, self.noise = features, signs, noise
        start = Sites(np.zeros(m), np.zeros(m)) if sites is None else sites
        self.precision, self.shift = start.precision.copy(), start.shift.copy()
        self.pressure, self.cavity_mean, self.cavity_variance = np.zeros((3, m))
        self.blocks = [
            slice(i, min(i + FEATURE_ROWS_PER_BLOCK, m))
            for i in range(0, m, FEATURE_ROWS_PER_BLOCK)
        ]

    def prior(self) -> Belief:
        r = self.features.shape[1]
        return np.zeros(r), np.eye(r), np.zeros(r)

    def collect(self, thread_map) -> tuple[np.ndarray, np.ndarray]:
        """Return precision and shift of the product of prior and sites."""
        return _sum_up((self._products(here), 0.0, 0.0) for here in self.blocks)[0]

    def update(self, here: slice, mean, root, shift, damping: float):
        """Match the moments of a block; return its products, constants and residual."""
        block = self.features[here]
        trmm = linalg.get_blas_funcs("trmm", (block,))
        # Transposed, because that is the order of rows in memory that BLAS takes uncopied.
        half = trmm(1.0, root.T.astype(block.dtype), block.T, lower=1)
        variance = np.einsum("ij,ij->j", half, half).astype(np.float64)
        output = (block @ mean.astype(block.dtype)).astype(np.float64)
        p, s = self.precision[here], self.shift[here]
        V = variance / np.maximum(1 - p * variance, LEAST_LEFT)
        M = output - V * (s - p * output)
        log_z, a, scaled, _, total = likelihood(self.signs[here], M, V + self.noise[here], 0.0)
        b = np.maximum(scaled, 0.0) / total
        # What cavity and site give, and what cavity and likelihood give.
        q = 1 / (1 + p * V)
        mismatch = np.maximum(np.abs(a - q * (s - p * M)) * np.sqrt(V), np.abs(1 - V * b - q))
        exponent = q * (s**2 * V + 2 * s * M - p * M**2) / 2
        constants = np.sum(log_z - 0.5 * np.log(q) - exponent)
        left = np.maximum(1 - V * b, np.finfo(float).eps)
        self.precision[here] += damping * (b / left - p)
        self.shift[here] += damping * ((a + M * b) / left - s)
        self.pressure[here], self.cavity_mean[here], self.cavity_variance[here] = a, M, total
        return self._products(here), constants, float(mismatch.max(initial=0.0))

    def _products(self, here: slice) -> tuple[np.ndarray, np.ndarray]:
        """Return what the sites of a block add to precision and shift of the weights."""
        block, p = self.features[here], self.precision[here]
        if p.mean() * len(self.signs) * np.finfo(block.dtype).eps > LARGEST_ROUNDING:
            block = block.astype(np.float64)
        scaled = block * np.sqrt(p).astype(block.dtype)[:, None]
        return scaled.T @ scaled, self.shift[here].astype(block.dtype) @ block


def _sum_up(parts: Iterable, break_off: Callable[[], bool] | None = None):
    """Add up what blocks gave, in their order; None if there is no time for all."""
    precision: Any = 0.0
    shift: Any = 0.0
    constants, residual = 0.0, 0.0
    for (products, shifts), constant, mismatch in parts:
        precision = precision + products.astype(np.float64)
        shift = shift + shifts.astype(np.float64)
        constants += constant
        residual = max(residual, mismatch)
        if break_off is not None and break_off():
            return None
    precision.flat[:: len(precision) + 1] += 1
    return (precision, shift), constants, residual


def _belief(totals: tuple[np.ndarray, np.ndarray]) -> Belief:
    """Return mean, root of the covariance (upper triangular) and shift."""
    precision, shift = totals
    lower = linalg.cholesky(precision, lower=True, overwrite_a=True)
    root = linalg.lapack.dtrtri(lower, lower=1)[0].T
    return root @ (root.T @ shift), root, shift


def _log_integral(mean, root, shift) -> float:
    """Return the logarithm of the integral of prior and sites."""
    return float(0.5 * shift @ mean + np.sum(np.log(np.diagonal(root))))
