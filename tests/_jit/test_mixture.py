"""Compiled distances of the mixture: sums of differences, feature by feature."""

import math

import numpy as np
import pytest

from bayespoint._jit import mixture
from mutants import mutant

WIDTHS = [0, 1, 3, 4, 5, 8, 11]  # four features are added at a time, and the rest one by one
PRECISIONS = [np.float32, np.float64]


def points(d, dtype=np.float32, n=7, p=9, seed=0):
    """Return rows on the left, and points in columns on the right."""
    rng = np.random.default_rng(seed)
    A, B = rng.normal(size=(n, d)), rng.normal(size=(p, d))
    B[0] = A[0]
    return A.astype(dtype), np.ascontiguousarray(B.T, dtype=dtype)


def distances(module, A, BT, begin=0.0):
    """Return absolute and squared distances, added to a number."""
    found = np.full((2, len(A), BT.shape[1]), begin, dtype=A.dtype)
    module.add_distances(A, BT, *found)
    return found


def slow_distances(A, BT):
    """Return the same distances as correctly rounded sums of exact differences."""
    found = np.zeros((2, len(A), BT.shape[1]))
    for i, a in enumerate(A.astype(float)):
        for j, b in enumerate(BT.T.astype(float)):
            found[0, i, j] = math.fsum(abs(x - y) for x, y in zip(a, b, strict=True))
            found[1, i, j] = math.fsum((x - y) ** 2 for x, y in zip(a, b, strict=True))
    return found


def distances_agree(module, dtype=np.float32):
    """Tell whether distances are as exact as their precision allows.

    A difference and its square are rounded, and so are at most d sums of positive numbers: each
    changes the result by at most half an eps.
    """
    right = True
    for d in WIDTHS:
        A, BT = points(d, dtype)
        slow = slow_distances(A, BT)
        right &= bool(
            np.all(np.abs(distances(module, A, BT) - slow) <= (d + 4) * np.finfo(dtype).eps * slow)
        )
    return right


def categories(d, n=7, p=9, seed=1):
    """Return whole numbers a few tolerances apart, and scales whose sums are exact."""
    rng = np.random.default_rng(seed)
    A, B = rng.integers(0, 3, (n, d)), rng.integers(0, 3, (p, d))
    return (
        A.astype(np.float32),
        np.ascontiguousarray(B.T, dtype=np.float32),
        2.0 ** rng.integers(-3, 4, d).astype(np.float32),
    )


def different(module, A, BT, scale, begin=0.0):
    total = np.full((len(A), BT.shape[1]), begin, dtype=np.float32)
    module.add_different(A, BT, scale, total)
    return total


def categories_agree(module):
    """Tell whether the scales of categories that differ by more than one are added up."""
    right = True
    for d in WIDTHS:
        A, BT, scale = categories(d)
        slow = np.sum((np.abs(A[:, None] - BT.T) > 1) * scale, axis=2)
        right &= np.array_equal(different(module, A, BT, scale), slow)
    return right


# Invariants


@pytest.mark.parametrize("dtype", PRECISIONS)
@pytest.mark.parametrize("d", WIDTHS)
def test_a_point_is_at_distance_zero_from_itself_and_from_no_other(d, dtype):
    A, BT = points(d, dtype)
    found = distances(mixture, A, BT)
    np.testing.assert_array_equal(found[:, 0, 0], 0)
    if d:
        assert np.sum(found == 0) == 2


@pytest.mark.parametrize("d", WIDTHS)
def test_both_directions_have_the_same_distance_in_every_bit(d):
    A, BT = points(d)
    there = distances(mixture, A, BT)
    back = distances(mixture, np.ascontiguousarray(BT.T), np.ascontiguousarray(A.T))
    np.testing.assert_array_equal(there, back.swapaxes(1, 2))


@pytest.mark.parametrize("dtype", PRECISIONS)
def test_distances_are_added_to_what_is_there_in_the_same_precision(dtype):
    A, BT = points(4, dtype)  # one addition for each pair of points
    found = distances(mixture, A, BT, begin=8.0)
    assert found.dtype == dtype
    np.testing.assert_array_equal(found, dtype(8) + distances(mixture, A, BT))
    np.testing.assert_array_equal(distances(mixture, *points(0, dtype), begin=8.0), 8)


# Agreement with a slow twin


@pytest.mark.parametrize("dtype", PRECISIONS)
def test_distances_are_sums_of_differences(dtype):
    assert distances_agree(mixture, dtype)


def test_near_points_far_from_the_origin_keep_the_digits_of_their_distance():
    A, BT = points(6)
    A, BT = A + np.float32(1e4), BT + np.float32(1e4)  # differences of these are exact
    slow = slow_distances(A, BT)
    eps = np.finfo(np.float32).eps
    np.testing.assert_allclose(distances(mixture, A, BT), slow, rtol=10 * eps, atol=0)


def test_differences_of_categories_are_sums_of_scales():
    assert categories_agree(mixture)


def test_categories_differ_if_they_are_more_than_one_apart():
    just_over = np.nextafter(np.float32(1), np.float32(2))
    A = np.zeros((1, 1), dtype=np.float32)
    BT = np.array([[0.0, 1.0, -1.0, just_over, -just_over, 1e30]], dtype=np.float32)
    found = different(mixture, A, BT, np.array([0.5], dtype=np.float32), begin=2.0)
    np.testing.assert_array_equal(found, [[2, 2, 2, 2.5, 2.5, 2.5]])


# The same bits


@pytest.mark.parametrize("d", [3, 11])
def test_a_pair_has_the_same_bits_in_every_block(d):
    A, BT = points(d, n=40, p=101)
    whole = distances(mixture, A, BT)
    for rows in (slice(0, 1), slice(5, 22)):
        for columns in (slice(0, 1), slice(3, 20), slice(64, 101)):
            part = distances(mixture, A[rows], np.ascontiguousarray(BT[:, columns]))
            np.testing.assert_array_equal(part, whole[:, rows, columns])


# Loops that are broken on purpose

BROKEN = {
    "a sign": ("(abs(z) + abs(w))", "(abs(z) + w)"),
    "a feature twice": ("(z * z + w * w)", "(z * z + z * z)"),
    "no remainder": ("range(whole, d)", "range(whole, d - 1)"),
}


@pytest.mark.parametrize("change", BROKEN.values(), ids=BROKEN)
def test_broken_distances_are_noticed(change):
    assert not distances_agree(mutant(mixture, *change))


def test_broken_categories_are_noticed():
    assert not categories_agree(mutant(mixture, "abs(a - of_a[j]) <= 1", "a - of_a[j] <= 1"))
