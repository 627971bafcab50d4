"""Evidence against many wrong rows: exact for small files, by going through all draws."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import hypergeom

from bayespoint.classifiers.reject.anytime import log_evidence, most_wrong_rows

SIZE = 60
RISK = 0.05


def laws(n_bad):
    """Yield n and the probability of each number of wrong rows among the first n, exactly."""
    for n in range(SIZE + 1):
        yield n, hypergeom.pmf(np.arange(n + 1), SIZE, n_bad, n)


def chance_of_ever_crossing(evidence, n_bad):
    """Return the probability that the evidence ever reaches 1 / RISK, by dynamic programming."""
    alive, crossed = {0: 1.0}, 0.0
    for n in range(SIZE + 1):
        for wrong in [w for w in alive if evidence(w, n) >= -math.log(RISK)]:
            crossed += alive.pop(wrong)
        following: dict[int, float] = {}
        for wrong, chance in alive.items():
            p = (n_bad - wrong) / (SIZE - n) if n < SIZE else 0.0
            for more, q in ((1, p), (0, 1 - p)):
                if q > 0:
                    following[wrong + more] = following.get(wrong + more, 0.0) + chance * q
        alive = following
    return crossed


@pytest.mark.parametrize("n_bad", [3, 6, 20])
def test_the_evidence_against_the_truth_has_mean_at_most_one_at_all_times(n_bad):
    for n, law in laws(n_bad):
        evidence = np.exp(log_evidence(np.arange(n + 1), n, SIZE, n_bad, 0.1))
        assert law @ np.where(law > 0, evidence, 0) <= 1 + 1e-9


@pytest.mark.parametrize("n_bad", [3, 6, 12])
def test_the_truth_is_ever_excluded_with_at_most_the_risk(n_bad):
    def evidence(wrong, n):
        return log_evidence(wrong, n, SIZE, n_bad, 0.1)

    assert chance_of_ever_crossing(evidence, n_bad) <= RISK


def test_a_one_shot_test_at_every_step_breaks_it():
    def one_shot(wrong, n):
        return -hypergeom.logcdf(wrong, SIZE, 6, n)

    assert chance_of_ever_crossing(one_shot, 6) > 2 * RISK


def test_a_larger_number_has_more_evidence_against_it():
    tested = np.arange(5, SIZE + 1)
    evidence = log_evidence(1, 15, SIZE, tested, 0.1)
    assert np.all(np.diff(evidence[np.isfinite(evidence)]) > 0)


@given(st.integers(0, 30), st.integers(0, 5))
def test_the_limit_is_the_largest_number_that_is_not_excluded(n_drawn, n_wrong):
    n_wrong = min(n_wrong, n_drawn)
    tested = np.arange(SIZE + 1)
    excluded = log_evidence(n_wrong, n_drawn, SIZE, tested, 0.1) >= -math.log(RISK)
    assert most_wrong_rows([n_wrong], [n_drawn], SIZE, 0.1, RISK) == tested[~excluded].max()


def test_all_rows_drawn_leave_no_doubt():
    n = np.arange(SIZE + 1)
    assert most_wrong_rows(np.minimum(n, 2), n, SIZE, 0.1, RISK) == 2


def test_impossible_numbers_are_excluded():
    assert log_evidence(0, 10, SIZE, SIZE - 5, 0.1) == np.inf
    assert log_evidence(3, 10, SIZE, 2, 0.1) == -np.inf
