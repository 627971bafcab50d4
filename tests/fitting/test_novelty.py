"""Novelty against dense solves, and left-out points against points that are really left out."""

import numpy as np
import pytest
from scipy import sparse

from bayespoint.fitting import novelty
from bayespoint.fitting.novelty import MIN_NOISE, KnownPoints, learn_surroundings
from bayespoint.fitting.novelty_scale import novelty_scale
from bayespoint.geometry.kernels import Kernel

# Condition numbers are below 40 / MIN_NOISE = 4e4: dense solves lose at most five of 16 digits.
TOLERANCE = 1e-10
SOFTNESS = 0.05
KERNELS = {
    "rbf": Kernel("rbf", gamma=0.4, constant=0.7, origin=0.0),
    "laplacian": Kernel("laplacian", gamma=0.3),
    "linear": Kernel("linear", constant=1.0, origin=0.0),
    "poly": Kernel("poly", gamma=0.3, degree=2, coef0=1.0),
}


def rows(n, seed=0):
    rng = np.random.default_rng(seed)
    target = np.arange(n) % 3
    return rng.standard_normal((n, 4)) + target[:, None], target


def slow_strangeness(kernel, X, points, target, weight, softness, prior=None):
    """Return the least variance over classes, by a dense solve for each row."""
    kernel = kernel._replace(constant=0.0)
    if prior is None:
        prior = np.average(np.diagonal(kernel(points, points)), weights=weight)
    found = []
    for x in X:
        least = np.inf
        for c in set(target):
            here = points[target == c]
            noise = max(softness, MIN_NOISE) * prior / weight[target == c]
            gram, k = kernel(here, here) + np.diag(noise), kernel(x[None], here)[0]
            at_x = kernel(x[None], x[None])[0, 0]
            least = min(least, at_x - k @ np.linalg.solve(gram, k))
        least /= prior
        bounded = kernel.name in ("rbf", "laplacian")
        found.append(least if bounded else least / (1 + least))
    return np.array(found)


def slow_left_out(kernel, points, target, weight, softness):
    """Return the same for each training point, without one copy of it."""
    prior = np.average(kernel._replace(constant=0.0).lengths(points) ** 2, weights=weight)
    found = []
    for i in range(len(points)):
        left = weight.copy()
        left[i] -= min(weight[i], 1.0)
        kept = left > 0
        given = points[i : i + 1], points[kept], target[kept], left[kept]
        found.append(slow_strangeness(kernel, *given, softness, prior)[0])
    return np.array(found)


@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize("softness", [SOFTNESS, 0.0])
def test_agrees_with_dense_solves(name, softness):
    kernel, (points, target) = KERNELS[name], rows(24)
    weight = np.where(np.arange(24) % 5 == 0, 2.5, np.where(np.arange(24) % 5 == 1, 0.5, 1.0))
    found = learn_surroundings(kernel, KnownPoints(points, target, weight), softness)
    left_out = slow_left_out(kernel, points, target, weight, softness)
    scale = novelty_scale(left_out, weight)
    assert np.allclose(found.scale.levels, scale.levels, rtol=0, atol=TOLERANCE)
    X = rows(10, seed=1)[0] * np.linspace(0.5, 3, 10)[:, None]
    strange = slow_strangeness(kernel, X, points, target, weight, softness)
    # Novelty rises by at most 1 / (24 * gap) between two levels.
    steepest = np.max(np.diff(scale.shares) / np.diff(scale.levels))
    limit = TOLERANCE * max(steepest, 1.0) * 10
    assert np.allclose(found.novelty(X), scale.novelty(strange), rtol=0, atol=limit)


def test_a_broken_leave_one_out_is_noticed():
    """Points that stay where they are left out look more familiar by far."""
    kernel, (points, target) = KERNELS["rbf"], rows(24)
    weight = np.ones(24)
    left_out = slow_left_out(kernel, points, target, weight, SOFTNESS)
    stayed = slow_strangeness(kernel, points, points, target, weight, SOFTNESS)
    assert np.all(left_out - stayed > 1e3 * TOLERANCE)


def test_equal_points_are_the_same_as_a_weight():
    points, target = rows(12)
    twice = KnownPoints(np.vstack([points, points]), np.tile(target, 2), np.ones(24))
    weighted = KnownPoints(points, target, np.full(12, 2.0))
    X = rows(9, seed=2)[0]
    found = [learn_surroundings(KERNELS["rbf"], k, SOFTNESS).novelty(X) for k in (twice, weighted)]
    assert np.allclose(*found, rtol=0, atol=1e-8)


def test_order_blocks_and_sparse_points_do_not_matter(monkeypatch):
    points, target = rows(30)
    kernel, X = KERNELS["rbf"], rows(20, seed=3)[0]
    found = learn_surroundings(kernel, KnownPoints(points, target, np.ones(30)), SOFTNESS)
    expected = found.novelty(X)
    order = np.random.default_rng(0).permutation(30)
    mixed = KnownPoints(points[order], target[order], np.ones(30))
    assert np.allclose(learn_surroundings(kernel, mixed, SOFTNESS).novelty(X), expected, atol=1e-8)
    csr = KnownPoints(sparse.csr_array(points), target, np.ones(30))
    of_sparse = learn_surroundings(kernel, csr, SOFTNESS)
    assert np.allclose(of_sparse.novelty(sparse.csr_array(X)), expected, atol=1e-8)
    monkeypatch.setattr(novelty, "MAX_BLOCK_VALUES", 35)
    assert np.allclose(found.novelty(X), expected, atol=1e-8)
    assert found.novelty(X[:0]).shape == (0,)


@pytest.mark.parametrize("name", KERNELS)
def test_grows_with_the_distance_and_stays_below_one(name):
    points, target = rows(30)
    found = learn_surroundings(KERNELS[name], KnownPoints(points, target, np.ones(30)), SOFTNESS)
    far = found.novelty(np.ones((1, 4)) * np.array([4.0, 6.0, 10.0, 100.0])[:, None])
    assert np.all(np.diff(far) >= 0)
    assert far[-1] > 1 - 1 / (2 * 30)  # beyond all training points
    assert np.all((far >= 0) & (far <= 1))


def test_indefinite_kernels_are_refused():
    kernel = Kernel(lambda A, B: -np.exp(-((A[:, None] - B[None]) ** 2).sum(-1)))
    points, target = rows(9)
    with pytest.raises(ValueError, match=r"(positive definite)|(negative)"):
        learn_surroundings(kernel, KnownPoints(points, target, np.ones(9)), SOFTNESS)
