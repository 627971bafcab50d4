import numpy as np

from bayespoint.papers.figure_8 import try_split


def test_without_a_version_space_there_is_no_error():
    """Two equal points of different classes have a version space only with softness."""
    X = np.array([[0.0], [0.0], [3.0], [-3.0], [2.9], [-2.9]])
    y = np.array([1, -1, 1, -1, 1, -1])
    hard, soft = try_split(X, y, np.arange(4), np.arange(4, 6), (0.0, 1.0), seed=0)
    assert np.isnan(hard).all()
    assert soft == [0.0, 0.0]
