"""Problems of more than two classes, and fits of their weights."""

import numpy as np
from scipy import sparse

from bayespoint.solvers.weights.belief import Belief
from bayespoint.solvers.weights.factorized_rows import FactorizedRows as BinaryFactorizedRows
from bayespoint.solvers.weights.full_rows import FullRows as BinaryFullRows
from bayespoint.solvers.weights.iterate import iterate
from bayespoint.solvers.weights.multiclass.class_weights import basis
from bayespoint.solvers.weights.multiclass.factorized_rows import FactorizedRows
from bayespoint.solvers.weights.multiclass.full_rows import FullRows
from bayespoint.solvers.weights.multiclass.scores import positive_noise
from bayespoint.solvers.weights.row_order import even_blocks

KINDS = ["full", "factorized"]


def problem(n_classes, n=40, d=3, seed=0, spread=0.5):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    scores = X @ rng.standard_normal((d, n_classes))
    y = np.argmax(scores + spread * rng.standard_normal(scores.shape), axis=1)
    y[:n_classes] = np.arange(n_classes)
    return X, y


def prior_of(n_weights, n_classes, kind, variance=0.7):
    precision = np.full(n_weights * (n_classes - 1), 1 / variance)
    return Belief(np.diag(precision) if kind == "full" else precision, 0 * precision)


def fit(kind, X, y, n_classes, prior=None, weight=None, noise=1.0, max_iter=3000, tol=1e-10):
    prior = prior_of(X.shape[1], n_classes, kind) if prior is None else prior
    weight = np.ones(len(y)) if weight is None else np.asarray(weight, dtype=float)
    noise = positive_noise(noise, X, prior.variances())
    rows = make_rows(kind, X, y, n_classes, prior, weight, noise)
    return iterate(rows, prior, max_iter, tol)


def make_rows(kind, X, y, n_classes, prior, weight, noise):
    if kind == "full":
        blocks = even_blocks(*X.shape)
        return FullRows(X, y, weight, noise, n_classes, blocks)
    intercept = len(prior.shift) > X.shape[1] * (n_classes - 1)
    return FactorizedRows(sparse.csr_array(X), y, weight, noise, n_classes, intercept)


def fit_binary(kind, X, y, prior, weight, noise, max_iter=3000, tol=1e-10):
    signs = 2.0 * y - 1
    if kind == "full":
        return iterate(
            BinaryFullRows(X, signs, weight, noise, even_blocks(*X.shape)), prior, max_iter, tol
        )
    intercept = len(prior.shift) > X.shape[1]
    rows = BinaryFactorizedRows(sparse.csr_array(X), signs, weight, noise, intercept)
    return iterate(rows, prior, max_iter, tol)


def random_scores(n_classes, rng, size=1.0):
    """Return the mean and covariance of scores that sum to zero."""
    H = basis(n_classes)
    L = H @ rng.standard_normal((n_classes - 1, n_classes - 1)) * size
    return H @ rng.standard_normal(n_classes - 1), L @ L.T


def comparisons(n_classes, c=0):
    """Return the matrix that subtracts all other scores from the score of class c."""
    return np.delete(np.eye(n_classes)[c] - np.eye(n_classes), c, axis=0)
