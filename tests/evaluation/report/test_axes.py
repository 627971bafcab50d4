"""Axes: round limits, few labels, and no marks outside."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayespoint.evaluation.report.axes import (
    BOTTOM,
    HEIGHT,
    LEFT,
    RIGHT,
    TOP,
    WIDTH,
    Axes,
    _ticks,
    round_down,
    round_up,
)


def test_numbers_outside_are_put_at_the_edge():
    axes = Axes((0.0, 1.0), (0.0, 0.5))
    assert axes.across([-1, 0, 1, 2]).tolist() == [LEFT, LEFT, WIDTH - RIGHT, WIDTH - RIGHT]
    assert axes.up([0, 0.5, 9]).tolist() == [HEIGHT - BOTTOM, TOP, TOP]


@given(st.floats(0, 1))
def test_upper_end_is_round_and_not_below(value):
    end = round_up(value)
    assert value <= end + 1e-9
    assert end <= max(4 / 3 * value, 0.001)  # a step is at most a third of the value
    ticks = _ticks(0.0, end)
    assert 3 <= len(ticks) - 1 <= 10  # intervals
    np.testing.assert_allclose(np.diff(ticks), ticks[1])


@pytest.mark.parametrize(("value", "end"), [(0.0, 0.0), (0.59, 0.5), (0.6, 0.6), (0.99, 0.9)])
def test_lower_end_is_a_tenth(value, end):
    assert round_down(value) == end
