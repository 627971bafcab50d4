import numpy as np

from bayespoint.papers.experiment import Plan
from bayespoint.papers.published import published
from bayespoint.papers.table_18_1 import MAX_ERRORS, onion, paper_table


def test_every_entry_of_the_table_is_published():
    entries = [(i, j) for i in range(MAX_ERRORS + 1) for j in range(MAX_ERRORS + 1)]
    kinds = ("errors", "errors on negative points", "errors on positive points")
    expected = {f"{kind}, entry {entry}" for kind in kinds for entry in entries}
    assert set(published("table_18_1")) == {*expected, "errors, mean of all entries"}


def test_published_errors_add_up():
    total = paper_table("negative") + paper_table("positive")
    theirs = published("table_18_1")
    for (i, j), value in np.ndenumerate(total):
        assert theirs[f"errors, entry ({i}, {j})"].value == value
    mean = theirs["errors, mean of all entries"]
    assert abs(total.mean() - mean.value) < 0.05


def test_sigma_becomes_gamma():
    assert onion(2.0, Plan()).gamma == 1 / 8
