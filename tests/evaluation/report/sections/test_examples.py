"""The examples section: which rows it shows, and their names."""

import re

import numpy as np
import pytest

from bayespoint.evaluation.measure import evaluate_probabilities
from bayespoint.evaluation.report.columns import Table
from bayespoint.evaluation.report.sections.examples import examples_section
from report_helpers import Constant, Page

pd = pytest.importorskip("pandas")


def test_examples_are_the_hardest_and_can_be_left_out(write):
    X = pd.DataFrame({"secret": [f"s{i}" for i in range(40)]})
    confidence = np.linspace(0.5, 0.99, 40)
    y = np.where(np.arange(40) % 3 == 0, 1, 0)  # predictions are wrong where y is 1
    model = Constant(np.column_stack([confidence, 1 - confidence]), [0, 1])
    _, page = write(model, X, y, n_examples=2)
    assert re.search(r"greatest confidence.* 40 1 0 99.0% s39 37 1 0 95.\d% s36 Least", page.text)
    assert re.search(r"Least certain .* 1 1 0 50.0% s0 2 0 0 51.3% s1 ", page.text)
    _, page = write(model, X, y, n_examples=0)
    assert "Rows to look at" not in page.text
    assert "s39" not in page.text


def test_rows_have_the_names_of_the_index():
    X = pd.DataFrame(np.zeros((2, 20)), index=["ann", "bob"])
    evaluation = evaluate_probabilities([0, 1], [[0.9, 0.1], [0.8, 0.2]], [0, 1])
    words = Page(examples_section(evaluation, Table(X), 5, range(20)).content).text
    assert "Rows are named by their index. The first 8 of 20 columns are shown." in words
    assert "bob 1 0 80.0%" in words


def test_the_most_important_columns_are_shown():
    X = pd.DataFrame(np.zeros((2, 20))).add_prefix("column ")
    evaluation = evaluate_probabilities([0, 1], [[0.9, 0.1], [0.8, 0.2]], [0, 1])
    words = Page(examples_section(evaluation, Table(X), 5, range(19, -1, -1)).content).text
    assert "The 8 most important of 20 columns are shown." in words
    assert "confidence column 12 column 13" in words
    assert "column 11" not in words
