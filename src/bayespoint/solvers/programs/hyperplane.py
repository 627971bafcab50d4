"""Hyperplanes of largest margin in the distance l1, l2, linf or lq (004, sec. 1.1.4)."""

from __future__ import annotations

from typing import NamedTuple

import highspy
import numpy as np
from scipy import sparse
from sklearn.svm import SVC

from .highs import NotSeparableError as NotSeparableError
from .highs import NotSolvedError, add_constraints, new_highs, run_for_hyperplane
from .norm_margin import fit_in_norm

# The distance of a point from a hyperplane is its output over the length of the normal
# vector in the conjugate norm (Mangasarian 1997; 004, eqs. 1.20 to 1.22).
CONJUGATE_NORMS: dict[str, float] = {"l1": np.inf, "l2": 2, "linf": 1}
# Precision of the outputs of libsvm; with less than 1e-8 it may never stop.
_SVC_TOLERANCE = 1e-6
# A multiplier this close to a bound, in units of the largest one, is at the bound.
_BOUND_TOLERANCE = 1e-6
# Objectives are equal up to rounding if they differ by this share.
_OBJECTIVE_ROUNDING = 1e-12


class Hyperplane(NamedTuple):
    """{x : coef @ x + intercept = 0}, its margin, and the objective that was minimized."""

    coef: np.ndarray
    intercept: float
    margin: float
    objective: float


def conjugate_norm(distance: str | float) -> float:
    """Return p with 1 / p + 1 / q = 1 for the distance lq."""
    if isinstance(distance, str):
        return CONJUGATE_NORMS[distance]
    return float(distance) / (float(distance) - 1)


def fit_hyperplane(
    X, signs: np.ndarray, distance: str | float, C: float, fit_intercept: bool, weight: np.ndarray
):
    """Minimize the length of the normal vector plus C times the weighted sum of the slacks.

    Parameters
    ----------
    X : {array, sparse matrix} of shape (n, n_features)
        Points.
    signs : ndarray of shape (n,)
        -1.0 and +1.0.
    distance : {"l1", "l2", "linf"} or float
        Distance of a point from a hyperplane; a number q > 1 means lq. The length of the normal
        vector is its conjugate norm, for "l2" half the square of this norm.
    C : float
        Price of slacks; np.inf allows none.
    fit_intercept : bool
        Whether to fit a threshold; without it the hyperplane goes through the origin.
    weight : ndarray of shape (n,)
        Positive weights of the slacks.

    Returns
    -------
    Hyperplane
        Scaled so that points at the margin have outputs -1 and 1.

    Raises
    ------
    NotSeparableError
        If no slacks are allowed, but the classes cannot be separated without them.
    """
    # Tolerances are absolute, so features are measured in units of the largest value.
    unit = float(abs(X).max()) or 1.0
    if distance == "l2":
        solver = _hard_l2 if np.isinf(C) else _soft_l2
        coef, intercept = solver(X / unit, signs, C * unit**2 * weight, fit_intercept)
    elif isinstance(distance, str):
        prices = C * unit * weight
        coef, intercept = _linear_program(X / unit, signs, distance, prices, fit_intercept)
    else:
        norm, prices = conjugate_norm(distance), C * unit * weight
        coef, intercept = fit_in_norm(X / unit, signs, norm, prices, fit_intercept)
    coef = coef / unit
    length = float(np.linalg.norm(coef, conjugate_norm(distance)))
    slacks = weight @ np.maximum(1 - signs * (X @ coef + intercept), 0.0)
    cost = length**2 / 2 if distance == "l2" else length
    objective = cost if np.isinf(C) else cost + C * slacks
    return Hyperplane(coef, intercept, 1 / length if length else np.inf, float(objective))


def _linear_program(X, signs, distance, prices, fit_intercept) -> tuple[np.ndarray, float]:
    """Solve the dual program: a variable for each point, a constraint for each feature.

    Maximize sum(b) with 0 <= b <= prices such that the vector sum_i b_i y_i x_i has a length of at
    most one, in the norm of the distance. The dual values of the constraints are the normal
    vector.
    """
    n_points, n_features = X.shape
    highs = new_highs()
    highs.setOptionValue("presolve", "choose")
    highs.addVars(n_points, np.zeros(n_points), prices)
    highs.changeColsCost(n_points, np.arange(n_points, dtype=np.int32), np.full(n_points, -1.0))
    blocks = [sparse.csr_matrix(X).multiply(signs[:, None]).T]
    size = 1.0
    if distance == "l1":
        # The vector is the difference of two nonnegative vectors, whose sum is its length.
        highs.addVars(2 * n_features, np.zeros(2 * n_features), np.full(2 * n_features, np.inf))
        blocks += [-sparse.eye(n_features), sparse.eye(n_features)]
        size = 0.0
    add_constraints(highs, sparse.hstack(blocks), -size, size)
    if distance == "l1":
        parts = np.concatenate([np.zeros(n_points), np.ones(2 * n_features)])
        add_constraints(highs, parts[None], -np.inf, 1.0)
    if fit_intercept:
        add_constraints(highs, signs[None], 0.0, 0.0)
    multipliers = -np.array(run_for_hyperplane(highs).row_dual)
    return multipliers[:n_features], multipliers[-1] if fit_intercept else 0.0


def _soft_l2(X, signs, prices, fit_intercept) -> tuple[np.ndarray, float]:
    """Solve the quadratic program with slacks by libsvm; HiGHS gives up on many of these."""
    if not fit_intercept:
        # libsvm always fits a threshold, but it is zero for points symmetric about zero.
        stack = sparse.vstack if sparse.issparse(X) else np.vstack
        X, signs, prices = stack([X, -X]), np.append(signs, -signs), np.tile(prices / 2, 2)
    # libsvm's tolerance is absolute, so its C should not be hidden in the weights.
    C = float(prices.mean())
    model = SVC(kernel="linear", C=C, tol=_SVC_TOLERANCE).fit(X, signs, prices / C)
    coef, intercept = _refine(X, signs, prices, model)
    return coef, intercept if fit_intercept else 0.0


def _refine(X, signs, prices, model: SVC) -> tuple[np.ndarray, float]:
    """Return the exact minimum, if libsvm is right about the points that are at the margin.

    Points beyond the margin have multiplier zero, points within it their price. The points at
    the margin have output -1 or 1: a linear system for their multipliers and the threshold.
    """
    coef = model.coef_.toarray() if sparse.issparse(model.coef_) else model.coef_
    found = coef[0], float(model.intercept_[0])
    multipliers = np.zeros(len(signs))
    multipliers[model.support_] = np.abs(np.ravel(_dense(model.dual_coef_)))
    near = _BOUND_TOLERANCE * prices
    inside = multipliers >= prices - near
    margin = np.flatnonzero((multipliers > near) & ~inside)
    at_margin, fixed = _dense(X[margin]), np.where(inside, signs * prices, 0.0)
    start, ones = X.T @ fixed, np.ones((len(margin), 1))
    system = np.block([[at_margin @ at_margin.T, ones], [ones.T, np.zeros((1, 1))]])
    right = np.append(signs[margin] - at_margin @ start, -fixed.sum())
    *signed, intercept = np.linalg.lstsq(system, right, rcond=None)[0]
    exact = start + at_margin.T @ np.array(signed), float(intercept)

    def objective(coef, intercept):
        slacks = np.maximum(1 - signs * (X @ coef + intercept), 0.0)
        return coef @ coef / 2 + prices @ slacks

    limit = objective(*found) * (1 + _OBJECTIVE_ROUNDING)
    return exact if objective(*exact) <= limit else found


def _dense(matrix) -> np.ndarray:
    return matrix.toarray() if sparse.issparse(matrix) else np.asarray(matrix)


def _hard_l2(X, signs, prices, fit_intercept) -> tuple[np.ndarray, float]:
    """Solve the quadratic program without slacks, for which libsvm would not terminate."""
    n_features = X.shape[1]
    n_columns = n_features + bool(fit_intercept)
    highs = new_highs()
    highs.addVars(n_columns, np.full(n_columns, -np.inf), np.full(n_columns, np.inf))
    signed = sparse.csr_matrix(X).multiply(signs[:, None])
    if fit_intercept:
        signed = sparse.hstack([signed, signs[:, None]])
    add_constraints(highs, signed, 1.0, np.inf)
    hessian = highspy.HighsHessian()
    hessian.dim_ = n_columns
    hessian.format_ = highspy.HessianFormat.kTriangular
    hessian.start_ = np.minimum(np.arange(n_columns + 1), n_features)
    hessian.index_ = np.arange(n_features)
    hessian.value_ = np.ones(n_features)
    highs.passHessian(hessian)
    try:
        values = np.array(run_for_hyperplane(highs).col_value)
    except NotSolvedError:  # where many points are at the same distance
        return fit_in_norm(X, signs, 2.0, prices, fit_intercept)
    return values[:n_features], float(values[-1]) if fit_intercept else 0.0
