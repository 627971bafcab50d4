"""Expectation propagation for w ~ N(0, .), P(y = 1 | x, w) = Phi(<w, x> / noise)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import linalg, sparse

from .ep import likelihood

# Rows of which products with the covariance are held at once.
BLOCK = 4096
# Full covariance: the share of each update that is made, but the first, and by what it is
# multiplied where updates swing.
DAMPING = 0.9
CALMING = 0.8


class Belief(NamedTuple):
    """A Gaussian by its natural parameters, exp(<shift, w> - <w, precision w> / 2).

    `precision` is a matrix, or its diagonal where weights are independent.
    """

    precision: np.ndarray
    shift: np.ndarray

    @property
    def is_full(self) -> bool:
        """Tell whether weights may be correlated."""
        return self.precision.ndim == 2

    def mean(self) -> np.ndarray:
        """Return the mean of the weights."""
        if self.is_full:
            return linalg.cho_solve(linalg.cho_factor(self.precision), self.shift)
        return self.shift / self.precision

    def covariance(self) -> np.ndarray:
        """Return the covariance, or the variances where weights are independent."""
        if self.is_full:
            return linalg.cho_solve(linalg.cho_factor(self.precision), np.eye(len(self.shift)))
        return 1 / self.precision

    def scatter(self, noise: np.ndarray) -> np.ndarray:
        """Return standard normal vectors, one a row, with its covariance instead."""
        if self.is_full:
            upper = linalg.cholesky(self.precision)
            return linalg.solve_triangular(upper, noise.T).T
        return noise / np.sqrt(self.precision)

    def log_integral(self) -> float:
        """Return the logarithm of its integral, but for a constant of the dimension."""
        if self.is_full:
            lower = linalg.cholesky(self.precision, lower=True)
            half = linalg.solve_triangular(lower, self.shift, lower=True)
            return float(0.5 * half @ half - np.sum(np.log(np.diagonal(lower))))
        return float(0.5 * np.sum(self.shift**2 / self.precision - np.log(self.precision)))


class Fit(NamedTuple):
    """The posterior of a training set, and what is known about it."""

    belief: Belief
    log_evidence: float
    change: float  # in the last sweep, in standard deviations
    n_iter: int


def fit_full(X, y, weight, prior: Belief, noise: float, max_iter: int, tol: float) -> Fit:
    """Update the sites of all rows at once; weights may be correlated.

    Parameters
    ----------
    X : {array, CSR} of shape (n, d)
        Points, in blocks of which the covariance is applied: O(n d^2) a sweep.
    y : array of shape (n,)
        Labels, +1 and -1.
    weight : array of shape (n,)
        How often each row counts.
    prior : Belief
        With a matrix of precisions; one weight more than features is the intercept.
    noise : float
        Variance of the noise on outputs.
    max_iter, tol : int, float
        Stop after so many sweeps, or when moments match to this, in standard deviations.
    """
    precision, shift = np.zeros(len(y)), np.zeros(len(y))
    removed = np.minimum(weight, 1.0)  # one of a row that counts more than once
    belief, damping, change, n_iter = prior, DAMPING, np.inf, 0
    while change > tol and n_iter < max_iter:
        mean, variance = outputs(X, belief)
        V = variance / (1 - removed * precision * variance)
        M = mean - V * removed * (shift - precision * mean)
        log_z, a, scaled, _, total = likelihood(y, M, V + noise, 0.0)
        b = np.maximum(scaled, 0.0) / total
        # What cavity and site give, and what cavity and likelihood give.
        q = 1 / (1 + precision * V)
        mismatch = np.maximum(
            np.abs(a - q * (shift - precision * M)) * np.sqrt(V), np.abs(1 - V * b - q)
        )
        before, change = change, float(mismatch.max(initial=0.0))
        damping *= CALMING if change > before else 1.0
        exponent = q * (shift**2 * V + 2 * shift * M - precision * M**2) / 2
        constants = np.sum(weight * (log_z - 0.5 * np.log(q) - exponent))
        log_evidence = constants + belief.log_integral() - prior.log_integral()
        left = np.maximum(1 - V * b, np.finfo(float).eps)
        share = damping if n_iter else 1.0  # nothing is to be kept of no sites
        precision += share * (b / left - precision)
        shift += share * ((a + M * b) / left - shift)
        belief = _collect(X, weight * precision, weight * shift, prior)
        n_iter += 1
    return Fit(belief, float(log_evidence), change, n_iter)


def fit_factorized(
    X, y, weight, prior: Belief, noise: float, max_iter: int, tol: float, rng: np.random.Generator
) -> Fit:
    """Update the sites of one row after the other; weights are independent.

    Parameters
    ----------
    X : CSR of shape (n, d)
        Points: O(nnz) a sweep, and 16 bytes for each entry.
    y, weight, prior, noise, max_iter, tol
        As in `fit_full`, but the precisions of the prior are a vector, and it stops when
        the mean change of a weight is below `tol`.
    rng : numpy.random.Generator
        Gives the order of the rows: sorted by label, they would mislead the first sweep.
    """
    from .._jit.linear import log_constants, sweep

    precision, shift = prior.precision.copy(), prior.shift.copy()
    n_sites = X.nnz + len(y) * (len(shift) - X.shape[1])
    sites = np.zeros(n_sites), np.zeros(n_sites)
    order = rng.permutation(len(y))
    rows = (X.data, X.indices, X.indptr)
    change, n_iter = np.inf, 0
    while change > tol and n_iter < max_iter:
        before = shift / precision
        sweep(*rows, order, y, weight, noise, precision, shift, *sites)
        change = np.sqrt(np.mean((shift / precision - before) ** 2 * precision))
        n_iter += 1
    belief = Belief(precision, shift)
    constants = log_constants(*rows, y, weight, noise, precision, shift, *sites)
    log_evidence = constants + belief.log_integral() - prior.log_integral()
    return Fit(belief, float(log_evidence), float(change), n_iter)


def outputs(X, belief: Belief) -> tuple[np.ndarray, np.ndarray]:
    """Return mean and variance of <w, x> for every row, with the intercept if there is one."""
    d = X.shape[1]
    weights = belief.mean()
    mean = X @ weights[:d] + weights[d:].sum()
    if not belief.is_full:
        variances = belief.covariance()
        squared = X.power(2) if sparse.issparse(X) else X**2
        return mean, squared @ variances[:d] + variances[d:].sum()
    lower = linalg.cholesky(belief.precision, lower=True)
    variance = np.empty(X.shape[0])
    for rows, block in _blocks(X, len(weights)):
        half = linalg.solve_triangular(lower, block.T, lower=True, check_finite=False)
        variance[rows] = np.einsum("ij,ij->j", half, half)
    return mean, variance


def _collect(X, precision, shift, prior: Belief) -> Belief:
    """Return the product of prior and sites."""
    total = prior.precision.copy()
    sums = prior.shift.copy()
    for rows, block in _blocks(X, len(sums)):
        scaled = block * np.sqrt(precision[rows])[:, None]
        total += scaled.T @ scaled
        sums += shift[rows] @ block
    return Belief(total, sums)


def _blocks(X, n_weights: int):
    """Yield dense blocks of rows, with a one for the intercept if there is one."""
    for start in range(0, X.shape[0], BLOCK):
        rows = slice(start, min(start + BLOCK, X.shape[0]))
        block = X[rows].toarray() if sparse.issparse(X) else X[rows]
        if n_weights > block.shape[1]:
            block = np.column_stack([block, np.ones(len(block))])
        yield rows, block
