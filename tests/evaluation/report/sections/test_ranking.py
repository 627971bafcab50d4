"""The ranking section: three curves for the rarer of two classes, and the top rows."""

import numpy as np

from bayespoint.evaluation.measure import evaluate_probabilities
from bayespoint.evaluation.report.sections.ranking import ranking_section
from report_helpers import Page


def evaluation_of(n_rare, n_rows, shift):
    rng = np.random.default_rng(0)
    rare = np.arange(n_rows) < n_rare
    score = 1 / (1 + np.exp(3 - rng.normal(size=n_rows) - shift * rare))
    names = np.where(rare, "<yes>", "no")
    return evaluate_probabilities(names, np.column_stack([score, 1 - score]), ["<yes>", "no"])


def test_three_curves_and_a_table():
    section = ranking_section(evaluation_of(60, 1000, 1.5))
    assert section.heading == "How well it finds “<yes>”"
    words = Page(section.content).text
    assert section.content.count("<svg") == 3
    for name in ("ROC curve", "Precision and recall", "Lift"):
        assert name in words
    assert "the rarer class (6.0% of the rows)" in words
    assert "by chance it would be 0.060" in words
    assert "first 10%" in words


def test_a_perfect_order_finds_all_first():
    words = Page(ranking_section(evaluation_of(100, 1000, 50)).content).text
    assert "first 10% 100 of 100 100% 100% 10.0 ×" in words
    assert "first 50% 100 of 500 20.0% 100% 2.0 ×" in words


def test_nothing_without_two_classes():
    assert ranking_section(evaluation_of(0, 50, 1)) is None
    three = evaluate_probabilities([0, 1, 2], np.full((3, 3), 1 / 3), [0, 1, 2])
    assert ranking_section(three) is None


def test_few_rows_have_no_table():
    assert "most probable rows" not in Page(ranking_section(evaluation_of(3, 9, 1)).content).text
