import numpy as np
import pytest

from bayespoint.papers.figure_18_1 import (
    area,
    bayes_point,
    halving_offset,
    mean_squared_difference,
    share_below,
)

SQUARE = np.array([[0.0, 0.0], [2.0, 0.0], [2.0, 2.0], [0.0, 2.0]])
TRIANGLE = np.array([[0.0, 0.0], [3.0, 0.0], [0.0, 3.0]])
TURNS = np.pi * np.arange(24) / 24
DIRECTIONS = np.column_stack([np.cos(TURNS), np.sin(TURNS)])


def test_area_below_a_line():
    assert area(SQUARE) == 4
    assert share_below(SQUARE, np.array([1.0, 0.0]), 0.5) == pytest.approx(0.25)
    assert share_below(SQUARE, np.array([1.0, 0.0]), -1.0) == 0
    # A line across a corner cuts off a triangle.
    assert share_below(TRIANGLE, np.array([1.0, 1.0]), 1.0) == pytest.approx(1 / 9)


def test_a_bayes_line_halves_the_polygon():
    for v in DIRECTIONS:
        assert share_below(TRIANGLE, v, halving_offset(TRIANGLE, v)) == pytest.approx(0.5)


def test_all_bayes_lines_of_a_square_meet_in_its_center():
    center = np.array([1.0, 1.0])
    assert [halving_offset(SQUARE, v) for v in DIRECTIONS] == pytest.approx(DIRECTIONS @ center)
    assert bayes_point(SQUARE, DIRECTIONS) == pytest.approx(center, abs=1e-5)


def test_bayes_lines_of_a_triangle_do_not_meet():
    best = bayes_point(TRIANGLE, DIRECTIONS)
    least = mean_squared_difference(TRIANGLE, DIRECTIONS, best)
    assert least > 1e-5
    for step in 0.01 * np.vstack([DIRECTIONS[::6], -DIRECTIONS[::6]]):
        assert mean_squared_difference(TRIANGLE, DIRECTIONS, best + step) > least
