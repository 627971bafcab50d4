"""Problems and a plain reference solution for the tests of margin machines."""

import numpy as np
from scipy.optimize import linprog

# HiGHS satisfies constraints to 1e-9. That changes an objective by 1e-9 times the sum of the
# coefficients, which is ten to a hundred here.
OBJECTIVE_TOLERANCE = 1e-8


def noisy(rng, m=120, d=3):
    X = rng.standard_normal((m, d))
    return X, np.where(X[:, 0] * X[:, 1] + 0.5 * X[:, 2] + 0.3 * rng.standard_normal(m) > 0, 1, -1)


def reference(K, y, *, adaptivity=0.0, penalty=0.0, nu=None, intercept=False):
    """Solve the program of the paper: coefficients, slacks, threshold, margin."""
    m = len(y)
    rows = np.outer(y, y) * K - adaptivity * np.diag(np.diag(K))
    columns = [rows, np.eye(m), y[:, None] * float(intercept)]
    cost = np.concatenate([np.full(m, penalty), np.ones(m), [0.0]])
    bounds = [(0, None)] * (2 * m) + [(None, None)]
    if nu is None:
        return linprog(cost, A_ub=-np.hstack(columns), b_ub=-np.ones(m), bounds=bounds).fun
    columns.append(-np.ones((m, 1)))
    cost = np.concatenate([cost, [-nu * m]])
    total = np.concatenate([np.ones(m), np.zeros(m + 2)])[None]
    bounds = [*bounds, (None, None)]
    return linprog(
        cost, A_ub=-np.hstack(columns), b_ub=np.zeros(m), A_eq=total, b_eq=[1.0], bounds=bounds
    ).fun


def coefficients(model, y):
    """Return unsigned coefficients of all training points, for two classes."""
    coef = np.zeros(len(y))
    coef[model.support_] = model.dual_coef_[0] * y[model.support_]
    return coef
