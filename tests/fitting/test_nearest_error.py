"""Errors of nearest neighbors, against a slow twin, and what they say about noise."""

import numpy as np
import pytest
from scipy import sparse

from bayespoint.fitting import nearest_error as module
from bayespoint.fitting.nearest_error import nearest_error
from bayespoint.fitting.task import TrainingSet
from bayespoint.geometry.kernels import Kernel

KERNELS = [
    Kernel("rbf", gamma=0.3),
    Kernel("poly", gamma=1.0, degree=3, coef0=1.0),
    Kernel("linear"),
]


def training_set(X, target, **more):
    signs = np.where(target == np.arange(target.max() + 1)[:, None], 1, -1)
    return TrainingSet(X, target, signs, "rbf", lambda *_: None, **more)


def slow_error(matrix, target):
    """Return the error over all points, one after the other."""
    cosine = matrix / np.sqrt(np.outer(np.diag(matrix), np.diag(matrix)))
    wrong = 0
    for i in range(len(target)):
        others = [j for j in range(len(target)) if j != i]
        wrong += target[max(others, key=lambda j, i=i: cosine[i, j])] != target[i]
    return wrong / len(target)


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.name)
def test_agrees_with_a_slow_twin(kernel, rng, monkeypatch):
    monkeypatch.setattr("bayespoint.geometry.unit_kernel.PANEL_POINTS", 64)  # several panels
    X, target = rng.standard_normal((200, 3)), rng.integers(0, 4, 200)
    matrix = kernel(X, X)
    expected = slow_error(matrix, target)
    assert nearest_error(training_set(X, target), kernel) == pytest.approx(expected)
    sparse_X = sparse.csr_array(X)
    assert nearest_error(training_set(sparse_X, target), kernel) == pytest.approx(expected)
    given = Kernel("precomputed")
    assert nearest_error(training_set(matrix, target), given) == pytest.approx(expected)
    assert nearest_error(training_set(X, np.roll(target, 1)), kernel) != pytest.approx(expected)


def test_weights_count(rng):
    X, target = rng.standard_normal((100, 2)), np.arange(100) % 2
    right = np.array([1.0 if k == 0 else 1e-9 for k in target])
    one = nearest_error(training_set(X, target, weight=right), KERNELS[0])
    alone = [
        nearest_error(training_set(X, target, weight=1.0 * (target == c)), KERNELS[0])
        for c in (0, 1)
    ]
    assert one == pytest.approx(alone[0], abs=1e-8)
    assert alone[0] != alone[1]


def test_flipped_labels_disagree_about_twice_as_often(rng, monkeypatch):
    """Of two neighbors, one or the other is flipped; if both, they rarely agree."""
    monkeypatch.setattr(module, "MAX_ASKED_POINTS", 4000)
    centers = 10 * rng.standard_normal((10, 5))
    target = rng.integers(0, 10, 4000)
    X = centers[target] + rng.standard_normal((4000, 5))
    assert nearest_error(training_set(X, target), KERNELS[0]) < 0.01
    flipped = np.where(rng.random(4000) < 0.05, (target + rng.integers(1, 10, 4000)) % 10, target)
    error = nearest_error(training_set(X, flipped), KERNELS[0])
    expected = 2 * 0.05 * 0.95 + 0.05**2 * 8 / 9
    # Neighbors come in pairs, so there are at least half as many independent ones.
    deviation = np.sqrt(expected * (1 - expected) / 2000)
    assert error == pytest.approx(expected, abs=4 * deviation + 0.01)
