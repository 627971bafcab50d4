"""Distances of pairs, and sums over them: those of the differences, pair by pair."""

import numpy as np
import pytest

from bayespoint._jit import pair_distances as module
from mutants import interpreted

N = 23


def points(d, seed=0):
    XT = np.random.default_rng(seed).normal(size=(d, N)).astype(np.float32)
    first, second = np.triu_indices(N, 1)
    return XT, np.abs(XT[:, first] - XT[:, second]).astype(float)  # differences of each feature


def distances_agree(part, d=5):
    XT, apart = points(d)
    absolute, squared = np.full((2, apart.shape[1]), np.nan, dtype=np.float32)
    part.pair_distances(XT, absolute, squared)
    # Sums of d positive numbers in single precision.
    close = {"rtol": 2 * d * np.finfo(np.float32).eps}
    return np.allclose(absolute, apart.sum(axis=0), **close) and np.allclose(
        squared, (apart**2).sum(axis=0), **close
    )


def sums_agree(part, first, last, d=5):
    XT, apart = points(d)
    row = np.triu_indices(N, 1)[0]
    some = (first <= row) & (row < last)
    slopes = np.random.default_rng(1).normal(size=(2, some.sum())).astype(np.float32)
    found = part.sum_over_pairs(XT, first, last, *slopes)
    each = slopes.astype(float)[:, None] * np.stack([apart, apart**2])[:, :, some]
    # Errors of single precision add up in each row, at worst.
    limit = N * np.finfo(np.float32).eps * np.abs(each).sum(axis=2)
    return bool(np.all(np.abs(found - each.sum(axis=2)) <= limit))


@pytest.mark.parametrize("d", [1, 5])
def test_distances_are_sums_of_differences(d):
    assert distances_agree(module, d)


@pytest.mark.parametrize(("first", "last"), [(0, N), (0, 4), (4, N), (N - 1, N)])
def test_sums_over_the_pairs_of_some_rows(first, last):
    assert sums_agree(module, first, last)


def test_broken_loops_are_noticed():
    assert not distances_agree(interpreted(module, "total[:] = 0.0", "pass"))
    wrong = interpreted(module, "slopes_of_squares[j] * (apart * apart)", "slopes[j] * apart")
    assert not sums_agree(wrong, 0, N)
