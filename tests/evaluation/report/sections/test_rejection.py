"""The rejection section: slider, chart and table agree with the evaluation."""

import numpy as np

from bayespoint.evaluation.measure import evaluate, evaluate_probabilities
from bayespoint.evaluation.report.formatting import percent
from bayespoint.evaluation.report.sections.rejection import (
    REFUSED_SHARES,
    rejection_section,
    slider_points,
)
from report_helpers import Page, Reject


def calibrated(n_rows):
    rng = np.random.default_rng(0)
    right = rng.uniform(0.5, 1, size=n_rows)
    return np.column_stack([1 - right, right]), (rng.random(n_rows) < right).astype(int)


def test_the_slider_has_every_threshold():
    probability, y = calibrated(300)
    evaluation = evaluate_probabilities(y, probability, [0, 1])
    points = slider_points(evaluation)
    assert len(points) == len(evaluation.rejection.threshold)
    for point, threshold in zip(points, evaluation.rejection.threshold, strict=True):
        kept = evaluation.at(threshold)
        assert point[2] == f"{threshold:.4f}"
        assert point[3] == f"{kept.total} of 300 rows ({percent(kept.total / 300)})"
        assert point[4].startswith(f"{kept.number} of these: {percent(kept.value)} ")
        assert point[5].endswith(f"{percent(kept.value)} of the answers wrong")


def test_the_slider_starts_where_the_model_is():
    probability, y = calibrated(300)
    model = Reject(probability, [0, 1], 0.8, reject_rate=0.3)
    section = rejection_section(evaluate(model, None, y))
    accepted = np.count_nonzero(probability.max(axis=1) >= 0.8)
    words = Page(section.content).text
    assert f"answered {accepted} of 300 rows" in words
    assert "The dotted line is the threshold of the model." in words


def test_the_table_refuses_at_least_what_it_says():
    probability, y = calibrated(1000)
    evaluation = evaluate_probabilities(y, probability, [0, 1])
    words = Page(rejection_section(evaluation).content).text
    for refused in REFUSED_SHARES:
        # 200 thresholds for 1000 rows: steps of half a percent
        rows = np.flatnonzero(evaluation.rejection.accepted <= (1 - refused) * 1000)
        threshold = evaluation.rejection.threshold[rows[0]]
        kept = evaluation.at(threshold)
        assert 0 <= 1 - kept.total / 1000 - refused < 0.01
        assert f"{percent(1 - kept.total / 1000)} {threshold:.4f}" in words


def test_equal_confidences_are_one_threshold():
    evaluation = evaluate_probabilities([0, 1], [[0.9, 0.1], [0.9, 0.1]], [0, 1])
    assert len(slider_points(evaluation)) == 1
