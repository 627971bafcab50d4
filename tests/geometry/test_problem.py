"""From a kernel matrix and labels to version spaces, without points at the origin."""

import numpy as np
import pytest

from bayespoint.geometry.conflicts import NoVersionSpaceError
from bayespoint.geometry.gram import unit_gram
from bayespoint.geometry.problem import off_origin, pose_problem

ROWS = np.array([2, 5, 7, 8])  # the training points in use, out of ten


@pytest.fixture
def matrix(rng):
    X = rng.standard_normal((4, 3))
    return X @ X.T


@pytest.fixture
def signs(rng):
    return rng.choice([-1.0, 1.0], (3, 10))


@pytest.mark.parametrize(("softness", "label_noise"), [(0.0, 0.0), (0.3, 0.0), (0.0, 0.1)])
def test_every_output_has_a_version_space_on_one_gram_matrix(matrix, signs, softness, label_noise):
    problem = pose_problem(matrix, ROWS, signs, softness, label_noise)
    np.testing.assert_array_equal(problem.rows, ROWS)
    assert len(problem.spaces) == 3
    assert all(space.gram is problem.spaces[0].gram for space in problem.spaces)
    np.testing.assert_array_equal(problem.spaces[0].gram.matrix, unit_gram(matrix, softness).matrix)
    for space, theirs in zip(problem.spaces, signs, strict=True):
        np.testing.assert_array_equal(space.signs, theirs[ROWS])
        np.testing.assert_array_equal(space.names, ROWS)
        assert space.label_noise == label_noise


@pytest.mark.parametrize(("softness", "label_noise"), [(0.3, 0.0), (0.0, 0.1)])
def test_points_at_the_origin_are_left_out_with_a_warning(matrix, signs, softness, label_noise):
    matrix[1] = matrix[:, 1] = 0.0
    with pytest.warns(UserWarning, match="1 training points lie at the origin"):
        problem = pose_problem(matrix, ROWS, signs, softness, label_noise)
    np.testing.assert_array_equal(problem.rows, [2, 7, 8])
    np.testing.assert_array_equal(problem.spaces[1].signs, signs[1, [2, 7, 8]])


def test_a_hard_boundary_refuses_points_at_the_origin_by_their_own_names(matrix, signs, rng):
    matrix[1] = matrix[:, 1] = 0.0
    problem = pose_problem(matrix, ROWS, signs, 0.0)
    np.testing.assert_array_equal(problem.rows, ROWS)
    with pytest.raises(NoVersionSpaceError, match=r"training points \[5\] lie at the origin"):
        problem.spaces[0].enter(rng)


def test_no_point_off_the_origin_is_an_error():
    np.testing.assert_array_equal(off_origin(np.ones(3)), [0, 1, 2])
    with pytest.raises(ValueError, match="All training points lie at the origin"):
        off_origin(np.zeros(3))


def test_weights_follow_the_points_that_are_used(matrix, signs):
    weight = np.arange(1.0, len(matrix) + 1)
    matrix = matrix.copy()
    matrix[0] = matrix[:, 0] = 0.0
    with pytest.warns(UserWarning, match="origin"):
        rows, spaces = pose_problem(
            matrix, np.arange(len(matrix)), signs, 0.1, label_noise=0.0, weight=weight
        )
    np.testing.assert_array_equal(rows, np.arange(1, len(matrix)))
    for space in spaces:
        np.testing.assert_array_equal(space.weight, weight[1:])
        expected = (1 + 0.1 / weight[1:]) / 1.1
        np.testing.assert_allclose(np.diagonal(space.gram.matrix), expected, rtol=1e-15)
