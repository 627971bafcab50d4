"""Exact intervals of shares, against scipy and against their stated coverage."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom, binomtest

from bayespoint.evaluation.intervals import exact_interval, share


@given(st.integers(0, 60), st.integers(0, 60), st.sampled_from([0.5, 0.9, 0.95, 0.999]))
def test_interval_is_that_of_scipy(count, rest, level):
    total = count + rest
    low, high = exact_interval(count, total, level)
    if total == 0:
        assert (low, high) == (0, 1)
        return
    theirs = binomtest(count, total).proportion_ci(level, method="exact")
    np.testing.assert_allclose([low, high], [theirs.low, theirs.high], atol=1e-12)


@pytest.mark.parametrize("p", [0.01, 0.1, 0.37])
def test_interval_holds_the_truth_as_often_as_it_says(p):
    # The sum over all outcomes has no sampling error.
    count = np.arange(81)
    low, high = exact_interval(count, 80, 0.9)
    inside = (low <= p) & (p <= high)
    assert binom.pmf(count, 80, p)[inside].sum() >= 0.9
    # Negative control: the normal interval has too little coverage for small shares.
    spread = 1.645 * np.sqrt(count / 80 * (1 - count / 80) / 80)
    normal = np.abs(count / 80 - p) <= spread
    assert p > 0.1 or binom.pmf(count, 80, p)[normal].sum() < 0.9


def test_a_share_of_no_rows_is_unknown():
    empty = share(0, 0, 0.95)
    assert np.isnan(empty.value)
    assert (empty.low, empty.high) == (0, 1)
    assert share(3, 4, 0.95).value == 0.75


@given(st.integers(0, 60), st.integers(1, 60), st.floats(0.5, 0.99))
def test_more_confidence_widens_the_interval(count, rest, level):
    narrow, wide = share(count, count + rest, level), share(count, count + rest, level + 0.009)
    assert wide.low <= narrow.low <= narrow.value <= narrow.high <= wide.high
