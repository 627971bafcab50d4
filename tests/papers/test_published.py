import math
import re

import numpy as np
import pytest
from scipy import stats

from bayespoint.papers.experiment import Measured, average
from bayespoint.papers.published import PAPERS, Published, _table, agreement_limit, judge, published
from bayespoint.papers.registry import EXPERIMENTS


def test_published_numbers_belong_to_experiments_and_papers():
    assert {name for name, _ in _table()} <= set(EXPERIMENTS)
    assert {number.paper for number in _table().values()} <= set(PAPERS)
    assert {e.paper for e in EXPERIMENTS.values()} <= set(PAPERS)
    assert len(published("table_1")) == 21


def test_verdict_counts_standard_errors():
    paper = Published(10.0, 0.3, "000", "table 1", 0.0)
    assert judge(Measured(10.9, 0.4), paper) == pytest.approx((1.8, "agrees"), abs=1e-9)
    assert judge(Measured(12.0, 0.4), paper).text == "is higher"
    assert judge(Measured(8.0, 0.4), paper).text == "is lower"
    assert judge(Measured(8.0), paper).text == "not compared"


@pytest.mark.parametrize("n", [2, 3, 5, 30, 300])
def test_few_repetitions_agree_as_often_as_many(n, rng):
    """Compare the limit with Student's t, and with means of normal variables."""
    limit = agreement_limit(n, 1.0)
    assert 2 * stats.t(n - 1).sf(limit) == pytest.approx(2 * stats.norm.sf(2))
    paper = Published(0.0, math.nan, "000", "", 1e-12)
    values = rng.standard_normal((4000, n))
    differ = [judge(average(row), paper).text != "agrees" for row in values]
    expected = 2 * stats.norm.sf(2)
    assert abs(np.mean(differ) - expected) < 4 * math.sqrt(expected / len(differ))


def test_verdict_allows_for_few_repetitions():
    exact = Published(0.0, math.nan, "000", "", 1e-12)
    assert judge(Measured(4.4, 1.0, 3), exact) == pytest.approx((4.4, "agrees"))
    assert judge(Measured(4.6, 1.0, 3), exact).text == "is higher"
    # The error is known if it does not come from repetitions.
    assert judge(Measured(-2.1, 1.0, 1), exact).text == "is lower"
    assert judge(Measured(2.1, 1.0, 10_000), exact).text == "is higher"
    # The paper's error and its rounding are known too.
    for known in (Published(0.0, 1.0, "000", "", 0.0), Published(0.0, math.nan, "000", "", 1.0)):
        assert judge(Measured(2.1, 0.0, 3), known).text == "is higher"
        assert judge(Measured(2.1, 1e-200, 3), known).text == "is higher"
        assert judge(Measured(2.1, 0.1, 3), known).text == "is higher"


@pytest.mark.parametrize("n", [3, 10])
def test_numbers_of_as_many_repetitions_have_our_error(n, rng):
    """Both means vary, but only our repetitions give an error: Student's t with n - 1 degrees."""
    ours, theirs = rng.standard_normal((4000, n)), rng.standard_normal((4000, n)).mean(axis=1)
    papers = [Published(value, math.nan, "000", "", 1e-12, True) for value in theirs]
    differ = [judge(average(a), b).text != "agrees" for a, b in zip(ours, papers, strict=True)]
    expected = 2 * stats.norm.sf(2)
    assert abs(np.mean(differ) - expected) < 4 * math.sqrt(expected / len(differ))
    assert published("table_2_1")["heart, SVM error %"].error_as_ours
    assert not published("table_1")["heart, SVM error %"].error_as_ours


def test_the_known_part_of_an_error_counts_as_known(rng):
    """If half of the variance is known and half comes from 3 repetitions, use Welch's limit."""
    runs = math.sqrt(3) * rng.standard_normal((20_000, 3))  # so that the error of the mean is 1
    error = runs.std(axis=1, ddof=1) / math.sqrt(3)
    spread = np.hypot(error, 1)
    far = np.abs(runs.mean(axis=1) + rng.standard_normal(len(runs))) / spread
    limits = [agreement_limit(3, share) for share in error / spread]
    expected = 2 * stats.norm.sf(2)
    off, off_two, off_student = (
        abs(np.mean(far > limit) - expected) for limit in (limits, 2, agreement_limit(3, 1.0))
    )
    sampling = 4 * math.sqrt(2 * expected / len(far))
    assert off + sampling < min(off_two, off_student)


def test_places_say_where_to_look():
    for number in _table().values():
        assert re.search(r"(table|figures?|sec\.) \d", number.place)
    pages = {
        (name, number.place) for (name, _), number in _table().items() if ", p. " in number.place
    }
    assert {name for name, _ in pages} == {"table_2_1", "figure_2_7", "figure_2_8", "figure_12"}


def test_rounding_of_printed_numbers_counts():
    number = published("table_2_1")["banana, LOO-SVM error %"]
    assert number.rounding == pytest.approx(0.1 / math.sqrt(12))
    assert number.text == "10.6"
    assert judge(Measured(10.65, 0.0), number).text == "agrees"
    assert published("table_1")["heart, SVM error %"].text == "25.4 ± 0.40"
