from bayespoint.papers.experiment import Plan
from bayespoint.papers.published import published
from bayespoint.papers.table_18_1 import MAX_ERRORS, onion


def test_every_entry_of_the_table_is_published():
    entries = [(i, j) for i in range(MAX_ERRORS + 1) for j in range(MAX_ERRORS + 1)]
    assert set(published("table_18_1")) == {f"errors, entry {entry}" for entry in entries}


def test_sigma_becomes_gamma():
    assert onion(2.0, Plan()).gamma == 1 / 8
