"""Hyperplanes of largest margin in any distance lq, by linear programs that are refined."""

from __future__ import annotations

import highspy
import numpy as np
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from ..._runtime.warn import warn
from .highs import add_constraints, new_highs, run_for_hyperplane

# Stop when the objective is at most this share above a lower bound of it. Coefficients are then
# exact to about the root of it.
MAX_RELATIVE_GAP = 1e-8
# A test needs fewer than 30 programs for 60 features. Rounding of HiGHS could keep the gap open.
MAX_PROGRAMS = 100


def fit_in_norm(
    X, signs: np.ndarray, norm: float, prices: np.ndarray, fit_intercept: bool
) -> tuple[np.ndarray, float]:
    """Minimize the length of the normal vector in a norm lp plus the cost of the slacks.

    Parameters
    ----------
    X : {array, sparse matrix} of shape (n, n_features)
        Points, with entries up to about one.
    signs : ndarray of shape (n,)
        -1.0 and +1.0.
    norm : float
        p, above 1 and finite.
    prices : ndarray of shape (n,)
        Price of each slack; infinite if there are none.
    fit_intercept : bool
        Whether to fit a threshold.

    Returns
    -------
    coef, intercept
        The best hyperplane found.

    Notes
    -----
    |w|_p <= s if there are r_j with sum r_j <= s and |w_j|^p <= r_j s^(p-1): one curve for each
    feature. A tangent of the curve, r_j >= p a^(p-1) |w_j| - (p-1) a^p s, touches it where
    |w_j| = a s. The program with tangents is linear, and its value is a lower bound. New
    tangents at its solution make it better, until the gap is closed. As curves are refined one
    by one, few programs are needed for any number of features.
    """
    program = _Program(X, signs, norm, prices, fit_intercept)
    best, found = np.inf, (np.zeros(X.shape[1]), 0.0)
    for _ in range(MAX_PROGRAMS):
        coef, intercept, bound = program.solve()
        length = float(np.linalg.norm(coef, norm))
        value = length
        if np.isfinite(prices).all():
            value += float(prices @ np.maximum(1 - signs * (X @ coef + intercept), 0.0))
        if value < best:
            best, found = value, (coef, intercept)
        if length == 0 or best - bound <= MAX_RELATIVE_GAP * best:
            break
        program.add_tangents(np.abs(coef) / length, np.where(coef < 0, -1.0, 1.0))
    else:
        warn(
            f"The hyperplane is at most {best - bound:.2g} above the smallest objective, which is "
            f"at least {bound:.4g}, after {MAX_PROGRAMS} programs. Scale the features, or choose "
            "another C.",
            ConvergenceWarning,
        )
    return found


class _Program:
    """The linear program; its variables are w, r, s, the threshold, and slacks if allowed."""

    def __init__(self, X, signs, norm, prices, fit_intercept):
        n_points, self.n_features = X.shape
        self.norm = norm
        slacks = prices[np.isfinite(prices)]
        d, free = self.n_features, np.inf if fit_intercept else 0.0
        self.cost = np.concatenate([np.zeros(2 * d), [1.0, 0.0], slacks])
        self.size = len(self.cost)
        lower = np.concatenate(
            [np.full(d, -np.inf), np.zeros(d + 1), [-free], np.zeros(len(slacks))]
        )
        upper = np.full(self.size, np.inf)
        upper[2 * d + 1] = free
        self.highs: highspy.Highs = new_highs()
        self.highs.addVars(self.size, lower, upper)
        self.highs.changeColsCost(self.size, np.arange(self.size, dtype=np.int32), self.cost)
        signed = sparse.csr_matrix(X).multiply(signs[:, None])
        blocks = [signed, sparse.csr_matrix((n_points, d + 1)), signs[:, None]]
        blocks += [sparse.eye(n_points)] if len(slacks) else []
        add_constraints(self.highs, sparse.hstack(blocks), 1.0, np.inf)
        total = np.concatenate([np.zeros(d), -np.ones(d), [1.0], np.zeros(self.size - 2 * d - 1)])
        add_constraints(self.highs, total[None], 0.0, np.inf)
        for ratio in (d ** (-1 / norm), 1.0):  # all weights alike, and a single one
            for sign in (-1.0, 1.0):
                self.add_tangents(np.full(d, ratio), np.full(d, sign))

    def add_tangents(self, ratios: np.ndarray, signs: np.ndarray) -> None:
        """Add a tangent for each feature that touches where signs * w = ratios * s."""
        d, p = self.n_features, self.norm
        own = np.arange(d)
        columns = np.concatenate([own, d + own, np.full(d, 2 * d)])
        values = [-p * ratios ** (p - 1) * signs, np.ones(d), (p - 1) * ratios**p]
        entries = np.concatenate(values), (np.tile(own, 3), columns)
        add_constraints(self.highs, sparse.csr_matrix(entries, (d, self.size)), 0.0, np.inf)

    def solve(self) -> tuple[np.ndarray, float, float]:
        """Return normal vector, threshold, and a lower bound of the objective."""
        values = np.array(run_for_hyperplane(self.highs).col_value)
        d = self.n_features
        return values[:d], float(values[2 * d + 1]), float(self.cost @ values)
