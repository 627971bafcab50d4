"""The center of the largest ball in version space: the support vector machine of the papers."""

from __future__ import annotations

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from .._runtime.warn import warn
from ..geometry.largest_ball import largest_ball
from ..geometry.version_space import VersionSpace
from .posterior import Posterior, info_without_error
from .solver import GramSolver

# Warn if the margin falls short of its upper bound by more than this share of the bound.
MAX_MARGIN_GAP = 1e-3


class LargestBall(GramSolver):
    """Take the hypothesis of largest margin instead of the mean of all.

    The support vector machine with a hard margin, as 000 compares it with the Bayes point:
    `BayesPointClassifier("rbf", softness=0, fit_intercept=False, solver=LargestBall())`. Without
    an intercept it has no bias, and points have unit length in feature space. Its hypothesis is
    the center of the largest ball in version space. With softness it is the machine that
    penalizes squared slacks (000, sec. 4.2).

    Notes
    -----
    An active set method (non-negative least squares) ends in finitely many steps, also where
    margins are so small that libsvm takes millions. It takes O(m^3) or more for m training points.

    The only draw is the answer itself: there is no spread, so that `predict_proba` is too
    certain. The error is not known either: in `info`, `angle`, `ess` and `r_hat` are NaN,
    `mixed` is false, and `stop` is "done". `margin` is the largest margin.

    References
    ----------
    Herbrich, Graepel, Campbell (2001), Bayes Point Machines, JMLR 1, sec. 3.
    Lawson, Hanson (1974), Solving Least Squares Problems, ch. 23.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from bayespoint import BayesPointClassifier
    >>> from bayespoint.solvers import LargestBall
    >>> X, y = make_moons(100, noise=0.1, random_state=0)
    >>> model = BayesPointClassifier(
    ...     "rbf", gamma=1.0, softness=0, fit_intercept=False, solver=LargestBall()
    ... ).fit(X, y)
    >>> model.score(X, y)
    1.0
    """

    def __init__(self):
        """Take no parameters."""

    def _solve(self, space, rng, start, n_jobs, deadline, on_round) -> Posterior:
        if space.label_noise > 0:
            raise ValueError(
                f"LargestBall needs walls that no hypothesis passes, but label_noise is "
                f"{space.label_noise:g}. Pass label_noise=0 and allow training errors with "
                "softness > 0, or choose another solver."
            )
        center = largest_margin(space)
        coef = space.dual(center)
        margin = float(space.margins(center).min())
        info = info_without_error(len(space.signs)) | {"margin": margin}
        if on_round is not None:
            on_round(info)
        return Posterior(coef, coef[None], coef[None], info)


def largest_margin(space: VersionSpace) -> np.ndarray:
    """Return the hypothesis with the largest margin, in coordinates."""
    w, bound = largest_ball(space.walls)
    margin = space.margins(w).min()
    if margin <= 0 or margin < (1 - MAX_MARGIN_GAP) * bound:
        warn(
            f"The margin found is {margin:.3g}, but the largest may be up to {bound:.3g}.",
            ConvergenceWarning,
        )
    return w
