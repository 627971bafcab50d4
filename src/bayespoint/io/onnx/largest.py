"""The probability that a correlated normal score is the largest: `_jit/largest.py` as a graph.

The compiled loop takes one row and one class after the other. This graph computes all undecided
cases (a "problem" is one class of one row) at once, each until it is done. The steps are the same,
and so are the values.
"""

from __future__ import annotations

import math

import numpy as np
from scipy import linalg

from ..._jit import largest as rule
from ...classifiers.linear import LinearBayesPointClassifier
from ...solvers.weights.multiclass.class_weights import basis
from ...solvers.weights.multiclass.probabilities import MIN_PROBABILITY, PANEL_NODES
from .graph import Value
from .probabilities import log_normal_tail, normal_tail

# An ONNX loop needs a limit; this one is never reached.
_MAX_PANELS = 100_000
# A polynomial of this degree gives Phi with an error of 6e-11.
_PHI_DEGREE = 14
# Stands for infinity where an infinite number would lead to NaN.
_NEAR_INFINITY = 1e300
# Phi of this output is one.
_CERTAIN_OUTPUT = 40.0


def largest(model: LinearBayesPointClassifier, X: Value) -> Value:
    """Return the probabilities of all classes, shape (rows, n_classes)."""
    mean, covariance = _scores(model, X)
    noise, n_classes = float(model.noise_variance), len(model.classes_)
    others = ~np.eye(n_classes, dtype=bool)
    squares = (covariance * np.eye(n_classes)).sum(2)
    spread = squares + squares.transpose(0, 2, 1) - (covariance + covariance)
    variance = spread.at_least(0.0) + 2 * noise
    deviation = variance.sqrt()
    difference = mean.expand(2) - mean.expand(1)
    # Class c (second axis) against class j (third axis).
    z = difference.equal(0.0).where(0.0, difference / deviation)
    bound = X.graph.op("Where", others, z, _NEAR_INFINITY).min(2, keepdims=False)
    log_p = _log_phi(bound)
    undecided = (z < rule.MAX_UNDECIDED_Z) & (variance > 0.0) & others
    count = undecided.double().sum(2, keepdims=False)
    # With fewer than two rivals, or almost no chance to win, the bound is the answer.
    remaining = (count > 1.5) & (log_p >= math.log(rule.MIN_INTEGRAL))
    where = remaining.op("NonZero").transpose(1, 0)  # (problem, 2): its row and class
    z, undecided, deviation, known = (
        value.op("GatherND", where) for value in (z, undecided, deviation, log_p)
    )
    correlation = _correlation(covariance, squares, noise, where, undecided, deviation)
    factor = _one_factor(correlation, z, undecided, n_classes)
    found = _integrate(z, factor, undecided)
    found = (found > rule.MIN_INTEGRAL).where(found.log(), known)
    log_p = log_p.op("ScatterND", where, found)
    return _never_certain(log_p.op("Softmax", axis=1))


def _scores(model: LinearBayesPointClassifier, X: Value) -> tuple[Value, Value]:
    """Return the mean and covariance of the scores of all classes, for each row."""
    belief, d, n_classes = model._belief(), model.n_features_in_, len(model.classes_)
    X, means = X - model.center_, model._means()
    mean = X @ np.ascontiguousarray(means[:, :d].T) + means[:, d:].sum(axis=1)
    H = basis(n_classes)
    if not belief.is_full:
        variances = belief.covariance().reshape(n_classes - 1, -1)
        variance = (X * X) @ np.ascontiguousarray(variances[:, :d].T) + variances[:, d:].sum(axis=1)
        return mean, (variance.expand(1) * H) @ np.ascontiguousarray(H.T)
    n = len(belief.shift)
    lower = linalg.cholesky(belief.precision, lower=True)
    inverse = linalg.solve_triangular(lower, np.eye(n), lower=True)
    by_output = inverse.reshape(n, n_classes - 1, -1)
    factor = np.einsum("ck,mkd->dcm", H, by_output)
    # Transpose the factor, not the product: onnxruntime would fuse the two, and its version 1.20
    # cannot compute that in double precision.
    left, right = (_products(X, f, d) for f in (factor, factor.transpose(0, 2, 1)))
    return mean, left @ right


def _products(X: Value, factor: np.ndarray, d: int) -> Value:
    """Return a matrix for each row, the sum of x_k factor[k]; after d features the intercept."""
    flat = factor.reshape(len(factor), -1)
    products = X @ flat[:d] + flat[d:].sum(axis=0)
    return products.op("Reshape", np.array([0, *factor.shape[1:]]))


def _correlation(
    covariance: Value, squares: Value, noise: float, where: Value, undecided: Value, dev: Value
) -> Value:
    """Return the correlation of s_c - s_j and s_c - s_k, (problem, j, k); 0 where decided."""
    row = where.columns([0]).squeeze(1)
    own = covariance.op("GatherND", where)
    square = squares.op("GatherND", where).expand(1)
    shared = square - own.expand(2) - own.expand(1) + covariance.op("Gather", row, axis=0) + noise
    correlation = (shared / (dev.expand(2) * dev.expand(1))).op("Clip", -1.0, 1.0)
    both = undecided.expand(2) & undecided.expand(1)
    return both.where(correlation, 0.0)


def _one_factor(correlation: Value, z: Value, undecided: Value, n_classes: int) -> Value:
    """Return loadings a with a_j a_k close to the correlations, best for undecided classes."""
    graph, used = z.graph, undecided.double()
    order = used.op("CumSum", np.int64(1))
    count = used.sum(1)
    above = np.triu(np.ones((n_classes, n_classes)), 1)
    single = (correlation * above).sum(2).sum(1, keepdims=False)  # if there is one pair
    root = abs(single).sqrt().at_most(rule.MAX_LOADING)
    signed = (single < 0.0).where(-root, root)
    pair = (order > 1.5).where(signed, root)
    if n_classes == 3:
        return pair
    # The squared slope of log Phi(z).
    weight = undecided.where((z * z * -1 - 2 * _log_phi(z)).exp(), 0.0)
    only_two = count < 2.5

    def search_round(_: Value, a: Value, found: Value):
        """Update all coordinates once, in problems that still change."""
        here = _rows(~found)
        old, used, w, R = (
            v.op("Gather", here, axis=0) for v in (a, undecided, weight, correlation)
        )
        new = old
        for j in range(n_classes):
            weighted = w * new * (np.arange(n_classes) != j).astype(float)
            numerator = (weighted * R.op("Gather", np.int64(j), axis=1)).sum(1)
            denominator = (weighted * new).sum(1)
            best = (denominator > 0.0).where(numerator / denominator, 0.0)
            best = best.op("Clip", -rule.MAX_LOADING, rule.MAX_LOADING)
            new = (used & (np.arange(n_classes) == j)).where(best, new)
        found = _put(found, here, abs(new - old).max(1) < rule.LOADING_TOL)
        return _any(~found), _put(a, here, new), found

    a, _ = graph.loop(rule.MAX_SEARCH_ROUNDS, search_round, used * math.sqrt(0.5), only_two)
    return only_two.where(pair, a)


def _integrate(z: Value, a: Value, undecided: Value) -> Value:
    """Return the integral of phi(t) prod_j Phi((z_j + a_j t) / sqrt(1 - a_j^2)) over t."""
    points, weights = np.polynomial.legendre.leggauss(PANEL_NODES)
    points, weights = (points + 1) / 2, weights / 2
    steepness = 1 / (1 - a * a).sqrt()
    slope = abs(a) * steepness
    half = -(z / a)  # t at which a factor is one half
    steep = undecided & (slope > 1.0)
    near, panel = rule.INTEGRATION_LIMIT / slope, rule.PANEL_DEVIATIONS / slope
    worst = undecided.where(z, _NEAR_INFINITY).op("ArgMin", axis=1, keepdims=1)
    lowest = z.op("GatherElements", worst, axis=1).at_most(0.0)
    middle = -(a.op("GatherElements", worst, axis=1) * lowest)
    # Decided comparisons have a factor of one.
    level = undecided.where(z * steepness, _CERTAIN_OUTPUT)
    tilt = undecided.where(a * steepness, 0.0)
    given = (level, tilt, slope, half, steep, near, panel)

    def add_panel(direction: float):
        def step(_: Value, t: Value, total: Value, done: Value):
            """Add a panel to the integrals that need one."""
            here = _rows(~done)
            start, so_far, *parts = (v.op("Gather", here, axis=0) for v in (t, total, *given))
            level, tilt, slope, half, steep, near, panel = parts
            ahead = (half - start) * direction
            limit = (ahead > -near).where(panel, _NEAR_INFINITY)
            limit = (ahead > (rule.INTEGRATION_LIMIT + 1e-3) / slope).where(ahead - near, limit)
            limit = steep.where(limit, _NEAR_INFINITY).min(1)
            width = limit.at_most(rule.PANEL_DEVIATIONS).at_most(
                rule.INTEGRATION_LIMIT - start * direction
            )
            x = start + width * (direction * points)
            factors = _phi(level.expand(1) + tilt.expand(1) * x.expand(2))
            product = factors.op("ReduceProd", np.array([2]), keepdims=0)
            density = (product * (x * x * -0.5).exp() * weights).sum(1)
            so_far = so_far + width * density
            end = start + width * direction
            ends = (density < rule.PANEL_RTOL * so_far) | (
                end * direction >= rule.INTEGRATION_LIMIT
            )
            done = _put(done, here, ends)
            return _any(~done), _put(t, here, end), _put(total, here, so_far), done

        return step

    total, never = middle * 0.0, middle > _NEAR_INFINITY
    for direction in (1.0, -1.0):
        _, total, _ = z.graph.loop(_MAX_PANELS, add_panel(direction), middle, total, never)
    return total.squeeze(1) / math.sqrt(2 * math.pi)


def _rows(flags: Value) -> Value:
    """Return the indices of rows where a column is true."""
    return flags.op("NonZero").op("Gather", np.int64(0), axis=0)


def _put(values: Value, rows: Value, new: Value) -> Value:
    """Return a matrix with new values in some rows."""
    return values.op("ScatterND", rows.expand(1), new)


def _any(flags: Value) -> Value:
    """Return whether any entry of a column is true."""
    return flags.double().op("ReduceSum", keepdims=0) > 0.0


def _phi(z: Value) -> Value:
    tail = normal_tail(abs(z), _PHI_DEGREE)
    return (z > 0.0).where(1 - tail, tail)


def _log_phi(z: Value) -> Value:
    a = abs(z)
    return (z > 0.0).where((1 - normal_tail(a)).log(), log_normal_tail(a))


def _never_certain(p: Value) -> Value:
    p = p.at_least(float(MIN_PROBABILITY))
    return (p / p.sum(1)).at_most(1 - float(MIN_PROBABILITY))
