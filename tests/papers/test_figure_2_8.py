import numpy as np

from bayespoint.papers import figure_2_8
from bayespoint.papers.raetsch import load_benchmark, machine


def test_the_path_agrees_with_separate_fits(small_benchmark):
    data = load_benchmark("banana", str(small_benchmark), 2)
    train, test = data.splits[1]
    errors = figure_2_8.follow_path(data, train, test, 0.7)
    for adaptivity in (1.0, 1.5, 2.0):
        model = machine(0.7, adaptivity).fit(data.X[train], data.y[train])
        expected = 100 * np.mean(model.predict(data.X[test]) != data.y[test])
        assert errors[figure_2_8.ADAPTIVITIES.index(adaptivity)] == expected
