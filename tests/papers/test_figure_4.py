import numpy as np

from bayespoint.papers.experiment import Plan
from bayespoint.papers.figure_4 import N_TRAIN, ones_and_twos
from papers_stand_ins import load_small_digits


def test_points_are_of_two_classes_and_from_both_parts(monkeypatch):
    monkeypatch.setattr("bayespoint.digits.load_handwritten", load_small_digits)
    X, y, X_test, y_test = ones_and_twos(Plan(seed=1))
    assert set(y) == set(y_test) == {1, 2}
    assert len(X) == len(y) <= N_TRAIN
    data = load_small_digits("mnist")
    for points, pool in ((X, data.X_train), (X_test, data.X_test)):
        assert {point.tobytes() for point in points} <= {point.tobytes() for point in pool}
    assert not np.array_equal(X, ones_and_twos(Plan(seed=2))[0])
