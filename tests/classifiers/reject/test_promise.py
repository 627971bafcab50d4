import numpy as np
import pytest
from scipy.stats import binom

from bayespoint.classifiers.reject.promise import Promise


def test_errors_of_the_rows_that_count_are_binomial(rng):
    wrong, counted = rng.random(300) < 0.1, rng.random(300) < 0.6
    order = rng.permutation(300)
    found = Promise("rate", 0.15, wrong, counted).p_values(order, np.array([0, 1, 50, 300]))
    for p, n in zip(found, (0, 1, 50, 300), strict=True):
        rows = order[:n][counted[order[:n]]]
        expected = binom.cdf(wrong[rows].sum(), len(rows), 0.15) if len(rows) else 1.0
        assert p == pytest.approx(expected)


@pytest.mark.parametrize("spread", [0.0, 0.3])
def test_p_values_of_costs_are_valid_and_of_use(rng, spread):
    """If the mean cost is just the limit, a p-value below 0.05 has a chance of 0.05 at most."""
    n, draws, limit = 200, 2000, 0.2
    rows, all_rows = np.arange(n), np.ones(n, dtype=bool)

    def share_below(mean):
        cost = rng.random((draws, n)) < mean / 0.5
        costs = cost * (0.5 + spread * (rng.random((draws, n)) - 0.5))
        p = [Promise("cost", limit, c, all_rows).p_values(rows, np.array([n]))[0] for c in costs]
        return np.mean(np.array(p) <= 0.05)

    assert share_below(limit) * draws <= binom.ppf(0.9999, draws, 0.05)
    assert share_below(limit / 2) > 0.9


def test_a_promise_of_some_rows():
    promise = Promise("error", 0.1, np.array([0, 1, 0]), np.array([True, False, True]))
    part = promise.of(np.array([1, 2]))
    assert part.loss.tolist() == [1, 0]
    assert part.counted.tolist() == [False, True]
