import pytest

from bayespoint.datasets.paper_data import PAPER_DATA
from bayespoint.papers.contest import Split
from bayespoint.papers.raetsch import TRAIN_SIZES
from bayespoint.papers.table_1 import SETTINGS, kept_splits


def test_too_few_splits_are_refused():
    with pytest.raises(ValueError, match=r"At least 2 splits .* but there are 1 of 3"):
        kept_splits([None, Split(1.0, 1.0, 0.0, 0.0, False, False), None])


def test_every_published_data_set_can_be_loaded():
    assert set(PAPER_DATA) == {*SETTINGS, *TRAIN_SIZES, "wisconsin"}
