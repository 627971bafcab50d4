"""Version spaces with and without hypotheses, and the largest margin by another method."""

import os

import numpy as np
import pytest
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import optimize

from bayespoint.geometry.gram import unit_gram
from bayespoint.geometry.version_space import VersionSpace

SEED = int(os.environ.get("BAYESPOINT_TEST_SEED", "0"))
EPS = np.finfo(float).eps
seeds = st.integers(0, 10**6)


def rng_of(seed=SEED):
    return np.random.default_rng(seed)


def linear_space(X, y, softness=0.0):
    X = np.asarray(X, dtype=float)
    return VersionSpace(unit_gram(X @ X.T, softness), np.asarray(y, dtype=float))


def rbf_space(X, y, gamma, softness=0.0):
    distances = np.sum((X[:, None] - X[None]) ** 2, axis=2)
    return VersionSpace(unit_gram(np.exp(-gamma * distances), softness), np.asarray(y, float))


def unit_rows(X):
    return X / np.linalg.norm(X, axis=1, keepdims=True)


def separable(seed, m=20, n_features=4, margin=0.01):
    """Return unit points labeled by a teacher, none of them close to its boundary."""
    rng = rng_of(seed)
    X, teacher = (
        unit_rows(rng.standard_normal((20 * m, n_features))),
        rng.standard_normal(n_features),
    )
    outputs = X @ (teacher / np.linalg.norm(teacher))
    chosen = np.flatnonzero(np.abs(outputs) > margin)[:m]
    return X[chosen], np.sign(outputs[chosen])


def largest_margin(walls):
    """Return the largest margin: the distance from the origin to the convex hull of the walls.

    Non-negative least squares finds the point of the hull closest to the origin. The length and
    the smallest margin of that point bound the result from both sides.
    """
    system = np.vstack([walls.T, np.ones(len(walls))])
    weights, _ = optimize.nnls(system, np.append(np.zeros(walls.shape[1]), 1.0))
    nearest = walls.T @ (weights / weights.sum())
    above = np.linalg.norm(nearest)
    below = (walls @ nearest).min() / above
    assert above - below <= 1e-10
    return below


def proof_residual(space, error):
    """Return |sum_i weights_i z_i| of a conflict; check that the weights form a mean."""
    assert np.all(error.weights >= 0)
    # Weights below 1e-9 are left out of the conflict, at most one per point.
    assert error.weights.sum() == pytest.approx(1, abs=1e-9 * len(space.signs))
    assert len(error.conflict) == len(error.weights) == len(set(error.conflict)) > 0
    return np.linalg.norm(error.weights @ space.walls[error.conflict])


@st.composite
def integer_problems(draw):
    """Return small integer points and arbitrary labels; points are often equal or dependent.

    Their geometry is exact: either a hypothesis separates them with a margin far above rounding,
    or none does.
    """
    shape = draw(st.tuples(st.integers(1, 8), st.integers(1, 3)))
    X = draw(hnp.arrays(np.int64, shape, elements=st.integers(-3, 3)))
    X[~np.any(X != 0, axis=1)] = 1
    y = draw(hnp.arrays(np.int64, shape[0], elements=st.sampled_from([-1, 1])))
    return X.astype(float), y.astype(float)
