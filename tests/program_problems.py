"""Linear programs of kernel machines, and their minimum found by SciPy."""

import numpy as np
from scipy.optimize import linprog

from bayespoint.solvers.programs.dual_program import Program


def noisy_program(rng, m=60, **changes):
    """Return the program of an rbf kernel and noisy labels."""
    X = rng.standard_normal((m, 3))
    signs = np.where(X[:, 0] * X[:, 1] + 0.3 * rng.standard_normal(m) > 0, 1.0, -1.0)
    matrix = np.exp(-0.5 * np.sum((X[:, None] - X) ** 2, axis=-1))
    return Program(matrix, signs, np.ones(m), **{"weight": np.ones(m), **changes})


PROGRAMS = {
    "adaptive": {},
    "adaptive, threshold": {"fit_intercept": True},
    "penalty": {"penalty": 0.5},
    "penalty, threshold": {"penalty": 0.5, "fit_intercept": True},
    "errors": {"n_errors": 12.0},
    "errors, threshold": {"n_errors": 12.0, "fit_intercept": True},
}


def objective(program, solution):
    """Return the objective of coefficients, a threshold and a margin from its definition."""
    signed = program.matrix * np.outer(program.signs, program.signs) - np.diag(program.diagonal)
    outputs = signed @ solution.coef + program.signs * solution.intercept
    slacks = program.weight @ np.maximum(solution.margin - outputs, 0.0)
    if program.n_errors is None:
        return slacks + program.penalty * solution.coef.sum()
    return slacks - program.n_errors * solution.margin


def minimum(program):
    """Return the minimum of the primal program: coefficients, slacks, threshold, margin."""
    m, signs = len(program.signs), program.signs
    signed = program.matrix * np.outer(signs, signs) - np.diag(program.diagonal)
    free = program.n_errors is not None
    columns = [signed, np.eye(m), signs[:, None] * program.fit_intercept, -np.ones((m, 1))]
    cost = np.concatenate([np.full(m, program.penalty), program.weight, [0.0], [0.0]])
    bounds = [(0, None)] * (2 * m) + [(None, None), (None, None) if free else (1, 1)]
    total = None
    if free:
        cost[-1] = -program.n_errors
        total = np.concatenate([np.ones(m), np.zeros(m + 2)])[None]
    return linprog(
        cost,
        A_ub=-np.hstack(columns),
        b_ub=np.zeros(m),
        A_eq=total,
        b_eq=[1.0] if free else None,
        bounds=bounds,
    ).fun
