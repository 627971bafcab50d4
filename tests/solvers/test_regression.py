"""Label regression: its closed forms against a loop that leaves points out, and its draws."""

import numpy as np
import pytest
from scipy import stats

from bayespoint.solvers.regression import Regression, leave_one_out


def problem(m=30, n_outputs=3, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(m, 3))
    unit = np.exp(-0.5 * np.sum((X[:, None] - X[None]) ** 2, axis=2))
    if n_outputs == 1:
        return unit, rng.choice([-0.5, 0.5], size=(m, 1))
    return unit, np.eye(n_outputs)[rng.integers(n_outputs, size=m)] - 1 / n_outputs


def test_left_out_outputs_are_those_of_a_regression_without_the_point():
    matrix, codes = problem()
    found = leave_one_out(matrix, codes, np.ones(len(matrix)))
    for i in range(len(matrix)):
        rest = np.delete(np.arange(len(matrix)), i)
        alpha = np.linalg.solve(matrix[np.ix_(rest, rest)] + np.eye(len(rest)), codes[rest])
        np.testing.assert_allclose(found.outputs[i], matrix[i, rest] @ alpha, atol=1e-12)


def test_a_weight_of_two_is_a_repeated_point():
    matrix, codes = problem()
    weight = np.random.default_rng(1).integers(1, 4, len(matrix))
    copies = np.repeat(np.arange(len(matrix)), weight)
    once = leave_one_out(matrix, codes, weight.astype(float))
    repeated = leave_one_out(matrix[np.ix_(copies, copies)], codes[copies], np.ones(len(copies)))
    np.testing.assert_allclose(once.outputs[copies], repeated.outputs, atol=1e-11)
    added = np.zeros_like(once.coef)
    np.add.at(added, copies, repeated.coef)
    np.testing.assert_allclose(once.coef, added, atol=1e-11)


def test_a_point_of_weight_below_one_is_left_out_as_a_whole():
    matrix, codes = problem()
    weight = np.full(len(matrix), 0.3)
    found = leave_one_out(matrix, codes, weight)
    rest = np.arange(1, len(matrix))
    alpha = np.linalg.solve(matrix[np.ix_(rest, rest)] + np.eye(len(rest)) / 0.3, codes[rest])
    np.testing.assert_allclose(found.outputs[0], matrix[0, rest] @ alpha, atol=1e-12)


def test_solve_scales_a_repeated_point_like_its_weight():
    unit, codes = problem()
    weight = np.random.default_rng(1).integers(1, 4, len(unit))
    copies = np.repeat(np.arange(len(unit)), weight)
    rng = np.random.default_rng
    once = Regression().solve(unit, codes, 0.3, rng(0), weight.astype(float))
    repeated = Regression().solve(unit[np.ix_(copies, copies)], codes[copies], 0.3, rng(0))
    assert once.length == pytest.approx(repeated.length, rel=1e-10)
    added = np.zeros_like(once.coef)
    np.add.at(added.T, copies, repeated.coef.T)
    np.testing.assert_allclose(once.coef, added, atol=1e-11)


def test_outputs_times_length_are_the_regression():
    unit, codes = problem()
    found = Regression().solve(unit, codes, 0.2, np.random.default_rng(0))
    expected = unit @ np.linalg.solve(unit + 0.2 * np.eye(len(unit)), codes)
    np.testing.assert_allclose((unit @ found.coef.T) * found.length, expected, atol=1e-12)
    # No hypothesis is longer than one, so no output of a unit point is larger.
    assert found.resultant.max() <= 1


def test_the_evidence_is_the_density_of_the_codes():
    unit, codes = problem()
    found = Regression().solve(unit, codes, 0.2, np.random.default_rng(0))
    noisy = unit + 0.2 * np.eye(len(unit))
    squares = np.einsum("ic,ic->c", codes, np.linalg.solve(noisy, codes))
    scale = squares.mean() / len(unit)
    law = stats.multivariate_normal(cov=scale * noisy)
    np.testing.assert_allclose(found.info["log_evidence"], law.logpdf(codes.T), rtol=1e-10)


def test_many_outputs_share_the_draws():
    unit, codes = problem(n_outputs=1)
    assert Regression().solve(unit, codes, 0.3, np.random.default_rng(0)).draws.shape[1] == 256
    unit, codes = problem(m=60, n_outputs=8)
    assert Regression().solve(unit, codes, 0.3, np.random.default_rng(0)).draws.shape[1] == 64
    unit, codes = problem(m=60, n_outputs=60)
    assert Regression().solve(unit, codes, 0.3, np.random.default_rng(0)).draws.shape[1] == 16


def test_equal_points_are_no_problem():
    unit, codes = problem(m=10)
    twice = np.repeat(np.arange(10), 2)
    found = Regression().solve(
        unit[np.ix_(twice, twice)], codes[twice], 0.1, np.random.default_rng(0)
    )
    assert np.isfinite(found.draws).all()


def test_a_matrix_that_is_not_a_kernel_is_an_error():
    with pytest.raises(np.linalg.LinAlgError, match=r"be positive definite.*a larger softness"):
        leave_one_out(-5 * np.eye(3), np.ones((3, 1)), np.ones(3))


@pytest.mark.parametrize("weight", [1e6, 1e12, 1e100])
def test_huge_weights_of_equal_points_do_not_drown_in_rounding(weight):
    unit, codes = problem(m=20)
    twice = np.repeat(np.arange(20), 2)
    unit, codes = unit[np.ix_(twice, twice)], codes[twice]
    codes[1::2] *= -1  # every point has both labels, so that the truth is between them
    found = leave_one_out(1e3 * unit, codes, np.full(40, weight))
    # Relative noise of at least 1e-10, and 40 points: rounding makes up to 40 eps / 1e-10.
    outputs = 1e3 * unit @ found.coef
    np.testing.assert_allclose(outputs, 0, atol=1e-3)


def test_without_a_generator_there_are_no_draws():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 2))
    unit = np.exp(-np.sum((X[:, None] - X[None]) ** 2, axis=2))
    codes = rng.normal(size=(30, 2))
    expected = Regression().solve(unit.copy(), codes, 0.3, rng)
    found = Regression().solve(unit, codes, 0.3, None)
    assert found.draws is None
    for name in ("coef", "left_out", "resultant"):
        np.testing.assert_array_equal(getattr(found, name), getattr(expected, name))
