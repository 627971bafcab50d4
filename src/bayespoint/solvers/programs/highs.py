"""HiGHS: options and constraints that all programs share."""

from __future__ import annotations

import highspy
import numpy as np
from scipy import sparse

# HiGHS satisfies bounds and constraints to this precision, for outputs and multipliers near one.
HIGHS_TOLERANCE = 1e-9

# HiGHS reports one of these if the classes cannot be separated.
_NOT_SEPARABLE_STATUSES = (
    highspy.HighsModelStatus.kInfeasible,
    highspy.HighsModelStatus.kUnbounded,
    highspy.HighsModelStatus.kUnboundedOrInfeasible,
)


class NotSolvedError(RuntimeError):
    """HiGHS has stopped without a solution."""


class NotSeparableError(ValueError):
    """No hyperplane has all training points on their correct side."""


def new_highs() -> highspy.Highs:
    """Return HiGHS with the options that all programs share.

    Presolve does nothing for dense constraints. Scaling is off because it made programs with
    tiny values harder: with it HiGHS gave up on more of them.
    """
    highs = highspy.Highs()
    options: dict[str, bool | int | float | str] = {
        "output_flag": False,
        "parallel": "off",
        "presolve": "off",
        "simplex_scale_strategy": 0,
        "primal_feasibility_tolerance": HIGHS_TOLERANCE,
        "dual_feasibility_tolerance": HIGHS_TOLERANCE,
    }
    for name, value in options.items():
        highs.setOptionValue(name, value)
    return highs


def add_constraints(highs: highspy.Highs, matrix, lower: float, upper: float) -> None:
    """Add a constraint for each row of a matrix, all with the same bounds."""
    matrix = sparse.csr_matrix(matrix)
    n = matrix.shape[0]
    pointers, columns = matrix.indptr[:-1].astype(np.int32), matrix.indices.astype(np.int32)
    bounds = np.full(n, lower), np.full(n, upper)
    highs.addRows(n, *bounds, matrix.nnz, pointers, columns, matrix.data)


def run_for_hyperplane(highs: highspy.Highs) -> highspy.HighsSolution:
    """Return the solution, or raise an error that says why there is none."""
    highs.run()
    status = highs.getModelStatus()
    if status in _NOT_SEPARABLE_STATUSES:
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
