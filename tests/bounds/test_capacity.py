import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom, hypergeom
from sklearn.ensemble import AdaBoostClassifier

from bayespoint.bounds import (
    adaboost_margin_error,
    convex_combination_bound,
    fat_shattering_dimension,
    margin_bound,
    vc_bound,
)
from bayespoint.bounds.capacity import log_growth, uniform_deviation
from bayespoint.datasets.two_gaussians import TwoGaussians


@pytest.mark.parametrize("n", [1, 2, 3, 7, 12])
def test_sauer_counts_the_labelings_of_intervals(n):
    """Intervals have VC dimension 2 and attain Sauer's limit."""
    ways = {tuple(a <= i < b for i in range(n)) for a in range(n + 1) for b in range(n + 1)}
    assert math.exp(log_growth(2, n)) == pytest.approx(len(ways), rel=1e-10)
    assert math.exp(log_growth(n + 5, n)) == pytest.approx(2**n, rel=1e-10)


@pytest.mark.parametrize("m", [1, 2, 5, 20, 60])
def test_two_halves_of_a_sample_differ_as_little_as_stated(m):
    """Check Serfling's inequality against the exact law."""
    for n_errors in range(1, 2 * m + 1):
        first = np.arange(m + 1)
        log_tail = hypergeom(2 * m, n_errors, m).logcdf(first)
        difference = (n_errors - 2 * first) / m
        possible = (difference > 0) & np.isfinite(log_tail)
        stated = -(difference**2) * m**2 / (m + 1)
        assert np.all(log_tail[possible] <= stated[possible] + 1e-9)
        if m == 60 and n_errors == m:  # an exponent 1.2 times as large would be wrong
            assert np.any(log_tail[possible] > 1.2 * stated[possible])


def worst_excess(m, rng):
    """Return the largest excess of error over training error of thresholds, for coin labels."""
    labels = rng.choice([-1, 1], m)  # sorted points; every threshold has error 1/2
    correct_above = np.concatenate([[0], np.cumsum(labels)])
    # Threshold k predicts -1 below and +1 above: labels +1 below and -1 above are errors.
    agreement = labels.sum() - 2 * correct_above
    return np.abs(agreement).max() / (2 * m)


def test_vc_bound_holds_with_its_confidence(rng):
    m, confidence = 200, 0.5
    excess = vc_bound(0.0, m, 2, confidence=confidence)
    found = np.array([worst_excess(m, rng) for _ in range(500)])
    assert np.mean(found > excess) <= 1 - confidence
    # A sixth of the excess would fail. Thresholds in both directions have VC dimension 2.
    assert np.mean(found > excess / 6) > 1 - confidence


@given(st.integers(1, 50), st.integers(100, 10**6), st.floats(0.01, 0.99))
def test_vc_bound_is_at_most_vapniks(h, m, confidence):
    """Vapnik (1998) bounds both signs at once, with (2 e m / h)^h labelings."""
    log_ways = h * (math.log(2 * m / h) + 1)
    vapnik = 1 / m + math.sqrt((log_ways + math.log(4 / (1 - confidence))) / m)
    ours = vc_bound(0.0, m, h, confidence=confidence)
    assert ours <= min(1.0, vapnik * math.sqrt((m + 1) / m) * (1 + 1e-12))
    assert ours >= min(1.0, vapnik / 2)


def test_printed_formulas_with_a_constant():
    m, h, d, c = 5000, 4, 0.1, 0.3
    assert vc_bound(0.1, m, h, confidence=1 - d, constant=c) == pytest.approx(
        0.1 + np.sqrt(c / m * (h + np.log(1 / d)))
    )
    inner = c / m * (np.log(m / 0.5) ** 2 / 0.5**2 + np.log(1 / d))
    given = {"confidence": 1 - d, "constant": c}
    assert margin_bound(0.5, 1.0, m, **given) == pytest.approx(inner)
    assert margin_bound(0.5, 1.0, m, 0.1, **given) == pytest.approx(0.1 + np.sqrt(inner))
    inner = c / m * (h * np.log(m / h) ** 2 / 0.5**2 + np.log(1 / d))
    assert convex_combination_bound(0.5, m, h, 0.1, **given) == pytest.approx(0.1 + np.sqrt(inner))


@pytest.mark.parametrize("n", [1, 2, 4, 9, 12])
def test_orthogonal_points_attain_the_fat_shattering_dimension(n):
    radius = 3.0
    points = radius * np.eye(n)
    for labels in itertools.product([-1, 1], repeat=n):
        w = np.array(labels) / np.sqrt(n)
        assert np.all(labels * (points @ w) >= radius / np.sqrt(n) * (1 - 1e-12))
    assert fat_shattering_dimension(radius / np.sqrt(n), radius) == n
    assert fat_shattering_dimension(radius / np.sqrt(n) * 1.001, radius) == n - 1


def test_no_points_can_be_shattered_beyond_the_fat_shattering_dimension(rng):
    """The sum of labeled points limits margins, for arbitrary thresholds b."""
    for _ in range(30):
        k, radius = int(rng.integers(2, 9)), 2.0
        points = rng.standard_normal((k, rng.integers(1, 6)))
        points *= radius / np.linalg.norm(points, axis=1, keepdims=True)
        labels = np.array(list(itertools.product([-1, 1], repeat=k)))
        # With w for labels y and w' for -y: k margin <= <w - w', sum of y x> / 2 <= |sum of y x|.
        margin = np.linalg.norm(labels @ points, axis=1).min() / k
        assert k <= fat_shattering_dimension(margin * (1 - 1e-9), radius) if margin > 1e-9 else True


def test_margin_bound_combines_three_theorems():
    """Combine theorem 1.5 with 1.4 at scale margin / 2 for 2 m points, and 1.7 at margin / 8."""
    radius, m, risk = 2.0, 50_000_000, 0.05
    for margin, step in ((2.0, 0), (1.0, 1), (0.6, 2), (0.5, 2)):
        used = radius / 2**step  # the next margin of the series
        share = risk / 2 ** (step + 1) / 2
        fat = (radius / (used / 8)) ** 2
        log2_cover = 3 * fat * np.log2(4 * np.e * (2 * radius) * (2 * m) / (used / 2)) ** 2
        consistent = 2 / m * (log2_cover + np.log2(2 / share))  # 2 N 2^(-eps m / 2) = share
        some = np.sqrt(8 / m * (np.log(2) * log2_cover + np.log(2 / share)))
        assert margin_bound(margin, radius, m) == pytest.approx(min(1, consistent), rel=1e-9)
        assert margin_bound(margin, radius, m, 0.1) == pytest.approx(min(1, 0.1 + some), rel=1e-9)


def test_margin_bound_does_not_depend_on_the_unit_of_length():
    for constant in (None, 0.1):
        values = [
            margin_bound(0.4 * unit, unit, 10**7, 0.01, constant=constant)
            for unit in (1e-6, 1.0, 1e6)
        ]
        assert values == pytest.approx([values[0]] * 3)


def test_few_votes_are_close_to_all_votes():
    """Compute the probability that N votes differ by half the margin exactly."""
    for n, margin in itertools.product([1, 5, 40, 200], [0.1, 0.5, 1.0]):
        share_right = np.linspace(0, 0.5, 11)  # y f(x) <= 0
        votes = np.arange(n + 1)
        far = (2 * votes - n) / n > margin / 2
        chance = [binom(n, p).pmf(votes[far]).sum() for p in share_right]
        assert max(chance) <= np.exp(-n * margin**2 / 8) * (1 + 1e-12)


def test_convex_combination_takes_the_best_number_of_votes():
    m, h, margin, risk = 200_000, 3, 0.4, 0.05
    log_ways = log_growth(h, 2 * m)
    values = [
        2 * math.exp(-n * margin**2 / 8)
        + 1 / m
        + math.sqrt((m + 1) * (n * log_ways + math.log(2 * n * (n + 1) ** 2 / risk))) / m
        for n in range(1, 1000)
    ]
    bound = convex_combination_bound(margin, m, h)
    assert min(values) * (1 - 1e-12) <= bound <= min(values) * 1.001


def test_votes_of_stumps_are_bounded(rng):
    problem = TwoGaussians([1.5])
    X, y = problem.draw(30_000, random_state=1)
    model = AdaBoostClassifier(n_estimators=2).fit(X, y)
    fresh_X, fresh_y = problem.draw(30_000, random_state=2)
    error = np.mean(model.predict(fresh_X) != fresh_y)
    bounds = []
    for margin in (0.1, 0.3, 0.6, 0.9):
        share = adaboost_margin_error(model, X, y, margin).observed
        bounds.append(convex_combination_bound(margin, len(y), 2, share))
    assert error < min(bounds) < 1


@given(
    st.sampled_from(["vc", "margin", "votes"]),
    st.integers(10, 10**8),
    st.floats(0.01, 1),
    st.floats(0, 1),
    st.floats(0.01, 0.999),
)
def test_more_points_and_less_confidence_are_better(kind, m, margin, error, confidence):
    def bound(m, margin, error, confidence):
        if kind == "vc":
            return vc_bound(error, m, 5, confidence=confidence)
        if kind == "margin":
            return margin_bound(margin, 1.0, m, error, confidence=confidence)
        return convex_combination_bound(margin, m, 5, error, confidence=confidence)

    here = bound(m, margin, error, confidence)
    assert error <= here <= 1
    assert bound(2 * m, margin, error, confidence) <= here * (1 + 1e-3)  # votes are on a grid
    assert bound(m, margin, error, confidence / 2) <= here
    assert bound(m, margin / 2, error, confidence) >= here * (1 - 1e-3)


def test_deviation_of_one_point_is_trivial():
    assert uniform_deviation(1, 0.0) > 1
    assert vc_bound(0.0, 1, 1) == 1


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: vc_bound(1.2, 10, 1), "training_error should be a share between 0 and 1"),
        (lambda: vc_bound(0.1, 10.5, 1), "n_samples should be a whole number"),
        (lambda: vc_bound(0.1, 10, 0), "vc_dimension should be a whole number of at least 1"),
        (lambda: vc_bound(0.1, 10, np.inf), "vc_dimension should be a whole number"),
        (lambda: vc_bound(0.1, 10, 1, confidence=1.0), "confidence should be between 0 and 1"),
        (lambda: vc_bound(0.1, 10, 1, confidence=95), "confidence should be between 0 and 1"),
        (lambda: vc_bound(np.nan, 10, 1), "training_error should be a share"),
        (lambda: vc_bound(0.1, 10, 1, constant=-1), "constant should be a positive"),
        (lambda: fat_shattering_dimension(0.0, 1.0), "margin should be a positive"),
        (lambda: fat_shattering_dimension(1.0, np.inf), "radius should be a positive finite"),
        (lambda: margin_bound(2.0, 1.0, 10), "margin should be at most the radius, 1, but is 2"),
        (lambda: margin_bound(-0.1, 1.0, 10), "margin should be a positive"),
        (lambda: margin_bound(0.1, 1.0, 10, 2.0), "margin_error should be a share"),
        (lambda: convex_combination_bound(1.5, 10, 1), "margin should be a share"),
        (lambda: convex_combination_bound(0.0, 10, 1), "margin should be a positive"),
        (
            lambda: convex_combination_bound(0.5, 10, 11, constant=1.0),
            "vc_dimension should be at most n_samples = 10",
        ),
    ],
)
def test_refuses(call, message):
    with pytest.raises(ValueError, match=message):
        call()
