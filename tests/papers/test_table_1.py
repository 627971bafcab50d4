import numpy as np
import pytest
from scipy import stats

from bayespoint.datasets.paper_data import PAPER_DATA
from bayespoint.papers.contest import Split
from bayespoint.papers.raetsch import TRAIN_SIZES
from bayespoint.papers.table_1 import SETTINGS, kept_splits, p_value


def test_p_value_agrees_with_a_test_by_hand(rng):
    svm, bpm = rng.uniform(10, 20, 12), rng.uniform(9, 19, 12)
    splits = [Split(a, b, 0.1, 0.1, False, False) for a, b in zip(svm, bpm, strict=True)]
    difference = bpm - svm
    t = difference.mean() / (difference.std(ddof=1) / np.sqrt(12))
    assert np.isclose(p_value(kept_splits([None, *splits])), stats.t(11).cdf(t))


@pytest.mark.parametrize(("bpm", "expected"), [(1.0, 0.0), (2.0, 0.5), (3.0, 1.0)])
def test_constant_difference_is_judged_without_a_test(bpm, expected):
    assert p_value([Split(2.0, bpm, 0.0, 0.0, False, False)] * 3) == expected


def test_too_few_splits_are_refused():
    with pytest.raises(ValueError, match=r"At least 2 splits .* but there are 1 of 3"):
        kept_splits([None, Split(1.0, 1.0, 0.0, 0.0, False, False), None])


def test_every_published_data_set_can_be_loaded():
    assert set(PAPER_DATA) == {*SETTINGS, *TRAIN_SIZES, "wisconsin"}
