"""The choice of gamma by the bound, in benchmarks/adaptive_gamma.py: what it computes."""

import sys
from pathlib import Path

import numpy as np
import pytest
from sklearn.metrics.pairwise import rbf_kernel

sys.path.append(str(Path(__file__).parents[1] / "benchmarks"))

import adaptive_gamma


@pytest.fixture(scope="module")
def overlapping():
    """Return 100 points of two Gaussians in ten dimensions, and their labels."""
    rng = np.random.default_rng(0)
    y = np.repeat([-1, 1], 50)
    return rng.standard_normal((100, 10)) + 0.4 * y[:, None], y


def test_bound_and_slacks_by_hand(overlapping):
    X, y = overlapping
    model, bound, slacks = adaptive_gamma.measures(X, y, sigma=2.0)
    K = rbf_kernel(X, gamma=1 / 8)
    alpha = np.zeros(100)
    alpha[model.support_] = np.abs(model.dual_coef_[0])
    without_own = y * (K @ (alpha * y)) - alpha
    assert bound == np.mean(without_own <= 0)
    assert slacks == pytest.approx(np.maximum(1 - without_own, 0).sum(), rel=1e-6)
    assert bound <= slacks / 100  # each error without its own share has a slack of at least one


@pytest.mark.filterwarnings("ignore")
def test_the_bound_can_be_zero_where_errors_are_many(overlapping):
    """The reason why gamma is not chosen by it."""
    X, y = overlapping
    rng = np.random.default_rng(1)
    y_new = np.repeat([-1, 1], 500)
    X_new = rng.standard_normal((1000, 10)) + 0.4 * y_new[:, None]
    found = [adaptive_gamma.measures(X, y, sigma) for sigma in (1.0, 1.4, 2.0, 2.8, 4.0)]
    errors = [np.mean(model.predict(X_new) != y_new) for model, *_ in found]
    smallest = min(range(5), key=lambda k: found[k][1:])
    assert found[smallest][1] < 0.02
    assert errors[smallest] > 0.1
    assert errors[smallest] > min(errors)
