"""Cells and names shared by all sections."""

from bayespoint.evaluation.measure import evaluate_probabilities
from bayespoint.evaluation.report.section import class_name, number_cell, text_cell


def test_cells_are_escaped():
    assert number_cell("<1%") == '<td class="right">&lt;1%</td>'
    assert text_cell("a & b") == '<td class="words">a &amp; b</td>'


def test_names_of_classes_are_cut():
    evaluation = evaluate_probabilities([7, "y" * 99], [[1, 0], [0, 1]], [7, "y" * 99])
    assert class_name(evaluation, 0) == "7"
    assert class_name(evaluation, 1).endswith("…")
