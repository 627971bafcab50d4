"""Problems and rows that tests of the linear classifier's weights share."""

import numpy as np

from bayespoint import LinearBayesPointClassifier
from bayespoint.solvers.weights.full_rows import FullRows
from bayespoint.solvers.weights.row_order import even_blocks


def rare_categories(n=3000, seed=0):
    """Return rows with rare categories, for which plain sweeps converge slowly."""
    rng = np.random.default_rng(seed)
    category = np.minimum(rng.geometric(0.25, n), 12) - 1
    X = np.column_stack([rng.standard_normal((n, 3)), np.eye(12)[category] * 20])
    wanted = X[:, 0] + rng.standard_normal(n) + np.where(category > 6, 5.0, 0.0)
    return X, np.where(wanted > 0, 1.0, -1.0)


def full_rows(X, y):
    return FullRows(X, y, np.ones(len(y)), 1.0, even_blocks(*X.shape))


def classifier(**parameters):
    return LinearBayesPointClassifier(**parameters)


def exact(**parameters):
    """Return a classifier with a fixed prior that iterates until it converges."""
    given = {"prior_variance": 1.0, "fit_intercept": False, "tol": 1e-10, "max_iter": 10_000}
    return classifier(**{**given, **parameters})
