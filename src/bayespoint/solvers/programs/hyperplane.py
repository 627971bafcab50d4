"""Hyperplanes of largest margin, measured by the distance l1, l2 or linf (004, sec. 1.1.4)."""

from __future__ import annotations

from typing import NamedTuple

import highspy
import numpy as np
from scipy import sparse
from sklearn.svm import SVC

from .linear_program import NotSolvedError, new_highs

# The distance of a point from a hyperplane is its output over the length of the normal
# vector in the conjugate norm (Mangasarian 1997; 004, eqs. 1.20 to 1.22).
CONJUGATE = {"l1": np.inf, "l2": 2, "linf": 1}
# Precision of libsvm, in outputs; the objective is then precise to about its square.
_SVC_TOLERANCE = 1e-6

_NO_BOUND = (
    highspy.HighsModelStatus.kInfeasible,
    highspy.HighsModelStatus.kUnbounded,
    highspy.HighsModelStatus.kUnboundedOrInfeasible,
)


class NotSeparableError(ValueError):
    """No hyperplane has all training points on the right side."""


class Hyperplane(NamedTuple):
    """{x : coef @ x + intercept = 0}, and what was minimized."""

    coef: np.ndarray
    intercept: float
    margin: float
    objective: float


def fit_hyperplane(X, signs: np.ndarray, distance: str, C: float, fit_intercept: bool):
    """Minimize the length of the normal vector plus C times the sum of the slacks.

    Parameters
    ----------
    X : {array, sparse matrix} of shape (n, n_features)
        Points.
    signs : ndarray of shape (n,)
        -1.0 and +1.0.
    distance : {"l1", "l2", "linf"}
        How far a point is from a hyperplane. The length of the normal vector is measured
        by the conjugate norm, for "l2" by half its square.
    C : float
        Price of slacks; np.inf allows none.
    fit_intercept : bool
        Whether the hyperplane need not go through the origin.

    Returns
    -------
    Hyperplane
        Scaled so that points at the margin have outputs -1 and 1.

    Raises
    ------
    NotSeparableError
        If no slacks are allowed, but needed.
    """
    # Tolerances are absolute: features are measured in units of the largest.
    unit = float(abs(X).max()) or 1.0
    if distance == "l2":
        solver = _hard_l2 if np.isinf(C) else _soft_l2
        coef, intercept = solver(X / unit, signs, C * unit**2, fit_intercept)
    else:
        coef, intercept = _linear_program(X / unit, signs, distance, C * unit, fit_intercept)
    coef = coef / unit
    length = float(np.linalg.norm(coef, CONJUGATE[distance]))
    slacks = np.maximum(1 - signs * (X @ coef + intercept), 0.0).sum()
    cost = length**2 / 2 if distance == "l2" else length
    objective = cost if np.isinf(C) else cost + C * slacks
    return Hyperplane(coef, intercept, 1 / length if length else np.inf, float(objective))


def _linear_program(X, signs, distance, C, fit_intercept) -> tuple[np.ndarray, float]:
    """Solve the dual program: a column a point, a row a feature.

    Maximize sum(b) with 0 <= b <= C so that the vector sum_i b_i y_i x_i has a length of at
    most one, in the norm of the distance. The multipliers of its rows are the normal
    vector.
    """
    n_points, n_features = X.shape
    highs = new_highs()
    highs.setOptionValue("presolve", "choose")
    highs.addVars(n_points, np.zeros(n_points), np.full(n_points, C))
    highs.changeColsCost(n_points, np.arange(n_points, dtype=np.int32), np.full(n_points, -1.0))
    rows = [sparse.csr_matrix(X).multiply(signs[:, None]).T]
    size = 1.0
    if distance == "l1":
        # The vector is the difference of two that are not negative; their sum is its length.
        highs.addVars(2 * n_features, np.zeros(2 * n_features), np.full(2 * n_features, np.inf))
        rows += [-sparse.eye(n_features), sparse.eye(n_features)]
        size = 0.0
    _add_rows(highs, sparse.hstack(rows), -size, size)
    if distance == "l1":
        parts = np.concatenate([np.zeros(n_points), np.ones(2 * n_features)])
        _add_rows(highs, parts[None], -np.inf, 1.0)
    if fit_intercept:
        _add_rows(highs, signs[None], 0.0, 0.0)
    multipliers = -np.array(_run(highs).row_dual)
    return multipliers[:n_features], multipliers[-1] if fit_intercept else 0.0


def _soft_l2(X, signs, C, fit_intercept) -> tuple[np.ndarray, float]:
    """Solve the quadratic program with slacks by libsvm; HiGHS gives up on many of them."""
    if not fit_intercept:
        # libsvm always has a threshold, but none on points that are symmetric about zero.
        stack = sparse.vstack if sparse.issparse(X) else np.vstack
        X, signs, C = stack([X, -X]), np.concatenate([signs, -signs]), C / 2
    model = SVC(kernel="linear", C=C, tol=_SVC_TOLERANCE).fit(X, signs)
    coef = model.coef_.toarray() if sparse.issparse(model.coef_) else model.coef_
    return coef[0], float(model.intercept_[0]) if fit_intercept else 0.0


def _hard_l2(X, signs, C, fit_intercept) -> tuple[np.ndarray, float]:
    """Solve the quadratic program without slacks; there libsvm would not come to an end."""
    n_features = X.shape[1]
    n_columns = n_features + bool(fit_intercept)
    highs = new_highs()
    highs.addVars(n_columns, np.full(n_columns, -np.inf), np.full(n_columns, np.inf))
    rows = sparse.csr_matrix(X).multiply(signs[:, None])
    if fit_intercept:
        rows = sparse.hstack([rows, signs[:, None]])
    _add_rows(highs, rows, 1.0, np.inf)
    hessian = highspy.HighsHessian()
    hessian.dim_ = n_columns
    hessian.format_ = highspy.HessianFormat.kTriangular
    hessian.start_ = np.minimum(np.arange(n_columns + 1), n_features)
    hessian.index_ = np.arange(n_features)
    hessian.value_ = np.ones(n_features)
    highs.passHessian(hessian)
    values = np.array(_run(highs).col_value)
    return values[:n_features], float(values[-1]) if fit_intercept else 0.0


def _add_rows(highs: highspy.Highs, rows, lower: float, upper: float) -> None:
    """Add rows with the same bounds."""
    rows = sparse.csr_matrix(rows)
    n = rows.shape[0]
    pointers, columns = rows.indptr[:-1].astype(np.int32), rows.indices.astype(np.int32)
    bounds = np.full(n, lower), np.full(n, upper)
    highs.addRows(n, *bounds, rows.nnz, pointers, columns, rows.data)


def _run(highs: highspy.Highs) -> highspy.HighsSolution:
    """Return the solution, or say why there is none."""
    highs.run()
    status = highs.getModelStatus()
    if status in _NO_BOUND:
        raise NotSeparableError(
            "No hyperplane separates the classes, but C=np.inf allows no slack. Choose a finite C."
        )
    if status != highspy.HighsModelStatus.kOptimal:
        raise NotSolvedError(
            "HiGHS has stopped without a hyperplane: "
            f"{highs.modelStatusToString(status).lower()}. Scale the features, for example with "
            "StandardScaler, or choose another C."
        )
    return highs.getSolution()
