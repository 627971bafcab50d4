import numpy as np
import pytest
from scipy import sparse

from bayespoint.geometry.equal_rows import keep_all_rows, merge_equal_rows

X = np.array([[1.0, 0.0], [2.0, 3.0], [1.0, -0.0], [2.0, 3.0], [1.0, 0.0], [0.5, 7.0]])
TARGET = np.array([0, 1, 0, 0, 0, 1])
WEIGHT = np.array([1.0, 2.0, 0.5, 4.0, 3.0, 0.0])


@pytest.fixture(params=[np.asarray, sparse.csr_array], ids=["dense", "sparse"])
def container(request):
    def contain(rows):
        found = request.param(rows)
        if sparse.issparse(found):
            found.eliminate_zeros()
        return found

    return contain


def test_rows_with_equal_features_and_labels_are_one(container):
    merged = merge_equal_rows(container(X), TARGET, WEIGHT)
    assert sorted(merged.first.tolist()) == [0, 1, 3]
    for members, total in ([0, 2, 4], 4.5), ([1], 2.0), ([3], 4.0):
        (found,) = np.unique(merged.member_of[members])
        assert merged.weight[found] == total
        assert merged.first[found] == members[0]
    assert merged.member_of[5] == -1


def test_neither_order_nor_number_of_rows_matters(container, rng):
    points = rng.integers(0, 3, (40, 2)).astype(float)
    target, times = rng.integers(0, 2, 40), rng.integers(0, 4, 40)
    weighted = merge_equal_rows(container(points), target, times)
    rows = rng.permutation(np.repeat(np.arange(40), times))
    repeated = merge_equal_rows(container(points[rows]), target[rows], np.ones(len(rows)))
    np.testing.assert_array_equal(weighted.weight, repeated.weight)
    np.testing.assert_array_equal(points[weighted.first], points[rows][repeated.first])
    np.testing.assert_array_equal(target[weighted.first], target[rows][repeated.first])
    np.testing.assert_array_equal(weighted.member_of[rows], repeated.member_of)


def test_rows_of_a_kernel_matrix_are_kept():
    kept = keep_all_rows(WEIGHT)
    np.testing.assert_array_equal(kept.first, np.arange(5))
    np.testing.assert_array_equal(kept.weight, WEIGHT[:5])
    np.testing.assert_array_equal(kept.member_of, [0, 1, 2, 3, 4, -1])


def slow_sets(X, target):
    """Return what `merge_equal_rows` finds for weights of one, by sorting whole rows."""
    table = np.column_stack([X, target]) + 0.0
    _, first, inverse = np.unique(table, axis=0, return_index=True, return_inverse=True)
    return first, inverse.ravel()


@pytest.mark.parametrize("n_columns", [1, 3, 32, 33, 70])
def test_order_is_that_of_the_columns_then_the_labels(n_columns, container, rng):
    # The first columns are equal, so that columns after the first block decide.
    X = rng.choice([-2.5, -1e-300, -0.0, 0.0, 1e-300, 7.0], (60, n_columns))
    X[:, : n_columns // 2] = 1.0
    X[::3] = X[0]
    target = rng.integers(0, 3, 60)
    found = merge_equal_rows(container(X), target, np.ones(60))
    first, member_of = slow_sets(X, target)
    np.testing.assert_array_equal(found.first, first)
    np.testing.assert_array_equal(found.member_of, member_of)


def test_no_rows_and_no_columns():
    assert len(merge_equal_rows(np.ones((0, 3)), np.ones(0, int), np.ones(0)).first) == 0
    found = merge_equal_rows(np.ones((4, 0)), np.array([0, 1, 0, 1]), np.ones(4))
    assert found.member_of.tolist() == [0, 1, 0, 1]
