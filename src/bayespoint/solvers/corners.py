"""The corners of version space, and the middle of the simplex between them."""

from __future__ import annotations

from numbers import Integral

import numpy as np
from scipy import linalg
from sklearn.utils._param_validation import Interval

from ..geometry.version_space import VersionSpace
from .posterior import Posterior, info_without_error
from .solver import GramSolver


class Corners(GramSolver):
    """Average the corners of version space.

    Where m training points are linearly independent, version space is a simplex on the
    sphere: it has m corners, each on all walls but one. Their average is an estimate of
    the Bayes point that needs no sampling. More time does not make it better: it is not the
    Bayes point, and there is no error bar. On noisy data it was 0.3 to 0.7 rad away from it
    (`Billiard` measures the angle). Equal weights are right only if all walls are alike.

    Parameters
    ----------
    n_draws : int, default=256
        Number of hypotheses drawn for probabilities and votes. Memory and the time of
        `predict_proba` grow with it.

    Notes
    -----
    The posterior has a single chain. As the error is not known, `angle`, `ess` and `r_hat` in its
    `info` are NaN and `mixed` is false; `stop` is "done".

    Corner i has <w_i, z_j> = 0 for j != i and <w_i, z_i> > 0: its coefficients are column
    i of the inverse of the signed Gram matrix K, divided by the root of (K^-1)_ii. In
    coordinates K = F F', and corners are the normalized columns of F^-1, which loses half
    as many digits. This takes O(m^3) time and 8 m^2 bytes, once.

    The average of the corners is the exact center of mass of the flat simplex between
    them. Draws are uniform on this simplex and scaled to unit length, thus inside version
    space. The corners themselves lie at its edges: as draws, they would make all
    probabilities one half (their mean has a length of about 1 / sqrt(m)). The answer has the
    direction of the average; its length is the mean component of the draws in this direction.

    References
    ----------
    Rychetsky, Shawe-Taylor, Glesner (2000), Direct Bayes Point Machines, ICML.
    Herbrich, Graepel, Campbell (2001), Bayes Point Machines, JMLR 1, sec. 3.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from bayespoint import BayesPointClassifier
    >>> from bayespoint.solvers import Corners
    >>> X, y = make_moons(100, noise=0.3, random_state=0)
    >>> model = BayesPointClassifier(
    ...     "rbf", gamma=1.0, softness=0.1, solver=Corners()
    ... ).fit(X, y)
    >>> model.diagnostics_.stop
    array(['done'], dtype='<U4')
    """

    n_matrices = 6
    _parameter_constraints = {"n_draws": [Interval(Integral, 2, None, closed="left")]}

    def __init__(self, *, n_draws=256):
        self.n_draws = n_draws

    def _solve(self, space, rng, start, n_jobs, deadline, on_round) -> Posterior:
        points = corners(space)
        draws = _unit(rng.standard_exponential((self.n_draws, len(points))) @ points)
        middle = _unit(points.mean(axis=0))
        coef = space.dual(middle * np.mean(draws @ middle))
        draw_coef = space.dual(draws)
        info = info_without_error(len(space.signs))
        if on_round is not None:
            on_round(info)
        return Posterior(coef, draw_coef, coef[None], info)


def corners(space: VersionSpace) -> np.ndarray:
    """Return the corners of version space in coordinates, one row for each training point."""
    if space.label_noise > 0:
        raise ValueError(
            f"Corners needs walls that no hypothesis passes, but label_noise is "
            f"{space.label_noise:g}. Pass label_noise=0 and allow training errors with "
            "softness > 0, or choose another solver."
        )
    gram = space.gram
    m = len(space.signs)
    if gram.rank < m:
        raise ValueError(
            f"Corners needs linearly independent training points, but these {m} span only "
            f"{gram.rank} dimensions, where version space has many more corners than points. "
            'softness > 0 makes them independent; or pass solver="billiard".'
        )
    inverse = linalg.solve_triangular(gram.factor[gram.pivots], np.eye(m), lower=True)
    points = np.empty((m, m))
    points[gram.pivots] = inverse.T
    return _unit(points * space.signs[:, None])


def _unit(vectors: np.ndarray) -> np.ndarray:
    """Scale vectors along the last axis to unit length."""
    return vectors / np.linalg.norm(vectors, axis=-1, keepdims=True)
