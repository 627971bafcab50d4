import numpy as np

from bayespoint._jit.rows import copy_rows


def test_copies_chosen_rows():
    rng = np.random.default_rng(0)
    source, target = rng.standard_normal((2, 7, 5)).astype(np.float32)
    these, there = np.array([4, 0, 6]), np.array([1, 3, 2])
    expected = target.copy()
    expected[there, 1:4] = source[these, :3]
    copy_rows(source[:, :3], these, target[:, 1:4], there)
    np.testing.assert_array_equal(target, expected)
