"""LinearBayesPointClassifier and LinearMarginSVC: products with weights."""

from __future__ import annotations

import numpy as np
from scipy import linalg

from ...classifiers.linear import LinearBayesPointClassifier
from ...classifiers.linear_margin import LinearMarginSVC
from .graph import Value


def two_class_output(model: LinearBayesPointClassifier, X: Value) -> Value:
    """Return the output of the second class, mean over deviation, shape (rows, 1)."""
    X, d = X - model.center_, model.n_features_in_
    means = model._means()
    mean = X @ np.ascontiguousarray(means[:, :d].T) + means[:, d:].sum(axis=1)
    deviation = (_variance(model, X) + float(model.noise_variance)).sqrt()
    return mean / deviation.equal(0.0).where(1.0, deviation)


def _variance(model: LinearBayesPointClassifier, X: Value) -> Value:
    """Return the variance of the output at points measured from the center."""
    belief, d = model._belief(), model.n_features_in_
    if not belief.is_full:
        variances = belief.covariance()
        return (X * X) @ variances[:d, None] + float(variances[d:].sum())
    lower = linalg.cholesky(belief.precision, lower=True)
    root = linalg.solve_triangular(lower, np.eye(len(lower)), lower=True)
    parts = X @ np.ascontiguousarray(root[:, :d].T) + root[:, d:].sum(axis=1)
    return parts.op("ReduceSumSquare", np.array([1]), keepdims=1)


def linear_margin(model: LinearMarginSVC, X: Value) -> Value:
    """Return the outputs of the hyperplanes."""
    return X @ np.ascontiguousarray(model.coef_.T) + model.intercept_
