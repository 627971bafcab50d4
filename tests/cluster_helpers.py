"""Data on a Dask cluster, and classifiers fitted to them."""

import numpy as np
import pytest

from bayespoint import LinearBayesPointClassifier

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")

COVARIANCES = ["full", "factorized"]


def exact(**parameters):
    """Return a classifier with a fixed prior that iterates until it converges."""
    given = {"prior_variance": 1.0, "tol": 1e-10, "max_iter": 10_000}
    return LinearBayesPointClassifier(**{**given, **parameters})


def chunks(X, y, n=4):
    size = -(-len(y) // n)
    return da.from_array(X, chunks=(size, X.shape[1])), da.from_array(y, chunks=size)


def delayed_parts(parts):
    """Return partitions that Dask can recompute."""
    return [dask.delayed(part) for part in parts]


def assert_same(model, other, limit=1e-8):
    deviation = np.sqrt(other.coef_variance_)
    np.testing.assert_allclose(model.coef_ / deviation, other.coef_ / deviation, atol=limit)
    np.testing.assert_allclose(model.intercept_, other.intercept_, atol=limit)
    np.testing.assert_allclose(model._precision, other._precision, rtol=limit, atol=limit)
    assert model.log_evidence_ == pytest.approx(other.log_evidence_, abs=1e3 * limit)
    assert model.n_samples_seen_ == pytest.approx(other.n_samples_seen_)
