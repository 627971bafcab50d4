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
    found = np.full((2, len(A), 2, BT.shape[1]), begin, dtype=A.dtype)  # for two rows each
    for i, a in enumerate(A):
        module.add_distances(a, A[-i], BT, *found[:, i])
    return found[:, :, 0]


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


@pytest.mark.parametrize("d", WIDTHS)
def test_the_second_of_two_rows_is_treated_as_the_first(d):
    A, BT = points(d)
    found = np.zeros((2, 2, 2, BT.shape[1]), dtype=np.float32)
    for i in range(2):
        mixture.add_distances(A[i], A[1 - i], BT, *found[i])
    np.testing.assert_array_equal(found[0], found[1, :, ::-1])


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
    "a sign": ("absolute_a[j] += abs(x)\n", "absolute_a[j] += x\n"),
    "a feature twice": ("x, y, z, w = a_0 - to_0, a_1", "x, y, z, w = a_0 - to_0, a_0"),
    "no remainder": ("range(whole, d)", "range(whole, d - 1)"),
}


@pytest.mark.parametrize("change", BROKEN.values(), ids=BROKEN)
def test_broken_distances_are_noticed(change):
    assert not distances_agree(mutant(mixture, *change))


def mixes_as_in_double_precision(module):
    """Tell whether a mixture of all distances is that of a slow twin."""
    widths, right = (5, 2, 2, 3), True
    for n, p in ((1, 1), (4, 9), (7, 1100)):
        parts = [points(d, n=n, p=p, seed=d) for d in widths[:3]] + [categories(3, n, p)[:2]]
        scale = categories(3)[2]
        A, BT = zip(*parts, strict=True)
        plain, position, rank = (slow_distances(a, bt) for a, bt in parts[:3])
        apart = np.sum((np.abs(A[3][:, None] - BT[3].T) > 1) * scale, axis=2)
        distances = [*(plain + position), *(plain + rank), apart]
        which, gammas = np.array([4, 0, 3, 1, 2, 1]), np.array([0.2, 0.5, 1, 2, 0.01, 300])
        weights = np.array([0.3, 0.1, 0.2, 0.1, 0.2, 0.05])
        slow = 0.05 + sum(
            w * np.exp(-g * distances[k]) for k, g, w in zip(which, gammas, weights, strict=True)
        )
        out = np.full((n, p), np.nan, dtype=np.float32)
        single = (v.astype(np.float32) for v in (gammas, weights))
        module.mix(A, BT, scale, which, *single, np.float32(0.05), out)
        # A distance D is off by 11 eps D at most, x exp(-x) < 0.37, and seven sums are rounded.
        right &= bool(np.abs(out - slow).max() <= (0.37 * 11 + 10) * np.finfo(np.float32).eps)
    return right


def test_mixtures_are_those_of_double_precision():
    assert mixes_as_in_double_precision(mixture)


def terms_are_exact(module):
    """Tell whether terms are as exact as single precision, and small ones vanish."""
    distance = np.linspace(0, 100, 100_001, dtype=np.float32)
    total, *memory = np.zeros((3, len(distance)), dtype=np.float32)
    module.add_term(distance, np.float32(1), np.float32(1), *memory, total)
    exact, large = np.exp(-distance.astype(float)), distance <= 80  # where it ends
    off = np.abs(total / exact - 1)[large].max()
    return off <= 2 * np.finfo(np.float32).eps and total[~large].max() <= 2e-35 and total[0] == 1


def test_terms_are_as_exact_as_single_precision():
    assert terms_are_exact(mixture)
    assert not terms_are_exact(mutant(mixture, "(C6 * r + C5)", "C5"))
    assert not terms_are_exact(mutant(mixture, "m * LN_2_FINE", "0 * m"))


BROKEN_MIXTURES = {
    "position for rank": ("distances[RANK_SQUARED] = distances[SQUARED]", "pass"),
    "the other row": ("distances[which[k], row - i]", "distances[which[k], 0]"),
    "the first columns": ("out[row, first : first + n]", "out[row, :n]"),
}


@pytest.mark.parametrize("change", BROKEN_MIXTURES.values(), ids=BROKEN_MIXTURES)
def test_broken_mixtures_are_noticed(change):
    assert not mixes_as_in_double_precision(mutant(mixture, *change))


def test_broken_categories_are_noticed():
    assert not categories_agree(mutant(mixture, "abs(a_0 - b_0[j]) <= 1", "a_0 - b_0[j] <= 1"))
