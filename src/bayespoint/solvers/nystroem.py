"""Expectation propagation in the span of a few landmarks, for many noisy points."""

from __future__ import annotations

import time
from collections.abc import Callable
from numbers import Integral, Real

import numpy as np
from sklearn.utils._param_validation import Interval

from .._runtime.threads import one_blas_thread
from .posterior import Posterior
from .propagation.approximation import approximation_info
from .propagation.on_features import Approximation, Blocks, iterate
from .solver import OnRound, Solver
from .watch import watching


class Nystroem(Solver):
    """Approximate the posterior on the span of landmarks with expectation propagation.

    For training sets that are too large for the whole Gram matrix, and too noisy for
    perceptrons. A hypothesis is a combination of some training points, the landmarks
    (Williams and Seeger 2001). The part of a point outside their span counts as noise of
    this point, in addition to softness (Snelson and Ghahramani 2006). Predictions need
    only the kernel with the landmarks.

    Parameters
    ----------
    n_landmarks : int, default=500
        Training points that carry hypotheses. More of them resolve a more flexible boundary;
        twice as many take four times as long. With all training points the answer is the same
        as from "ep".
    max_iter : int, default=50
        Upper limit on the sweeps over all training points, O(m n_landmarks^2) each.
    tol : float, default=1e-2
        Stop when the moments of every output match to this, in standard deviations.
    n_draws : int, default=256
        Number of hypotheses drawn from the Gaussian, for votes.

    Notes
    -----
    With k the kernel of unit points, z the landmarks and K_zz = L L', the features of x are
    phi(x) = L^-1 k(z, x), and f(x) = <w, phi(x)> with w ~ N(0, I). All sites are updated at
    once, as in `EP`, from the Cholesky factor of the precision of w. About five sweeps
    are enough.

    References
    ----------
    Williams, Seeger (2001), Using the Nyström method to speed up kernel machines, NIPS 13.
    Naish-Guzman, Holden (2008), The generalized FITC approximation, NIPS 20.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from bayespoint import BayesPointClassifier
    >>> from bayespoint.solvers import Nystroem
    >>> X, y = make_moons(100, noise=0.3, random_state=0)
    >>> model = BayesPointClassifier(
    ...     "rbf", gamma=1.0, softness=0.1, solver=Nystroem(20)
    ... ).fit(X, y)
    >>> model.support_.shape
    (20,)
    """

    needs = "landmarks"
    supports_weights = True
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
        weight: np.ndarray | None = None,
        thread_map: Callable = map,
        deadline: float = np.inf,
        on_round: OnRound | None = None,
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
        weight : array of shape (m,), default=None
            Positive weights of the points; all one by default.
        thread_map : callable, default=map
            A `map` that may use threads.
        deadline, on_round
            As in `EP.solve`; a round is a sweep.

        Returns
        -------
        Posterior
            Its coefficients are weights of the features. Its `info` has the same entries as
            for `EP`, and the `length` (root mean square) of w, the unit of its mean.
        """
        blocks = Blocks(features, signs, noise, weight=weight, thread_map=thread_map)
        posterior, found = self.solve_blocks(blocks, rng, deadline=deadline, on_round=on_round)
        posterior.info.update(
            hits=np.abs(found.pressure),
            loo_mean=found.cavity_mean,
            loo_variance=found.cavity_variance,
        )
        return posterior

    def solve_blocks(
        self, blocks, rng: np.random.Generator, *, deadline: float, on_round: OnRound | None
    ) -> tuple[Posterior, Approximation]:
        """Do the same for points in blocks that may be elsewhere; see `propagation.on_features`.

        The info of the posterior then has no results of single points.
        """
        self._validate_params()
        began = time.perf_counter()
        with one_blas_thread(), watching(deadline, on_round) as watch:
            found = iterate(
                blocks,
                max_iter=self.max_iter,
                tol=self.tol,
                watch=lambda found: watch.end_round(approximation_info(found) | {"tol": self.tol}),
                break_off=watch.is_over,
            )
            draws = found.mean + rng.standard_normal((self.n_draws, len(found.mean))) @ found.root.T
        stop = "tol" if found.residual <= self.tol else watch.stop or "max_iter"
        posterior = _posterior(found, draws, stop)
        posterior.info["seconds"] = time.perf_counter() - began
        return posterior, found


def _posterior(found, draws: np.ndarray, stop: str) -> Posterior:
    """Return mean and draws of the weights as hypotheses of about unit length."""
    # The noise is not a part of w here, so the labels also determine the length of w.
    length = float(np.sqrt(found.mean @ found.mean + np.sum(found.root**2)))
    coef = found.mean / length
    info = approximation_info(found, stop) | {"length": length}
    draws /= np.linalg.norm(draws, axis=1, keepdims=True)
    return Posterior(coef, draws, np.stack([coef, coef]), info)
