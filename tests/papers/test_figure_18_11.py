import numpy as np
import pytest

from bayespoint.papers.figure_18_11 import angle, gaps, learn
from bayespoint.papers.perceptron_theory import bayes_error, largest_margin_error


def test_machines_follow_the_theory():
    """In 60 dimensions: allow three standard errors and a correction of order 1 / 60."""
    errors = np.array([learn(120, 60, seed) for seed in range(12)])
    allowed = 3 * errors.std(axis=0, ddof=1) / np.sqrt(12) + 0.2 / 60
    assert (np.abs(errors.mean(axis=0) - [bayes_error(2), largest_margin_error(2)]) < allowed).all()


def test_angle_between_near_and_opposite_directions():
    w = np.array([1.0, 0.0])
    assert angle(w, np.array([2.0, 2e-9])) == pytest.approx(1e-9)
    assert angle(w, -w) == pytest.approx(np.pi)


def test_gap_is_counted_in_deviations_of_a_run():
    known = largest_margin_error(2) - bayes_error(2)
    errors = np.array([[[0.1, 0.2], [0.1, 0.4]]])
    assert gaps([2], errors) == pytest.approx(known / np.std([0.1, 0.3], ddof=1))
