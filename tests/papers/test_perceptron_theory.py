import numpy as np
import pytest

from bayespoint.papers.experiment import Measured
from bayespoint.papers.figure_18_11 import angle, learn
from bayespoint.papers.learning_rates import extrapolate
from bayespoint.papers.perceptron_theory import bayes_error, largest_margin_error


def test_rates_of_many_examples_are_those_of_the_paper():
    """000, sec. 1: 0.44 and 0.50, both rounded to two digits."""
    assert abs(200 * bayes_error(200) - 0.44) < 0.005
    assert abs(200 * largest_margin_error(200) - 0.50) < 0.005


def test_few_examples_teach_little_and_equally():
    for theory in (bayes_error, largest_margin_error):
        assert 0.45 < theory(0.02) < 0.5
    assert bayes_error(0.02) == pytest.approx(largest_margin_error(0.02), abs=1e-3)


@pytest.mark.parametrize("alpha", [0.5, 2.0, 10.0])
def test_nothing_is_better_than_the_bayes_point(alpha):
    assert bayes_error(alpha) < largest_margin_error(alpha)


def test_machines_follow_the_theory():
    """In 60 dimensions, within three standard errors and a correction of order 1 / 60."""
    errors = np.array([learn(120, 60, seed) for seed in range(12)])
    allowed = 3 * errors.std(axis=0, ddof=1) / np.sqrt(12) + 0.2 / 60
    assert (np.abs(errors.mean(axis=0) - [bayes_error(2), largest_margin_error(2)]) < allowed).all()


def test_extrapolation_finds_the_intercept_of_a_line(rng):
    dimensions = np.array([5, 10, 20])
    values = 0.4 + 2 / dimensions[:, None] + 0.01 * rng.standard_normal((3, 400))
    found = extrapolate(dimensions, values)
    assert isinstance(found, Measured)
    assert abs(found.mean - 0.4) < 4 * found.error
    assert found.error < 0.002


def test_angle_between_near_and_opposite_directions():
    w = np.array([1.0, 0.0])
    assert angle(w, np.array([2.0, 2e-9])) == pytest.approx(1e-9)
    assert angle(w, -w) == pytest.approx(np.pi)
