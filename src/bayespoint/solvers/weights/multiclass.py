"""Expectation propagation for scores <w_c, x> + noise, of which the largest wins."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import linalg, sparse, special

from .linear import Belief, Fit, InBlocks, Rows, mixed_order

# Numbers that a block of rows may need at once.
BLOCK = 4_000_000
# Rounds of comparisons within a row, at most; they go on where the last sweep ended.
ROUNDS = 5
# Noise is at least this share of the variance of outputs before training: labels that
# contradict each other would make weights infinitely precise.
LEAST_NOISE = 1e-12
# Nodes of a panel of the quadrature: errors are below 1e-8 for 26 classes.
NODES = 12
# Probabilities are not smaller, as for two classes.
LEAST = np.finfo(float).epsneg
# Decisions of less probable classes come from logarithms.
SMALL = 1e-6


def some_noise(noise: float, X, variances: np.ndarray) -> float:
    """Return the noise, or hardly any where there is none, by the variance of the weights."""
    if noise > 0 or X.shape[0] == 0:
        return noise
    squared = X.power(2) if sparse.issparse(X) else X**2
    return LEAST_NOISE * float(np.mean(squared @ variances[: X.shape[1]]))


def basis(n_classes: int) -> np.ndarray:
    """Return orthonormal columns that sum to zero: what outputs are in scores of classes.

    Output k compares class k + 1 with the mean of the classes before it.
    """
    k = np.arange(1, n_classes)
    columns = np.where(np.arange(n_classes)[:, None] < k, -1.0, 0.0)
    columns[k, k - 1] = k
    return columns / np.sqrt(k * (k + 1.0))


class FullRows(InBlocks):
    """Rows whose sites are updated a block at a time; weights may be correlated.

    A sweep takes O(n K^2 d (d + K)) with K = n_classes - 1 outputs. Beliefs are about the
    weights of the first output, then those of the second, and so on.

    Parameters
    ----------
    X : {array, CSR} of shape (n, d)
        Points. One weight more than features for each output is the intercept.
    target : int array of shape (n,)
        Their classes, by number.
    weight : array of shape (n,)
        How often each row counts.
    noise : float
        Variance of the noise on the score of each class; see `some_noise`.
    n_classes : int
        Number of classes, whether or not there are points of all of them.
    blocks : list of slices or arrays of indices
        The rows of each block.
    """

    def __init__(self, X, target, weight, noise: float, n_classes: int, blocks: list):
        super().__init__(
            [
                _Block(
                    X[b], target[b].copy(), weight[b].copy(), *_no_sites(len(target[b]), n_classes)
                )
                for b in blocks
            ]
        )
        self.noise, self.n_classes = noise, n_classes

    def log_constant(self, belief: Belief) -> float:
        """Return their part of the log evidence."""
        return sum(self._refine(block, belief, 0.0) for block in self.blocks)

    def _update(self, block: _Block, belief: Belief, share: float) -> Belief:
        self.score += self._refine(block, belief, share)
        return _collect(*block, self.noise, belief.nothing())

    def _refine(self, block: _Block, belief: Belief, share: float) -> float:
        """Make a share of the updates; return the part of the log evidence before them."""
        from ..._jit.multiclass import refine

        total = 0.0
        for rows, mean, covariance in _differences(block.X, block.target, self.n_classes, belief):
            _, target, weight, tau, nu = block
            given = target[rows], weight[rows], self.noise, share, ROUNDS, tau[rows], nu[rows]
            total += refine(mean, covariance, *given)
        return total


def _no_sites(*shape: int) -> tuple[np.ndarray, np.ndarray]:
    return np.zeros(shape), np.zeros(shape)


class _Block(NamedTuple):
    """Some rows and the sites of their comparisons."""

    X: Any
    target: np.ndarray
    weight: np.ndarray
    tau: np.ndarray
    nu: np.ndarray


class FactorizedRows(Rows):
    """Rows whose sites are updated one after the other; weights are independent.

    16 (n_classes - 1) bytes for each entry that is not zero.

    Parameters
    ----------
    X : CSR of shape (n, d)
        Points. One weight more than features for each output is the intercept.
    target, weight, noise, n_classes
        As for `FullRows`.
    intercept : bool
        Whether there is one.
    """

    def __init__(self, X, target, weight, noise: float, n_classes: int, intercept: bool):
        H = basis(n_classes)
        self.X, self.n_classes, self.intercept = X, n_classes, intercept
        self.entries = X.data, X.indices, X.indptr
        self.problem = target, weight, noise, H[:, None] - H
        self.order = mixed_order(len(target))
        self.sites: tuple[np.ndarray, ...] = ()
        self.score = 0.0

    def sweep(self, belief: Belief, share: float) -> Belief:
        """Make a share of the update of the sites, and return their product."""
        from ..._jit.multiclass import sweep

        product = self.product
        if product is None:
            product = self._new_sites(belief)
            belief = belief.times(product)
        precision, shift = (p.reshape(self.n_classes - 1, -1).T.copy() for p in belief)
        before = [sites.copy() for sites in self.sites] if share < 1 else []
        data = [*self.entries, self.order, *self.problem, precision, shift, *self.sites, ROUNDS]
        self.score = sweep(*data)
        for old, new in zip(before, self.sites, strict=False):
            new[:] = old + share * (new - old)
        after = Belief(precision.T.ravel(), shift.T.ravel())
        self.product = product.times(after.over(belief).to_the(share))
        return self.product

    def learn_once(self, prior: Belief) -> Fit:
        """Sweep over the rows once; every row is predicted before it is learned."""
        belief = prior.times(self.sweep(prior, 1.0))
        return Fit(belief, prior, self.score, np.inf, 1)

    def log_constant(self, belief: Belief) -> float:
        """Return their part of the log evidence."""
        from ..._jit.multiclass import log_constants

        state = [p.reshape(self.n_classes - 1, -1).T.copy() for p in belief]
        return log_constants(*[*self.entries, *self.problem, *state, *self.sites, ROUNDS])

    def _new_sites(self, belief: Belief) -> Belief:
        """Make sites, and return their product.

        A wide intercept would swing with the first rows it sees, and take long to come back.
        So it begins with about the precision that all rows will give it.
        """
        X, (target, weight, noise, _), n_outputs = self.X, self.problem, self.n_classes - 1
        n_sites = X.nnz + len(target) * self.intercept
        sites = _no_sites(n_sites, n_outputs)
        comparisons = np.zeros((2, len(target), self.n_classes))
        self.sites = *sites, *comparisons
        product = belief.nothing()
        if self.intercept:
            variances = belief.covariance().reshape(n_outputs, -1)
            variance = noise + X.power(2) @ variances[:, :-1].T
            sites[0][X.nnz :] = 1 / (self.n_classes * variance)
            product.precision.reshape(n_outputs, -1)[:, -1] = weight @ sites[0][X.nnz :]
        return product


def outputs(X, belief: Belief, n_classes: int) -> tuple[np.ndarray, np.ndarray]:
    """Return mean and variance of the score <w_c, x> of each class, (n, n_classes) each."""
    mean, variance = np.empty((X.shape[0], n_classes)), np.empty((X.shape[0], n_classes))
    for rows, center, covariance in scores(X, belief, n_classes):
        mean[rows], variance[rows] = center, np.diagonal(covariance, axis1=1, axis2=2)
    return mean, variance


def scores(X, belief: Belief, n_classes: int):
    """Yield blocks of rows, and mean and covariance of the scores of their classes."""
    weights = class_means(belief, n_classes)
    if belief.is_full:
        for rows, block, factors in _factors(X, n_classes, belief):
            yield rows, block @ weights.T, factors @ factors.transpose(0, 2, 1)
        return
    H = basis(n_classes)
    d = X.shape[1]
    variances = belief.covariance().reshape(n_classes - 1, -1)
    size = max(BLOCK // n_classes**2, 1)
    for start in range(0, X.shape[0], size):
        rows = slice(start, min(start + size, X.shape[0]))
        part = X[rows]
        squared = part.power(2) if sparse.issparse(part) else part**2
        variance = squared @ variances[:, :d].T + variances[:, d:].sum(axis=1)
        mean = part @ weights[:, :d].T + weights[:, d:].sum(axis=1)
        yield rows, mean, (variance[:, None] * H) @ H.T


def class_means(belief: Belief, n_classes: int) -> np.ndarray:
    """Return the means of the weights of each class, one class a row."""
    return basis(n_classes) @ belief.mean().reshape(n_classes - 1, -1)


def class_variances(belief: Belief, n_classes: int) -> np.ndarray:
    """Return the variances of the weights of each class, one class a row."""
    H = basis(n_classes)
    covariance = belief.covariance()
    if not belief.is_full:
        return H**2 @ covariance.reshape(n_classes - 1, -1)
    n_weights = len(covariance) // (n_classes - 1)
    blocks = covariance.reshape(n_classes - 1, n_weights, n_classes - 1, n_weights)
    return np.einsum("ck,kili,cl->ci", H, blocks, H)


def log_probabilities(X, belief: Belief, n_classes: int, noise: float) -> np.ndarray:
    """Return the logarithm of the probability of each class, (n, n_classes).

    Notes
    -----
    The probability that the score of a class is larger than all others is that of an
    orthant; its correlations are represented by one common factor, which leaves a
    one-dimensional integral: exact for up to three classes, and in general where the
    probability depends on a single other class. See `_jit/largest.py`.
    """
    from ..._jit import largest

    nodes, weights = np.polynomial.legendre.leggauss(NODES)
    rule = (nodes + 1) / 2, weights / 2
    result = np.empty((X.shape[0], n_classes))
    for rows, mean, covariance in scores(X, belief, n_classes):
        result[rows] = largest.log_probabilities(mean, covariance, noise, *rule)
    return result


def probabilities(log_probability: np.ndarray) -> np.ndarray:
    """Return probabilities that are never zero or one."""
    probability = np.clip(np.exp(log_probability), LEAST, None)
    return np.minimum(probability / probability.sum(axis=1, keepdims=True), 1 - LEAST)


def decisions(log_probability: np.ndarray) -> np.ndarray:
    """Return the output of each class against all others, in standard deviations.

    Phi(decision) is the probability of the class: what two classes have as mean over
    deviation. The largest decision is that of the largest probability, which is not always
    that of the largest mean score; far outside, where probabilities round to 0 or 1, it
    still tells.
    """
    probability = probabilities(log_probability)
    # Equal probabilities have equal decisions; only small ones come from logarithms.
    log_p = np.where(probability > SMALL, np.log(probability), log_probability)
    winner = np.argmax(probability, axis=1)
    others = log_p.copy()
    np.put_along_axis(others, winner[:, None], -np.inf, axis=1)
    found = special.ndtri_exp(log_p)
    rest = -special.ndtri_exp(np.minimum(special.logsumexp(others, axis=1), 0.0))
    won = np.take_along_axis(probability, winner[:, None], axis=1)[:, 0] > 0.5
    rows = np.flatnonzero(won)
    found[rows, winner[rows]] = rest[rows]
    return found


def _blocks(X, n_weights: int, size: int):
    """Yield dense blocks of rows, with a one for the intercept if there is one."""
    for start in range(0, X.shape[0], size):
        rows = slice(start, min(start + size, X.shape[0]))
        yield rows, _dense(X[rows], n_weights)


def _dense(X, n_weights: int) -> np.ndarray:
    X = X.toarray() if sparse.issparse(X) else X
    return X if n_weights == X.shape[1] else np.column_stack([X, np.ones(len(X))])


def _factors(X, n_classes: int, belief: Belief):
    """Yield blocks of rows, dense, and F with covariances F F' of their scores."""
    n = len(belief.shift)
    n_weights = n // (n_classes - 1)
    lower = linalg.cholesky(belief.precision, lower=True)
    inverse = linalg.solve_triangular(lower, np.eye(n), lower=True)
    by_output = inverse.reshape(n, n_classes - 1, n_weights)
    factor = np.einsum("ck,mkd->dcm", basis(n_classes), by_output).reshape(n_weights, -1)
    for rows, block in _blocks(X, n_weights, max(BLOCK // (n_classes * n), 1)):
        yield rows, block, (block @ factor).reshape(len(block), n_classes, n)


def _differences(X, target, n_classes: int, belief: Belief):
    """Yield blocks of rows, mean and covariance of their class's score less all others."""
    weights = class_means(belief, n_classes)
    for rows, block, factors in _factors(X, n_classes, belief):
        own = np.arange(len(block)), target[rows]
        scores = block @ weights.T
        mean = scores[own][:, None] - scores
        less = factors[own][:, None] - factors
        yield rows, mean, less @ less.transpose(0, 2, 1)


def _collect(X, target, weight, tau, nu, noise: float, prior: Belief) -> Belief:
    """Return the product of prior and sites, from which the noise is integrated out."""
    n_classes = tau.shape[1]
    H = basis(n_classes)
    n_weights = len(prior.shift) // (n_classes - 1)
    factor = 1 + noise * tau
    pi, eta = tau / factor, nu / factor
    kappa = noise / (1 + noise * pi.sum(axis=1, keepdims=True))
    eta -= kappa * eta.sum(axis=1, keepdims=True) * pi
    precision, shift = prior.precision.copy(), prior.shift.reshape(n_classes - 1, -1).copy()
    for c in range(n_classes):
        own = np.flatnonzero(target == c)
        A = H[c] - H
        outer = (A[:, :, None] * A[:, None]).reshape(n_classes, -1)
        for part, block in _blocks(X[own], n_weights, max(BLOCK // len(prior.shift), 1)):
            rows = own[part]
            p, w = pi[rows], weight[rows, None]
            shift += ((eta[rows] * w) @ A).T @ block
            squares = ((p * w) @ outer).reshape(len(block), n_classes - 1, -1)
            along = (p * np.sqrt(w * kappa[rows])) @ A
            squares -= along[:, :, None] * along[:, None]
            for k in range(n_classes - 1):
                at = slice(k * n_weights, (k + 1) * n_weights)
                scaled = squares[:, k, : k + 1, None] * block[:, None]
                precision[at, : at.stop] += block.T @ scaled.reshape(len(block), -1)
    lower = np.tril(precision)
    return Belief(lower + np.tril(lower, -1).T, shift.ravel())
