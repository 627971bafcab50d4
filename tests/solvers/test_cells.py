"""Cells: their sizes and centers, and which cell a point belongs to."""

import numpy as np
import pytest
from scipy import sparse

from bayespoint.solvers import EP, Cells
from bayespoint.solvers.cells import MAX_CELL_RATIO, MIN_CELL_RATIO, cell_centers, nearest
from helpers import rbf_space


def crowded(rng, n=2000):
    """Return points that mostly crowd in one place; a few are far away."""
    return np.vstack([0.1 * rng.standard_normal((n - 5, 3)), 50 + rng.standard_normal((5, 3))])


def sizes(X, centers):
    return np.bincount(nearest(X, centers), minlength=len(centers))


@pytest.mark.parametrize("n_points", [20, 100, 700])
def test_cells_are_neither_too_large_nor_too_small(rng, n_points):
    X = crowded(rng)
    size = sizes(X, cell_centers(X, n_points))
    assert size.sum() == len(X)
    assert size.max() <= MAX_CELL_RATIO * n_points
    assert size.min() >= MIN_CELL_RATIO * n_points
    assert len(size) >= len(X) / (MAX_CELL_RATIO * n_points)


def test_points_belong_to_the_nearest_center(rng):
    X, centers = rng.standard_normal((50, 4)), rng.standard_normal((6, 4))
    distances = np.sum((X[:, None] - centers) ** 2, axis=-1)
    np.testing.assert_array_equal(nearest(X, centers), distances.argmin(axis=1))
    np.testing.assert_array_equal(nearest(X.astype(np.float32), centers[:1]), 0)


def test_one_cell_has_the_mean_as_its_center(rng):
    X = rng.standard_normal((60, 4))
    for points in (X, sparse.csr_array(X)):
        np.testing.assert_allclose(cell_centers(points, 100), [X.mean(axis=0)], atol=1e-14)


def test_coinciding_points_cannot_be_divided():
    X = np.ones((500, 2))
    # Centers are means of up to 500 equal numbers and may differ by rounding.
    np.testing.assert_allclose(cell_centers(X, 50), 1.0, rtol=500 * np.finfo(float).eps)


def test_centers_depend_on_the_data_alone(rng):
    X = rng.standard_normal((1000, 3))
    first, second = (cell_centers(X, 50) for _ in range(2))
    np.testing.assert_array_equal(first, second)
    sparse_ones = cell_centers(sparse.csr_matrix(X), 50)
    assert sizes(X, sparse_ones).max() <= MAX_CELL_RATIO * 50


def test_the_points_of_a_cell_are_solved_as_by_ep():
    space = rbf_space(30, 0.1)
    one = Cells(30, tol=1e-3, n_draws=8).solve(space, np.random.default_rng(0))
    two = EP(n_draws=8).solve(space, np.random.default_rng(0))
    np.testing.assert_array_equal(one.coef, two.coef)
    np.testing.assert_array_equal(one.draws, two.draws)


def test_wrong_parameters():
    with pytest.raises(ValueError, match="n_points"):
        Cells(9).solve(rbf_space(10, 0.1), np.random.default_rng(0))
