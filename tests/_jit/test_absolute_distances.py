"""Compiled absolute distances: sums of differences, the same bits in both directions."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from bayespoint._jit import absolute_distances as module
from mutants import interpreted

WIDTHS = [0, 1, 3, 4, 5, 8, 11]  # four features are added at a time, and the rest one by one


def distances(A, B, part=module):
    BT = np.ascontiguousarray(np.vstack([B, np.full((3, B.shape[1]), np.nan)]).T)
    total = np.full((len(A), len(B)), np.nan)
    part.absolute_distances(A, BT, total)  # more columns than are asked for
    return total


def agrees(part, d, p=9):
    rng = np.random.default_rng(d)
    A, B = rng.normal(size=(7, d)), rng.normal(size=(p, d))
    known = cdist(A, B, "cityblock") if d else np.zeros((7, p))
    return np.allclose(distances(A, B, part), known, rtol=1e-14, atol=0)


@pytest.mark.parametrize("d", WIDTHS)
@pytest.mark.parametrize("p", [1, 9, module.COLUMNS_AT_ONCE + 3])
def test_distances_are_sums_of_differences(d, p):
    assert agrees(module, d, p)


@pytest.mark.parametrize("d", WIDTHS)
def test_both_directions_have_the_same_distance_in_every_bit(d):
    A = np.random.default_rng(0).normal(size=(2 * module.COLUMNS_AT_ONCE, d))
    found = distances(A, A)
    np.testing.assert_array_equal(found, found.T)
    np.testing.assert_array_equal(np.diagonal(found), 0)
    np.testing.assert_array_equal(distances(A[5:9], A[:70]), found[5:9, :70])


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("abs(e - w[j])", "(e - w[j])"),
        ("range(whole, d)", "range(whole, d - 1)"),
        ("here[:] = 0.0", "here[:] += 0.0"),
    ],
)
def test_broken_distances_are_noticed(right, wrong):
    assert not agrees(interpreted(module, right, wrong), 11)
