import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayespoint.fitting.sampling import new_generator, sample_each_class


@given(st.lists(st.integers(0, 5), min_size=1, max_size=60), st.integers(1, 80))
def test_a_sample_is_sorted_and_has_every_class(labels, n):
    target = np.array(labels)
    rows = sample_each_class(target, n)
    assert np.all(np.diff(rows) > 0)
    assert set(target[rows]) == set(labels)
    n_classes = len(set(labels))
    assert min(n, len(target)) <= len(rows) <= min(n + n_classes, len(target))


def test_without_a_generator_the_sample_is_always_the_same(rng):
    target = rng.integers(3, size=200)
    np.testing.assert_array_equal(sample_each_class(target, 50), sample_each_class(target, 50))
    other = sample_each_class(target, 50, np.random.default_rng(1))
    assert not np.array_equal(other, sample_each_class(target, 50))


@pytest.mark.parametrize("seed", [0, 2**32 - 1])
def test_a_seed_gives_the_same_generator(seed):
    assert new_generator(seed).random() == new_generator(seed).random()


def test_a_random_state_goes_on():
    state = np.random.RandomState(0)
    assert new_generator(state).random() != new_generator(state).random()
