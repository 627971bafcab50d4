import numpy as np
import pytest

from bayespoint.classifiers.reject.chain import Chain, make_chain, pilot_rows, share_risk
from bayespoint.classifiers.reject.promise import Promise


@pytest.mark.parametrize("n", [1, 50, 1000, 100_000])
@pytest.mark.parametrize("max_error", [0.001, 0.05, 0.5])
def test_risk_is_shared_out_completely(n, max_error):
    shares = share_risk(n, int(pilot_rows(n).sum()), np.log1p(-max_error), 0.05)
    assert shares.sum() == pytest.approx(1)
    assert np.all(shares >= 0)


def test_what_the_last_threshold_passes_on_is_left_over():
    shares = np.array([0.5, 0.0, 0.5])
    thresholds = np.array([0.9, 0.8, -np.inf])
    assert Chain(thresholds, np.zeros(3), shares).lowest_certified(0.1) == (-np.inf, 0.1)
    # The first test fails and loses its half.
    failed = Chain(thresholds, np.array([1, 1, 0]), shares)
    assert failed.lowest_certified(0.1) == (-np.inf, 0.05)
    # Risk is passed on to a test without a share of its own.
    passed = Chain(thresholds, np.array([0, 0.04, 1]), shares)
    assert passed.lowest_certified(0.1) == (0.8, 0.0)


def test_the_worst_promise_decides(rng):
    n = 1000
    confidence, rows = rng.random(n), np.ones(n, dtype=bool)
    good = Promise("error", 0.1, rng.random(n) < 0.01, rows)
    bad = Promise("rate", 0.1, rng.random(n) < 0.3, rng.random(n) < 0.5)
    both = make_chain(confidence, [good, bad], 0.05)
    for promise in (good, bad):
        alone = make_chain(confidence, [promise], 0.05)
        np.testing.assert_array_equal(alone.thresholds, both.thresholds)
        assert np.all(both.p_values >= alone.p_values)
    assert both.lowest_certified(0.05)[0] == np.inf
