"""Proofs that there is no version space, and the points they name."""

import pickle
import re
import tracemalloc

import numpy as np
import pytest

from bayespoint.geometry.conflicts import MAX_NAMED_POINTS, NoVersionSpaceError
from bayespoint.geometry.great_circle import MIN_RELIABLE_MARGIN
from version_space_problems import (
    EPS,
    SEED,
    linear_space,
    proof_residual,
    rbf_space,
    rng_of,
    separable,
)


def conflict_of(space):
    with pytest.raises(NoVersionSpaceError) as caught:
        space.enter(rng_of())
    return caught.value


def test_xor_is_not_linear():
    X = np.array([[0.0, 0.0], [1.0, 1.0], [0.0, 1.0], [1.0, 0.0]])
    y = [1, 1, -1, -1]
    with_threshold = np.column_stack([X, np.ones(4)])
    error = conflict_of(linear_space(with_threshold, y))
    assert error.conflict.tolist() == [0, 1, 2, 3]
    assert "training points [0, 1, 2, 3] contradict each other" in str(error)
    assert proof_residual(linear_space(with_threshold, y), error) <= 1e-12
    assert "softness" in str(error)
    assert rbf_space(X, y, gamma=1.0).enter(rng_of()) is not None


def test_only_the_points_in_conflict_are_named():
    X, y = separable(SEED, m=20, n_features=4, margin=0.3)
    # The mean of three positive points, labeled negative.
    positive = np.flatnonzero(y > 0)[:3]
    space = linear_space(np.vstack([X, X[positive].mean(axis=0)]), np.append(y, -1))
    error = conflict_of(space)
    assert len(error.conflict) <= space.gram.rank + 1  # Caratheodory
    assert 20 in error.conflict
    assert f"[{', '.join(map(str, error.conflict))}]" in str(error)
    assert proof_residual(space, error) <= 1e-12


def test_opposite_labels_of_one_point_are_named_as_a_pair():
    X, y = separable(SEED, m=20, n_features=30)
    space = linear_space(np.vstack([X, 3 * X[7]]), np.append(y, -y[7]))
    error = conflict_of(space)
    first, second = (20, 7) if y[7] < 0 else (7, 20)
    assert f"different labels in training points {first} and {second}. " in str(error)
    assert error.conflict.tolist() == [7, 20]
    assert error.weights.tolist() == [0.5, 0.5]
    # Equal up to the rounding of a cosine; a distance is the square root of that.
    assert proof_residual(space, error) <= np.sqrt(32 * EPS)


def test_no_more_pairs_are_named_than_can_be_read():
    y = np.array([1.0] * 5 + [-1.0] * 4)
    space = linear_space(np.ones((9, 2)), y)
    error = conflict_of(space)
    assert len(re.findall(r"\d+ and \d+", str(error))) == MAX_NAMED_POINTS
    assert f"and {5 * 4 - MAX_NAMED_POINTS} more pairs" in str(error)
    assert error.conflict.tolist() == list(range(9))
    np.testing.assert_allclose(error.weights, [0.1] * 5 + [0.125] * 4, rtol=4 * EPS)
    assert proof_residual(space, error) <= 16 * EPS


def test_pairs_of_several_points_balance():
    # Point A is three times positive and once negative, point B once positive and twice negative.
    points = np.eye(2)[[0, 0, 0, 0, 1, 1, 1]]
    space = linear_space(points, [1, 1, 1, -1, 1, -1, -1])
    assert proof_residual(space, conflict_of(space)) <= 16 * EPS


def test_naming_pairs_takes_no_more_memory_than_the_matrix():
    # With constant features, every pair of opposite labels is a conflict: a quarter of m^2.
    m = 600
    space = linear_space(np.ones((m, 2)), np.where(np.arange(m) % 2, 1.0, -1.0))
    tracemalloc.start()
    try:
        conflict_of(space)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    # DESIGN allows 16 m^2 bytes for matrix and factor; allow no more than that again.
    assert peak < 16 * m**2


def test_points_that_nearly_coincide_are_told_apart():
    # The points are 5e-7 off on either side: a margin of 5e-7, and a cosine of 1 - 5e-13.
    space = linear_space([[1.0, 0.5e-6], [1.0, -0.5e-6]], [1, -1])
    assert space.margins(space.enter(rng_of())).min() == pytest.approx(0.5e-6, rel=1e-3)


def test_point_at_the_origin_is_named():
    X, y = separable(SEED, m=8)
    X[[2, 5]] = 0
    space = linear_space(X, y)
    error = conflict_of(space)
    assert "training points [2, 5] lie at the origin" in str(error)
    assert "fit_intercept" in str(error)
    assert error.conflict.tolist() == [2, 5]
    assert proof_residual(space, error) == 0


def test_all_points_at_the_origin():
    error = conflict_of(
        linear_space(np.zeros((MAX_NAMED_POINTS + 4, 2)), np.ones(MAX_NAMED_POINTS + 4))
    )
    assert f"{MAX_NAMED_POINTS - 1}] and 4 more lie at the origin" in str(error)


@pytest.mark.parametrize("seed", [63, 477, 508, 1928, 2927])
def test_contradiction_is_claimed_only_with_a_proof(seed):
    # With a small gamma and one or two features, the largest margins are 2e-8 to 5e-8: above
    # MIN_RELIABLE_MARGIN, but below the 1e-7 to which HiGHS solves a linear program.
    rng = rng_of(seed)
    m, n_features = int(rng.integers(3, 60)), int(rng.integers(1, 3))
    X, gamma = rng.standard_normal((m, n_features)), 10 ** rng.uniform(-6, -4)
    y = np.sign(X[:, 0] + (rng.random() < 0.5) * np.sin(3 * X[:, -1]))
    space = rbf_space(X, y, gamma)
    try:
        w = space.enter(rng)
    except NoVersionSpaceError as error:
        # The residual of a proof is an upper bound for every margin.
        if "contradict each other" in str(error):
            assert proof_residual(space, error) <= MIN_RELIABLE_MARGIN  # noqa: PT017
    else:
        assert space.margins(w).min() > MIN_RELIABLE_MARGIN


def test_error_survives_pickling():
    error = conflict_of(linear_space([[1.0], [2.0]], [1, -1]))
    copy = pickle.loads(pickle.dumps(error))
    assert type(copy) is NoVersionSpaceError
    assert isinstance(copy, ValueError)
    assert str(copy) == str(error)
    np.testing.assert_array_equal(copy.conflict, error.conflict)
    np.testing.assert_array_equal(copy.weights, error.weights)
