import numpy as np
import pytest

from bayespoint.papers.figure_6 import judge_toy, make_toy


@pytest.mark.parametrize("seed", range(3))
def test_toys_are_labeled_by_their_rule(seed):
    X, y, test, rule = make_toy(seed)
    assert set(y) == {-1, 1}
    assert (y * (X @ rule) > 0).all()
    assert max(np.abs(X).max(), np.abs(test).max()) <= 1


def test_errors_are_shares_and_centers_lie_in_one_version_space():
    angle, *errors = judge_toy(0)
    assert all(0 <= error < 50 for error in errors)
    assert 0 < angle < np.pi / 2
