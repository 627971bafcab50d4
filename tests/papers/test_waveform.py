import numpy as np

from bayespoint.papers.waveform import make_waves, on_new_waves


def test_waves_are_mixtures_of_two_triangles():
    X, y = make_waves(20_000, seed=0)
    triangles = np.maximum(6 - np.abs(np.arange(1, 22) - np.array([[7], [15], [11]])), 0)
    # The class of the first and the third triangle: the mean is halfway between them.
    error = np.abs(X[y == 1].mean(axis=0) - (triangles[0] + triangles[2]) / 2)
    assert error.max() < 5 * 2 / np.sqrt(np.sum(y == 1))  # deviations are below 2
    assert abs(np.mean(y == 1) - 1 / 3) < 0.02


def test_errors_are_given_for_raw_and_standardized_features():
    found = on_new_waves(200, 60, seed=0)
    assert found.shape == (2, 2)
    assert ((found > 0) & (found < 50)).all()
    assert np.array_equal(found, on_new_waves(200, 60, seed=0))
