"""Expectation propagation: the posterior as a Gaussian, without sampling."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.utils._param_validation import Interval

from .._runtime.lapack import factor_upper, solve_upper
from ..geometry.gram import noise_share
from ..geometry.version_space import VersionSpace
from .posterior import Posterior, mean_length
from .propagation.approximation import Approximation, approximation_info
from .propagation.on_gram import MIN_DAMPING, propagate
from .propagation.sites import Copies
from .solver import GramSolver
from .watch import watching


class EP(GramSolver):
    """Approximate the posterior by a Gaussian with expectation propagation.

    Deterministic and fast. With w ~ N(0, I) the mean of the posterior points at the Bayes
    point. Each training point contributes a factor to the posterior: a step, or a step
    that is wrong with the probability `label_noise`; softness is in the Gram matrix. Each
    factor is replaced by the Gaussian with the same effect on the moments of its own
    output (Minka 2001).

    Parameters
    ----------
    max_iter : int, default=200
        Upper limit on the passes over all training points, O(m^3) each.
    tol : float, default=1e-3
        Stop when the moments of every output match to this, in standard deviations.
    damping : float, default=0.9
        Share of each update that is applied at first. It is lowered when the updates do not
        converge.
    n_draws : int, default=256
        Number of hypotheses drawn from the Gaussian, for votes.

    Notes
    -----
    The `info` of the posterior holds `n_iter`, `residual`, `log_evidence`, `loo_mean` and
    `loo_variance` (of the output at each training point, if it were left out), `hits`
    (coefficients of the mean: how hard each wall presses), `stop` and `seconds`.

    For cavity N(M, V) and label y, with Z = eta + (1 - 2 eta) Phi(y M / sqrt(V)),
    a = d log Z / dM and b = -d^2 log Z / dM^2, the site that matches the moments has
    precision b / (1 - V b) and shift (a + M b) / (1 - V b). All sites are updated at once
    from one Cholesky factor; if this does not converge, they are updated one by one. If that does
    not help either, a `ConvergenceWarning` says so, and probabilities shrink towards the prior.

    With q_i the diagonal of (I + K S)^-1, S the precisions of the sites, output i has the
    variance (1 - q_i) / S_i and its cavity the variance (1 - q_i) / (S_i q_i). So no
    difference of inverses is taken. At the fixed point a are the coefficients of the mean.

    A point of weight w counts as w equal points: coefficients and `hits` are sums over these
    copies, `loo_mean` and `loo_variance` leave out one copy (docs/notes/ep.md).

    References
    ----------
    Herbrich, Graepel, Campbell (2001), Bayes Point Machines, JMLR 1, sec. 3.
    Minka (2001), A family of algorithms for approximate Bayesian inference, MIT.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from bayespoint import BayesPointClassifier
    >>> from bayespoint.solvers import EP
    >>> X, y = make_moons(100, noise=0.3, random_state=0)
    >>> model = BayesPointClassifier(
    ...     "rbf", gamma=1.0, softness=0.1, solver=EP(tol=1e-4)
    ... ).fit(X, y)
    >>> model.diagnostics_.stop
    array(['tol'], dtype='<U3')
    """

    supports_label_noise = True
    supports_weights = True
    grows = True
    outputs_in_threads = True
    n_factors = 10
    _parameter_constraints = {
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
        "damping": [Interval(Real, MIN_DAMPING, 1, closed="right")],
        "n_draws": [Interval(Integral, 2, None, closed="left")],
    }

    def __init__(self, *, max_iter=200, tol=1e-3, damping=0.9, n_draws=256):
        self.max_iter = max_iter
        self.tol = tol
        self.damping = damping
        self.n_draws = n_draws

    def _solve(self, space, rng, start, n_jobs, deadline, on_round) -> Posterior:
        matrix, copies = _proper_gram(space)
        with watching(deadline, on_round) as watch:
            found = propagate(
                matrix,
                space.signs,
                space.label_noise,
                copies=copies,
                max_iter=self.max_iter,
                tol=self.tol,
                damping=self.damping,
                watch=lambda found: watch.end_round(approximation_info(found)),
            )
            draws = _draw(space, found, copies, self.n_draws, rng)
        stop = watch.stop or ("max_iter" if found.n_iter >= self.max_iter else "stalled")
        stop = "tol" if found.residual <= self.tol else stop
        coef = found.coef * space.signs / mean_length(space.n_dimensions)
        # The mean of unit vectors is at most one long, but its approximation may be longer.
        coef /= max(1.0, float(np.linalg.norm(space.combine(coef))))
        return Posterior(coef, draws, np.stack([coef, coef]), describe(found, stop))


def describe(found: Approximation, stop: str) -> dict[str, Any]:
    """Return the info of the posterior."""
    return approximation_info(found, stop) | {
        "hits": np.abs(found.coef),
        "loo_mean": found.cavity_mean,
        "loo_variance": found.cavity_variance,
    }


def _proper_gram(space: VersionSpace) -> tuple[np.ndarray, Copies | None]:
    """Return the Gram matrix with unit variance for points at the origin, and the weights.

    The output of such a point is zero and says nothing about the hypothesis, just as if it
    were noise.
    """
    matrix, weight = space.gram.matrix, space.weight
    at_origin = np.diagonal(matrix) == 0
    if weight is None:
        return (matrix + np.diag(at_origin) if at_origin.any() else matrix), None
    noise = np.where(at_origin, 1.0, noise_share(space.gram.softness))
    matrix = matrix + np.diag(at_origin / weight) if at_origin.any() else matrix
    return matrix, Copies(weight, noise)


def _draw(space: VersionSpace, found: Approximation, copies, n_draws: int, rng) -> np.ndarray:
    """Return the coefficients of unit hypotheses drawn from the Gaussian."""
    factor = space.gram.factor
    precision = (found.sites if copies is None else copies.of_rows(found.sites)).precision
    scaled = factor * np.sqrt(np.maximum(precision, 0.0))[:, None]
    inverse_covariance = scaled.T @ scaled
    if (negative := precision < 0).any():
        scaled = factor[negative] * np.sqrt(-precision[negative])[:, None]
        inverse_covariance -= scaled.T @ scaled
    del scaled
    inverse_covariance.flat[:: len(inverse_covariance) + 1] += 1
    noise = rng.standard_normal((factor.shape[1], n_draws))
    # The matrix is symmetric: its transpose is in the order LAPACK wants, without a copy.
    upper = inverse_covariance.T
    if not factor_upper(upper):
        raise np.linalg.LinAlgError("The precision of the posterior is not positive definite.")
    draws = (found.coef @ factor) + solve_upper(upper, noise).T
    del inverse_covariance, upper
    lengths = np.linalg.norm(draws, axis=1, keepdims=True)
    if copies is not None:
        # The copies of a row differ from their mean by noise, which is part of a hypothesis.
        degrees = np.maximum(copies.weight - 1, 0.0)
        squares = 2 * rng.standard_gamma(degrees / 2, (n_draws, len(degrees)))
        squares = squares @ (1 / (1 + found.sites.precision * copies.noise))
        lengths = np.sqrt(lengths**2 + squares[:, None])
    return space.dual(draws / lengths)
