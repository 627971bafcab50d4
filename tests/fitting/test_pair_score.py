"""The score of a kernel by pairs: the same as of its matrix, and its slopes."""

import numpy as np
import pytest

from bayespoint.fitting.pair_score import PairScore
from bayespoint.fitting.power_link import PowerLink, class_outputs, likelihood
from bayespoint.solvers.regression import leave_one_out

LINK = PowerLink(2.0, 0.1)
N_PAIRS = 12 * 11 // 2


def each(pairs, by_pair):
    """Return the derivative by each pair: a sum of one."""
    found = np.zeros(N_PAIRS)
    found[pairs] = by_pair
    return found


def problem(n=12, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    matrix = 3 * np.exp(-np.sum((X[:, None] - X[None]) ** 2, axis=2))
    points = PairScore(np.arange(n) % 3, rng.uniform(0.5, 2, n), 3)
    return points, matrix


def test_pairs_stand_for_the_matrix():
    points, matrix = problem()
    pairs = matrix[points.first, points.second]
    np.testing.assert_array_equal(matrix.take(points.places), pairs)
    found = leave_one_out(matrix, points.codes, points.weight)
    expected = likelihood(class_outputs(found.outputs), LINK, points.known)[0]
    assert points.value(pairs, 3.0, LINK) == pytest.approx(expected, rel=1e-12)
    assert points.evaluate(pairs, 3.0, LINK, each)[0] == points.value(pairs, 3.0, LINK)


def test_slopes_are_those_of_differences():
    points, matrix = problem()
    pairs, step = matrix[points.first, points.second], 1e-5
    _, slopes = points.evaluate(pairs, 3.0, LINK, each)

    def difference(move, diagonal):
        up, down = (points.value(pairs + s * move, 3.0 + s * diagonal, LINK) for s in (1, -1))
        return (up - down) / (2 * step)

    numeric = [difference(move, 0.0) for move in step * np.eye(len(pairs))]
    # Central differences of step h are off by h^2 times a third derivative, and by rounding / h.
    np.testing.assert_allclose(slopes.over_pairs, numeric, rtol=1e-5, atol=1e-6)
    assert slopes.on_diagonal == pytest.approx(difference(0.0, step), rel=1e-5)
