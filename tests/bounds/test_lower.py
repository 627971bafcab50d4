"""The lower bound, against all learners of tiny problems and against the best learner."""

import itertools
import math

import numpy as np
import pytest
from scipy.stats import binom

from bayespoint.bounds import vc_bound, vc_lower_bound
from bayespoint.bounds.lower import wrong_majority


@pytest.mark.parametrize(("n", "advantage"), [(1, 0.3), (4, 0.5), (7, 0.1)])
def test_majorities_are_counted(n, advantage):
    wrong = 0.0
    for labels in itertools.product([0, 1], repeat=n):  # 1 is the less probable label
        chance = math.prod((1 - advantage) / 2 if y else (1 + advantage) / 2 for y in labels)
        wrong += chance * (np.sign(sum(labels) - n / 2) + 1) / 2
    assert float(wrong_majority(n, advantage)) == pytest.approx(wrong, rel=1e-12)


def surest_learner(m, advantage):
    """Return the smallest, over all learners, of the larger probability to be wrong.

    A learner maps each of 2^m samples of labels to one label. Its classifier has the excess
    `advantage` if it is wrong, under either of two distributions.
    """
    samples = list(itertools.product([0, 1], repeat=m))
    ones = np.array([sum(s) for s in samples])
    up = ((1 + advantage) / 2) ** ones * ((1 - advantage) / 2) ** (m - ones)
    down = up[::-1]
    best = 1.0
    for choices in itertools.product([0, 1], repeat=len(samples)):
        chosen = np.array(choices, dtype=bool)
        best = min(best, max(up[~chosen].sum(), down[chosen].sum()))
    return best


@pytest.mark.parametrize("m", [1, 2, 3])
@pytest.mark.parametrize("confidence", [0.7, 0.9])
def test_no_learner_of_one_point_is_better(m, confidence):
    excess = vc_lower_bound(m, 1, confidence=confidence)
    assert surest_learner(m, excess) >= 1 - confidence - 1e-9
    # A larger excess is too much to promise: some learner avoids it.
    if m != 2:  # with two samples a tie is decided before the distribution is known
        assert surest_learner(m, 1.05 * excess) < 1 - confidence


def majority_excess(m, h, advantage, rng, n_runs):
    """Return the excess of the majority learner, which no learner beats, on random signs."""
    counts = rng.multinomial(m, np.full(h, 1 / h), n_runs)
    right = rng.binomial(counts, (1 + advantage) / 2)
    wrong = (2 * right < counts) + ((2 * right == counts) & (rng.random(counts.shape) < 0.5))
    return advantage * wrong.mean(axis=1)


@pytest.mark.parametrize(("m", "h"), [(50, 20), (400, 40), (300, 10)])
def test_the_best_learner_is_that_bad(m, h, rng):
    """Some advantage must make the majority as bad as stated, with the stated probability."""
    confidence, n_runs = 0.9, 1000
    excess = vc_lower_bound(m, h, confidence=confidence)
    advantages = np.minimum(1, np.sqrt(h / m) * np.geomspace(0.2, 2, 8))
    shares = [
        np.mean(majority_excess(m, h, a, rng, n_runs) >= excess)
        for a in [*advantages, vc_lower_bound(m, 1, confidence=confidence)]
    ]
    one_point = np.mean(rng.binomial(m, (1 - excess) / 2, n_runs) * 2 >= m)
    error = np.sqrt(0.1 * 0.9 / n_runs)
    assert max(*shares, one_point) >= 1 - confidence - 4 * error
    # Twice as much would be wrong, whatever the advantage.
    too_much = [np.mean(majority_excess(m, h, a, rng, n_runs) >= 3 * excess) for a in advantages]
    assert max(too_much) < 1 - confidence


def test_many_points_matter():
    assert vc_lower_bound(10_000, 300) > vc_lower_bound(10_000, 1)
    # With one point it is the quantile of a binomial, about 1.645 / sqrt(m).
    assert vc_lower_bound(10_000, 1) == pytest.approx(1.645 / 100, rel=0.01)
    assert binom(10_000, (1 - vc_lower_bound(10_000, 1)) / 2).sf(5000) <= 0.05


@pytest.mark.parametrize(("m", "h"), [(1, 1), (10, 3), (1000, 30), (5000, 5)])
def test_is_below_the_upper_bound_and_falls(m, h):
    assert 0 <= vc_lower_bound(m, h) <= vc_bound(0.0, m, h)
    assert vc_lower_bound(4 * m, h) <= vc_lower_bound(m, h)
    assert vc_lower_bound(m, h, confidence=0.5) <= vc_lower_bound(m, h, confidence=0.9)


def test_the_printed_formula_has_an_unknown_constant():
    expected = math.sqrt(0.02 / 500 * (7 + math.log(10)))
    assert vc_lower_bound(500, 7, confidence=0.9, constant=0.02) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: vc_lower_bound(0, 1), "n_samples should be a whole number"),
        (lambda: vc_lower_bound(5, 0), "vc_dimension should be a whole number"),
        (lambda: vc_lower_bound(5, 1, confidence=1), "confidence should be between"),
        (lambda: vc_lower_bound(5, 1, constant=-1), "constant should be a positive"),
    ],
)
def test_refuses(call, message):
    with pytest.raises(ValueError, match=message):
        call()
