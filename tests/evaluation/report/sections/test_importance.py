"""The section about columns: the clear ones, with their errors."""

import numpy as np

from bayespoint.evaluation.importance import Importance
from bayespoint.evaluation.report.columns import Table
from bayespoint.evaluation.report.sections.importance import importance_section
from report_helpers import Page

CELLS = Table(np.zeros((2, 30)))


def test_columns_that_matter():
    found = [Importance(7, 0.5, 0.25, 0.05), Importance(2, 0.2, -0.01, 0.04)]
    found += [Importance(j, 0.001, 0.0, 0.01) for j in range(10, 20)]
    found.insert(1, Importance(9, 0.3, 0.0, 0.2))  # large, but perhaps by chance
    words = Page(importance_section(CELLS, found).content).text
    assert "x7 +0.5000 ± 0.1000 +25.0%" in words
    assert "x2 +0.2000 ± 0.0800 −1.0%" in words
    assert "2 columns of 13 matter" in words
    assert "The other 11 columns are not shown" in words
    assert "x9" not in words


def test_many_columns_are_cut_and_unknown_ones_say_nothing():
    found = [Importance(j, 0.5 - j / 100, 0.1, 0.01) for j in range(30)]
    words = Page(importance_section(CELLS, found).content).text
    assert "x14 " in words
    assert "x15 " not in words
    assert importance_section(CELLS, None) is None


def test_no_column_matters():
    found = [Importance(j, -0.01, 0.0, 0.1) for j in range(4)]
    words = Page(importance_section(CELLS, found).content).text
    assert "0 columns of 4 matter" in words
    assert "x2 " in words
    assert "x3 " not in words
