"""Moments of classes against those of all rows, and rows that are really left out."""

import numpy as np
import pytest
from scipy import sparse

from bayespoint.fitting import class_moments
from bayespoint.fitting.class_moments import (
    MAX_LEVELS,
    ClassDistances,
    ClassMoments,
    even_sample,
    fewer_levels,
    mixed_scale,
)
from bayespoint.fitting.novelty_scale import novelty_scale

UNIT = np.array([1.0, 0.5, 2.0])
# Sums of forty products of numbers up to ten, and a solve with condition numbers below 1e4.
TOLERANCE = 1e-10


def rows(n=40, seed=0):
    rng = np.random.default_rng(seed)
    target = rng.permutation(np.arange(n) % 3)
    return rng.standard_normal((n, 3)) * UNIT + target[:, None], target


def slow_strangeness(x, X, target, weight, full):
    """Return the squared distance from the nearest class mean, as a share."""
    spread, means = np.diag(UNIT**2), []
    for c in set(target):
        here, w = X[target == c], weight[target == c]
        means.append(np.average(here, axis=0, weights=w))
        spread = spread + ((here - means[-1]) * w[:, None]).T @ (here - means[-1])
    spread = spread if full else np.diag(np.diag(spread))
    covariance = spread / (weight.sum() + 1)
    squared = min((x - m) @ np.linalg.solve(covariance, x - m) for m in means)
    return squared / (squared + len(x))


@pytest.mark.parametrize("full", [True, False])
def test_distances_and_left_out_rows(full):
    X, target = rows()
    weight = np.where(np.arange(40) % 4 == 0, 2.5, np.where(np.arange(40) % 4 == 1, 0.5, 1.0))
    target[7], target[target == 2] = 2, 1  # a class of one row, and of weight one
    target[7], weight[7] = 2, 1.0
    distances = ClassDistances(ClassMoments.of_rows(X, target, weight, 3, full), UNIT)
    new = rows(10, seed=1)[0] * 2
    expected = [slow_strangeness(x, X, target, weight, full) for x in new]
    assert np.allclose(distances.strangeness(new), expected, rtol=0, atol=TOLERANCE)
    assert np.allclose(distances.strangeness(sparse.csr_array(new)), expected, atol=TOLERANCE)
    found = distances.left_out(X, target, weight)
    for i in range(40):
        left = weight.copy()
        left[i] -= min(weight[i], 1.0)
        kept = left > 0
        without = slow_strangeness(X[i], X[kept], target[kept], left[kept], full)
        assert found[i] == pytest.approx(without, rel=0, abs=TOLERANCE)
    stayed = distances.strangeness(X)
    assert np.abs(found - stayed).max() > 1e3 * TOLERANCE  # leaving out is noticed


@pytest.mark.parametrize("full", [True, False])
def test_moments_add_up_and_move(full):
    X, target = rows()
    weight = np.linspace(0.5, 2, 40)
    whole = ClassMoments.of_rows(X, target, weight, 3, full)
    parts = [
        ClassMoments.of_rows(X[h], target[h], weight[h], 3, full)
        for h in (slice(15), slice(15, None))
    ]
    joined = parts[0].plus(parts[1])
    shift = np.array([1.0, -2.0, 0.5])
    moved = whole.from_other_center(shift)
    again = ClassMoments.of_rows(X + shift, target, weight, 3, full)
    for one, other in ((joined, whole), (moved, again)):
        for a, b in zip(one, other, strict=True):
            assert np.allclose(a, b, rtol=0, atol=TOLERANCE)
    assert np.allclose(whole.times(0.5).totals, whole.totals / 2)


def test_features_without_a_unit_are_ignored():
    X, target = rows()
    unit = np.array([1.0, np.inf, 2.0])
    both = [
        ClassDistances(ClassMoments.of_rows(X[:, k], target, np.ones(40), 3, True), unit[k])
        for k in ([0, 1, 2], [0, 2])
    ]
    found = both[0].strangeness(X), both[1].strangeness(X[:, [0, 2]])
    assert np.allclose(*found, rtol=0, atol=TOLERANCE)


def test_a_sample_of_many_rows_keeps_the_total_weight(monkeypatch):
    monkeypatch.setattr(class_moments, "MAX_MOMENT_ROWS", 20)
    X, target = rows()
    moments = ClassMoments.of_rows(X, target, np.ones(40), 3, True)
    assert moments.totals.sum() == pytest.approx(40)
    some = even_sample(40, 20)
    assert np.allclose(moments.squares, 2 * X[some].T @ X[some])


def test_scales_are_mixed_and_thinned():
    rng = np.random.default_rng(0)
    a, b = rng.uniform(size=1000), rng.uniform(size=3000) ** 2
    scales = [novelty_scale(v, np.ones(len(v))) for v in (a, b)]
    found = mixed_scale(*scales, 0.75)
    whole = novelty_scale(np.concatenate([a, b]), np.ones(4000))
    assert len(found.levels) <= MAX_LEVELS
    grid = np.linspace(0, 1, 50)
    # Interpolation between levels of 1000 rows, and between one in 16 of all levels.
    assert np.abs(found.novelty(grid) - whole.novelty(grid)).max() < 1 / 1000 + 16 / 4000
    thin = fewer_levels(whole)
    assert (thin.levels[0], thin.levels[-1]) == (whole.levels[0], whole.levels[-1])
