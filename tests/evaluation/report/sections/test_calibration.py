"""The calibration section: overconfident, underconfident, or neither."""

import numpy as np
import pytest

from bayespoint.evaluation.measure import evaluate_probabilities
from bayespoint.evaluation.report.sections.calibration import calibration_section
from report_helpers import Page


@pytest.mark.parametrize(
    ("confidence", "verdict"),
    [(0.8, "as close as chance allows"), (0.95, "too sure of itself"), (0.6, "less sure than")],
)
def test_verdict(confidence, verdict):
    y = np.array([0] * 80 + [1] * 20)  # 80 of 100 are right
    evaluation = evaluate_probabilities(y, [[confidence, 1 - confidence]] * 100, [0, 1])
    words = Page(calibration_section(evaluation).content).text
    assert f"On average it is {100 * confidence:.1f}% sure, and right in 80.0%" in words
    assert verdict in words


def test_bins_are_in_the_table(rng):
    probability = rng.dirichlet(np.ones(3), 500)
    evaluation = evaluate_probabilities(rng.integers(0, 3, 500), probability, [0, 1, 2])
    words = Page(calibration_section(evaluation).content).text
    bins = evaluation.reliability
    for right, total in zip(bins.right, bins.total, strict=True):
        assert f"% {total} {100 * right / total:.1f}%" in words or right in (0, total)
