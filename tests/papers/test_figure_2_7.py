import numpy as np

from bayespoint.papers.figure_2_7 import center, measure, smallest
from bayespoint.papers.raetsch import load_benchmark, machine


def test_shares_agree_with_a_fit_by_hand(small_benchmark):
    data = load_benchmark("heart", str(small_benchmark), 1)
    train, test = data.splits[0]
    support, training, testing, bound, slacks = measure(data, train, test, sigma=0.7)
    model = machine(0.7).fit(data.X[train], data.y[train])
    assert support == 100 * len(model.support_) / len(train)
    assert training == 100 * np.mean(model.predict(data.X[train]) != data.y[train])
    assert testing == 100 * np.mean(model.predict(data.X[test]) != data.y[test])
    # A wrong point is also wrong if it is left out, and slacks bound this count.
    assert training <= bound <= slacks


def test_huge_slacks_of_one_split_do_not_count():
    values = np.ones((1, 3, 2))
    values[0, 0] = [4.0, 1e9]
    assert center(values).tolist() == [[2.0, 1.0]]


def test_the_place_of_a_minimum_has_an_error(rng):
    logs = np.array([-1.0, 0.0, 1.0])
    values = np.repeat((logs**2)[:, None, None], 2, axis=2) * np.ones((1, 30, 1))
    assert smallest(logs, values, 0, seed=0)[:2] == (0.0, 0.0)
    noisy = values + 9 * rng.standard_normal(values.shape)
    assert smallest(logs, noisy, 0, seed=0).error > 0.1
