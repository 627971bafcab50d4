import numpy as np
import pytest

from bayespoint.papers.flipper import play_both


def test_errors_and_angle(problem):
    X, y = problem
    parts = X[:40], y[:40], X[40:], y[40:]
    flipper, exact, radians = play_both(*parts, 0.5, 500, seed=0)
    assert 0 <= flipper <= 20
    assert 0 <= exact <= 20
    # 002's restarts at the current center move the mean: docs/notes/published.md.
    assert 0.05 < radians < 1
    assert play_both(*parts, 0.5, 500, seed=0) == (flipper, exact, radians)


def test_training_points_are_right(problem):
    """Both points are in version space, so they make no error on training points."""
    X, y = problem
    assert play_both(X, y, X, y, 0.5, 500, seed=1)[:2] == (0, 0)
    flipped = play_both(X, y, X, -y, 0.5, 500, seed=1)
    assert flipped[:2] == (60, 60)
    assert flipped[2] == pytest.approx(play_both(X, y, X, y, 0.5, 500, seed=1)[2])
    assert np.isfinite(flipped[2])
