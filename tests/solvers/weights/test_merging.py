import numpy as np
import pytest
from scipy import linalg

from bayespoint.solvers.weights.belief import Belief
from bayespoint.solvers.weights.merging import merge

SHIFT = np.array([0.5, -1.0])


def random_beliefs(rng, n_outputs, full):
    n = 3 * n_outputs
    found = []
    for _ in range(2):
        root = rng.standard_normal((n, n))
        precision = root @ root.T + np.eye(n) if full else rng.uniform(0.5, 2, n)
        found.append(Belief(precision, rng.standard_normal(n)))
    return found


def log_density(belief, w):
    precision = belief.precision if belief.is_full else np.diag(belief.precision)
    return belief.shift @ w - 0.5 * w @ precision @ w


@pytest.mark.parametrize("n_outputs", [1, 3])
def test_densities_multiply_at_the_same_outputs(rng, n_outputs):
    mine, theirs = random_beliefs(rng, n_outputs, True)
    merged = merge(mine, theirs, SHIFT, n_outputs)
    for _ in range(5):
        w = rng.standard_normal((n_outputs, 3))
        there = w.copy()
        there[:, 2] += w[:, :2] @ SHIFT  # the outputs at the other center
        expected = log_density(mine, w.ravel()) + log_density(theirs, there.ravel())
        assert log_density(merged, w.ravel()) == pytest.approx(expected)


@pytest.mark.parametrize("n_outputs", [1, 3])
def test_independent_weights_get_the_exact_mean(rng, n_outputs):
    mine, theirs = random_beliefs(rng, n_outputs, False)
    exact = merge(
        Belief(np.diag(mine.precision), mine.shift),
        Belief(np.diag(theirs.precision), theirs.shift),
        SHIFT,
        n_outputs,
    )
    merged = merge(mine, theirs, SHIFT, n_outputs)
    np.testing.assert_allclose(merged.mean(), exact.mean())
    np.testing.assert_allclose(merged.precision, np.diagonal(exact.precision))
    linalg.cholesky(exact.precision)


def test_one_center_needs_no_approximation(rng):
    mine, theirs = random_beliefs(rng, 2, False)
    for found, expected in zip(merge(mine, theirs, 0 * SHIFT, 2), mine.times(theirs), strict=True):
        np.testing.assert_array_equal(found, expected)
