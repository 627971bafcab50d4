import math

import numpy as np
import pytest
from scipy import stats

from bayespoint.papers.experiment import Plan, average, counted, significance, single_runs


def test_statistics_by_hand():
    assert average([1.0, 2.0, 6.0]) == pytest.approx((3.0, math.sqrt(7 / 3), 3))
    assert math.isnan(average([1.0]).error)
    # The difference of one run from the mean of three has 4/3 times the variance of a run.
    assert single_runs([1.0, 2.0, 6.0]).error == pytest.approx(math.sqrt(7 * 4 / 3))
    assert counted(10, 100) == pytest.approx((10.0, 3.0, 100))
    assert counted(0, 100).error > 0


def test_results_do_not_depend_on_the_processes():
    items = [(k, 2) for k in range(5)]
    assert Plan(jobs=2).repeat(pow, items) == [0, 1, 4, 9, 16] == Plan().repeat(pow, items)


def test_progress_is_reported_after_each_result():
    reports = []
    plan = Plan(progress=lambda *report: reports.append(report))
    plan.repeat(pow, [(2, 3), (3, 2)], "powers")
    assert reports == [(0, 2, "powers"), (1, 2, "powers"), (2, 2, "powers")]


def test_significance_agrees_with_a_test_by_hand(rng):
    svm, bpm = rng.uniform(10, 20, 12), rng.uniform(9, 19, 12)
    difference = svm - bpm
    t = difference.mean() / (difference.std(ddof=1) / np.sqrt(12))
    found = significance(bpm, svm)
    assert found.mean == pytest.approx(stats.t(11).cdf(t))
    assert found.error == pytest.approx((stats.t(11).cdf(t + 1) - stats.t(11).cdf(t - 1)) / 2)


@pytest.mark.parametrize(("errors", "expected"), [(1.0, 1.0), (2.0, 0.5), (3.0, 0.0)])
def test_constant_difference_is_judged_without_a_test(errors, expected):
    assert significance([errors] * 3, [2.0] * 3).mean == expected
