"""The rank of a row among left-out training rows, and beyond them."""

import numpy as np

from bayespoint.fitting.novelty_scale import NoveltyScale, novelty_scale

ONE = np.ones(4)


def test_rank_among_rows():
    scale = novelty_scale(np.array([0.4, 0.1, 0.2, 0.3]), ONE)
    assert np.allclose(scale.novelty(np.array([0.1, 0.2, 0.4])), [1 / 8, 3 / 8, 7 / 8])
    assert np.allclose(scale.novelty(np.array([0.0, 0.25, 0.7, 1.0])), [0.0, 0.5, 15 / 16, 1.0])


def test_ties_count_half_and_weights_count_as_rows():
    tied = novelty_scale(np.array([0.2, 0.2, 0.2, 0.5]), ONE)
    weighted = novelty_scale(np.array([0.5, 0.2]), np.array([1.0, 3.0]))
    assert np.allclose(tied.levels, weighted.levels)
    assert np.allclose(tied.shares, [3 / 8, 7 / 8])
    assert np.allclose(weighted.shares, tied.shares)


def test_levels_at_the_ends_leave_the_map_monotone():
    scale = novelty_scale(np.array([0.0, 0.0, 1.0, 0.5]), ONE)
    found = scale.novelty(np.linspace(0, 1, 101))
    assert found[0] == 0
    assert found[-1] == 1
    assert np.all(np.diff(found) >= 0)


def test_one_row():
    scale = NoveltyScale(np.array([0.5]), np.array([0.5]))
    assert np.allclose(scale.novelty(np.array([0.25, 0.75])), [0.25, 0.75])
