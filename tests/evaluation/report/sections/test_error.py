"""The error section: the model compared with its baselines."""

import re
from dataclasses import replace

import numpy as np
import pytest

from bayespoint.evaluation.baselines import Baseline
from bayespoint.evaluation.fingerprints import Fingerprints
from bayespoint.evaluation.intervals import share
from bayespoint.evaluation.measure import evaluate_probabilities
from bayespoint.evaluation.record import TrainingRecord
from bayespoint.evaluation.report.sections.error import error_section
from report_helpers import Constant, Page


@pytest.mark.parametrize("n_rows", [1, 2, 12])
def test_few_rows(write, n_rows):
    y = np.arange(n_rows) % 2
    probability = np.tile([0.3, 0.7], (n_rows, 1))
    _, page = write(Constant(probability, [0, 1]), np.zeros((n_rows, 1)), y, baselines=True)
    assert "always 0" in page.text  # a constant column
    assert "a fair comparison needs the training rows" in page.text


def test_one_class_in_the_rows(write):
    _, page = write(
        Constant([[0.3, 0.7]] * 9, ["a", "b"]), np.zeros((9, 1)), ["a"] * 9, baselines=True
    )
    assert "always “a”" in page.text


def test_the_report_says_why_baselines_cannot_be_trained(write):
    X = pytest.importorskip("pandas").DataFrame({"text": ["a", "b"] * 10})
    model = Constant([[0.3, 0.7]] * 20, [0, 1])
    _, page = write(model, X, [0, 1] * 10, train=(X, [0, 1] * 10), baselines=True)
    assert "could not be trained" in page.text


def test_baselines_of_the_training_are_compared_on_the_rows_held_out_then():
    evaluation = evaluate_probabilities([0, 1, 1], [[0.9, 0.1], [0.4, 0.6], [0.7, 0.3]], [0, 1])
    compared = [
        Baseline("this model", "learned", share(2, 40, 0.95), 0.2),
        Baseline("random forest", "learned from the same 90 rows", share(3, 40, 0.95), 0.3),
    ]
    record = TrainingRecord(Fingerprints.empty(), share(0, 40, 0.95), compared, "No <time>.")
    words = Page(error_section(evaluation, [], None, record).content).text
    assert "Error on 40 rows held out in training" in words
    assert "random forest 7.5%" in words
    assert "random forest: learned from the same 90 rows." in words
    assert "No <time>." in words


def test_model_and_baselines_on_one_scale():
    evaluation = evaluate_probabilities([0, 1, 1], [[0.9, 0.1], [0.4, 0.6], [0.7, 0.3]], [0, 1])
    other = Baseline("other", "somehow", share(2, 3, 0.95), 0.5)
    section = error_section(evaluation, [other], "A <reason>.")
    words = Page(section.content).text
    for line in ("this model 33.3% 0.8 to 90.6%", "other 66.7% 9.4 to 99.2%", "A <reason>."):
        assert line in words
    # The right ends of the whiskers match the limits, to 0.05 of 90 % of the width.
    bars = re.findall(r'<line class="bar[ a-z]*" x1="[\d.]+%" x2="([\d.]+)%"', section.content)
    ends = [float(end) for end in bars]
    np.testing.assert_allclose((ends[0] - 5) / (ends[1] - 5), 0.9057 / 0.9916, atol=1.2e-3)


def test_costs_in_words():
    evaluation = evaluate_probabilities([0, 1, 1], [[0.9, 0.1], [0.4, 0.6], [0.7, 0.3]], [0, 1])
    assert "costs" not in error_section(evaluation, [], None).content
    costs = np.array([[0.0, 1.0], [6.0, 0.0]])
    words = Page(error_section(replace(evaluation, costs=costs), [], None).content).text
    assert "A row costs 2 on average (95% interval 0 to 5.92); always answering “1”" in words
    assert "would cost 0.333" in words
