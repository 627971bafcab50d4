"""The data section: columns, classes, and unknown classes."""

import numpy as np

from bayespoint.evaluation.measure import evaluate_probabilities
from bayespoint.evaluation.report.columns import Table
from bayespoint.evaluation.report.sections.data import data_section
from report_helpers import Constant, Page


def test_a_class_that_the_model_does_not_know(write):
    evaluation, page = write(
        Constant([[0.3, 0.7]] * 3, ["a", "b"]), np.zeros((3, 1)), ["a", "b", "new"]
    )
    assert "1 row of classes that the model has never seen (“new”)" in page.text
    assert evaluation.error.number == 2


def test_missing_values_and_the_most_frequent_classes():
    names = np.array([f"class {i:02}" for i in range(25)])
    y = np.repeat(names, np.arange(1, 26))
    X = np.where(np.arange(len(y)) < 65, np.nan, 1.0)[:, None]
    evaluation = evaluate_probabilities(y, np.full((len(y), 25), 0.04), names)
    words = Page(data_section(Table(X), evaluation).content).text
    assert f"x0 numbers {100 * 65 / len(y):.1f}% always 1" in words
    assert "The 20 most frequent of 25 classes class rows share class 24 25 7.7%" in words
    assert "class 04" not in words
