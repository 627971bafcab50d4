import numpy as np

from bayespoint._jit.rows import LARGEST, store_rows

UNIT = 2.0**-14


def test_stores_chosen_rows_in_units():
    rng = np.random.default_rng(0)
    source = rng.uniform(-1, 1, (7, 5)).astype(np.float32)
    target = rng.integers(-9, 9, (7, 5)).astype(np.int16)
    these, there = np.array([4, 0, 6]), np.array([1, 3, 2])
    expected = target.copy()
    expected[there, 1:4] = np.rint(source[these, :3] / UNIT)
    most = store_rows(source[:, :3], these, UNIT, target[:, 1:4], there)
    np.testing.assert_array_equal(target, expected)
    assert most == np.abs(source[these, :3]).max()


def test_values_that_are_too_large_are_the_largest():
    source = np.array([[1.0, -1.0, 2.0, -3.0, 1e30, 1 / 3]], dtype=np.float32)
    target, zero = np.empty((1, 6), dtype=np.int16), np.zeros(1, dtype=np.int64)
    assert store_rows(source, zero, UNIT, target, zero) == np.float32(1e30)
    expected = [2**14, -(2**14), LARGEST, -LARGEST, LARGEST, round(2**14 / 3)]
    np.testing.assert_array_equal(target[0], expected)
