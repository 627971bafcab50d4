"""Expectation propagation that goes on when training points come and go, in O(m^2) a point."""

from __future__ import annotations

import numpy as np
from scipy import linalg

from ..growing import MAX_INVERSE_ERROR, UPDATES_BETWEEN_CHECKS, GrowingSquare
from .approximation import Approximation, Solved, judge
from .on_gram import propagate
from .sites import Copies, Sites, likelihood, match_moments

# Sites that match to this share of the tolerance are left alone.
ACTIVE_SHARE = 0.5
# If more than this share of the sites has to change, all of them are updated at once.
MAX_ACTIVE_SHARE = 0.5
# So many rounds of updates with a part of the sites; then all are updated.
MAX_ROUNDS = 20


class GrowingPropagation:
    """The posterior of the outputs of one class, with its covariance.

    With sites of precision S the covariance is (K^-1 + S)^-1. A new point with an empty site
    has the covariance h = k - C S k with the others and k_ii - k'S h with itself. A point
    whose site is emptied can be deleted. Sites D that change, n at once, change the covariance by
    -C_n (1 + D C_nn)^-1 D C_n', which takes O(m^2 n).

    Parameters
    ----------
    matrix : array of shape (m, m)
        Gram matrix, as for `propagate`. It is the caller's, who adds and removes its rows.
    signs : array of shape (m,)
        Labels.
    label_noise : float
        Probability that a label was flipped.
    copies : Copies
        Weights of the points.
    limits : dict
        `max_iter`, `tol` and `damping`, as for `propagate`.
    """

    found: Approximation
    _covariance: GrowingSquare
    _precision: np.ndarray  # of the sites of whole rows
    _shift: np.ndarray
    _log_det: float  # of 1 + K S

    def __init__(self, matrix, signs, label_noise: float, copies: Copies, limits: dict):
        self._noise, self._limits = label_noise, limits
        self._n_updates = 0
        self._restart(matrix, signs, copies, None)

    def add(self, matrix: np.ndarray, signs: np.ndarray, copies: Copies) -> None:
        """Learn the last points of a larger matrix."""
        m = self._covariance.size
        across, corner = matrix[:m, m:], matrix[m:, m:]
        weighted = self._precision[:, None] * across
        new = across - self._covariance.values @ weighted
        self._covariance.append(new, corner - weighted.T @ new)
        empty = np.zeros(len(signs) - m)
        self._precision = np.concatenate([self._precision, empty])
        self._shift = np.concatenate([self._shift, empty])
        self._settle(matrix, signs, copies)

    def remove(self, rows: np.ndarray, matrix, signs: np.ndarray, copies: Copies) -> None:
        """Forget points; the matrix is the one without them."""
        self._change(rows, -self._precision[rows])
        self._covariance.delete(rows)
        self._precision = np.delete(self._precision, rows)
        self._shift = np.delete(self._shift, rows)
        self._settle(matrix, signs, copies)

    def _settle(self, matrix, signs, copies: Copies) -> None:
        """Update the sites that do not match, until all do."""
        tol, n_rounds = self._limits["tol"], 0
        found = None if self._is_worn(matrix) else self._judge(matrix, signs, copies, n_rounds)
        while found is not None and found.residual > tol and n_rounds < MAX_ROUNDS:
            active = np.flatnonzero(found.mismatch > ACTIVE_SHARE * tol)
            if len(active) > MAX_ACTIVE_SHARE * len(signs):
                break
            before = found.residual
            self._update(active, found, signs, copies)
            n_rounds += 1
            found = self._judge(matrix, signs, copies, n_rounds)
            if found is not None and n_rounds > 1 and found.residual > before:
                break  # it does not converge on its own
        if found is None or found.residual > tol:
            sites = None if found is None else found.sites
            self._restart(matrix, signs, copies, sites)
        else:
            self.found = found

    def _update(self, active: np.ndarray, found: Approximation, signs, copies: Copies) -> None:
        """Move some sites towards those that match the moments."""
        cavity = found.cavity_mean[active], found.cavity_variance[active]
        target = match_moments(*likelihood(signs[active], *cavity, self._noise))
        own = Sites(*(part[active] for part in found.sites))
        moved = own.moved(target, self._limits["damping"])
        weight = copies.weight[active]
        self._change(active, weight * (moved.precision - own.precision))
        self._shift[active] = weight * moved.shift

    def _change(self, rows: np.ndarray, changes: np.ndarray) -> None:
        """Add to the precisions of some sites."""
        columns = self._covariance.values[:, rows]
        inner = np.eye(len(rows)) + changes[:, None] * columns[rows]
        sign, log_det = np.linalg.slogdet(inner)
        if sign <= 0 or not np.isfinite(log_det):
            self._log_det = np.nan  # not a distribution: `_judge` notices
            return
        effect = np.linalg.solve(inner, changes[:, None] * columns.T)
        self._covariance.add_product(-columns, effect.T)
        self._precision[rows] += changes
        self._log_det += log_det

    def _judge(self, matrix, signs, copies: Copies, n_iter: int) -> Approximation | None:
        """Return what the sites say about the points; None if that is not a distribution."""
        if not np.isfinite(self._log_det):
            return None
        variance = np.diagonal(self._covariance.values)
        mean = self._covariance.values @ self._shift
        coef = self._shift - self._precision * mean
        solved = Solved(1 - self._precision * variance, variance, coef, self._log_det)
        sites = Sites(self._precision / copies.weight, self._shift / copies.weight)
        return judge(mean, signs, self._noise, sites, solved, n_iter, copies)

    def _is_worn(self, matrix: np.ndarray) -> bool:
        """Tell whether updates have lost digits of the covariance."""
        self._n_updates += 1
        if self._n_updates % UPDATES_BETWEEN_CHECKS or not np.isfinite(self._log_det):
            return False
        signs = np.random.default_rng(len(matrix)).choice([-1.0, 1.0], len(matrix))
        spread = self._covariance.values @ signs
        off = spread - matrix @ (signs - self._precision * spread)
        return not np.abs(off).max() <= MAX_INVERSE_ERROR

    def _restart(self, matrix, signs, copies: Copies, sites: Sites | None) -> None:
        """Update all sites at once, and compute the covariance anew."""
        self.found = propagate(
            matrix, signs, self._noise, copies=copies, sites=sites, **self._limits
        )
        self._precision, self._shift = copies.of_rows(self.found.sites)
        factors = linalg.lu_factor(np.eye(len(matrix)) + matrix * self._precision)
        self._log_det = float(np.sum(np.log(np.abs(np.diagonal(factors[0])))))
        self._covariance = GrowingSquare(linalg.lu_solve(factors, matrix))
