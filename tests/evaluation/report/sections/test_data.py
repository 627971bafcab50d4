"""The data section: columns, and unknown classes."""

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


def test_missing_values():
    X = np.where(np.arange(100) < 65, np.nan, 1.0)[:, None]
    evaluation = evaluate_probabilities([0, 1] * 50, np.full((100, 2), 0.5), [0, 1])
    words = Page(data_section(Table(X), evaluation, [0]).content).text
    assert "x0 numbers 65.0% always 1" in words
