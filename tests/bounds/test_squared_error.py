"""The bound on squared errors, against a scan of the printed probability."""

import inspect
import math

import numpy as np
import pytest

from bayespoint.bounds import fat_shattering_dimension, squared_error, squared_error_bound


def linear(scale):
    """Return the dimension of (1 + <w, x>) / 2 for |w|, |x| <= 1."""
    return fat_shattering_dimension(2 * scale, 1.0)


def scanned(m, fat, confidence):
    """Return the smallest excess on a grid for which 004's eq. 1.42 with 1.39 is small enough."""
    for e in np.linspace(1e-4, 1, 9_997):
        s = e / 16  # scale of the cover
        log2_cover = 3 * fat(s / 4) * (math.log2(4 * math.e * 1.0 * (2 * m) / s)) ** 2
        probability = 2 + log2_cover - (e**2 * m / 32) / math.log(2)  # base 2; 4 = 2^2
        if fat(s / 4) <= 2 * m and probability <= math.log2(1 - confidence):
            return e
    return 1.0


CASES = [
    (10**7, lambda scale: 3, 0.95),
    (10**6, lambda scale: 1, 0.5),
    (10**9, linear, 0.95),
    (10**4, lambda scale: 1, 0.95),  # too few points
]


def assert_agrees(bound):
    for m, fat, confidence in CASES:
        expected = scanned(m, fat, confidence)
        found = bound(0.0, m, fat, confidence=confidence)
        assert expected - 1.1e-4 <= found <= expected + 1e-12


def test_agrees_with_a_scan():
    assert_agrees(squared_error_bound)
    assert squared_error_bound(0.2, 10**7, 3) == pytest.approx(
        0.2 + scanned(10**7, CASES[0][1], 0.95), abs=1.1e-4
    )
    assert squared_error_bound(0.0, 10**4, 1) == 1.0
    assert squared_error_bound(0.95, 10**7, 3) == 1.0


WRONG = {
    "covers one sample": ("128 * math.e * m", "64 * math.e * m"),
    "scale of the dimension": ("excess / 64", "excess / 16"),
    "deviation": ("2 * m / 32\n", "2 * m / 8\n"),
    "factor": ("math.log(4) +", "math.log(1e9) +"),
    "natural logarithm": ("math.log2(128", "math.log(128"),
}


@pytest.mark.parametrize("wrong", WRONG)
def test_broken_versions_do_not_agree(wrong):
    source = inspect.getsource(squared_error).replace(
        "from ._checks", "from bayespoint.bounds._checks"
    )
    before, after = WRONG[wrong]
    assert source.count(before) == 1
    names = {}
    exec(source.replace(before, after), names)
    with pytest.raises(AssertionError):
        assert_agrees(names["squared_error_bound"])


def test_holds_for_thresholds(rng):
    """Thresholds have dimension one at every scale below one half; labels are coins."""
    m = 1_000_000
    y = rng.integers(0, 2, m)  # of sorted points; every threshold has error 1/2
    squared = (np.cumsum(y) + np.sum(1 - y) - np.cumsum(1 - y)) / m
    worst = np.abs(squared - 0.5).max()
    bound = squared_error_bound(0.0, m, 1)
    assert 0 < worst < bound < 0.3


def test_more_points_are_better():
    bounds = [squared_error_bound(0.0, 10**k, linear) for k in (7, 8, 9, 10)]
    assert bounds[0] == 1.0
    assert np.all(np.diff(bounds) <= 0)
    assert bounds[1] < 1  # as the docstring says
    assert bounds[-1] < 0.5
    assert squared_error_bound(0.0, 200_000, 3) < 1 == squared_error_bound(0.0, 100_000, 3)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: squared_error_bound(1.1, 10, 1), "training_error should be a share"),
        (lambda: squared_error_bound(0.1, 0, 1), "n_samples should be a whole"),
        (lambda: squared_error_bound(0.1, 10, 0), "fat_dimension should be a whole"),
    ],
)
def test_refuses(call, message):
    with pytest.raises(ValueError, match=message):
        call()
