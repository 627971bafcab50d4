"""Charts: numbers at the right place on the axes, and a description for screen readers."""

import re

import numpy as np

from bayespoint.evaluation.measure import evaluate_probabilities
from bayespoint.evaluation.report import charts


def test_charts_put_numbers_where_their_axes_say():
    rng = np.random.default_rng(0)
    right = rng.uniform(0.5, 1, size=300)
    y = (rng.random(300) < right).astype(int)
    evaluation = evaluate_probabilities(y, np.column_stack([1 - right, right]), [0, 1])
    chart, places = charts.rejection(evaluation)
    # Read the positions of the labels 0 % and 100 % from the chart; y has no 100 %.
    labels = re.findall(r'<text x="([\d.]+)" y="([\d.]+)"[^>]*>([\d.]+)%<', chart)
    across = {float(v): float(x) for x, y, v in labels if y == labels[0][1]}
    up = {float(v): float(y) for x, y, v in labels if y != labels[0][1]}
    curve = evaluation.rejection
    refused, error = 1 - curve.accepted / 300, curve.errors / curve.accepted
    top = max(up)
    expected_x = across[0] + (across[100] - across[0]) * refused
    expected_y = up[0] + (up[top] - up[0]) * np.minimum(100 * error / top, 1)
    np.testing.assert_allclose(places, np.column_stack([expected_x, expected_y]), atol=0.11)
    line = re.search(r'<path class="curve" d="M([^"]*)"', chart)[1]
    drawn = [[float(v) for v in point.split(" ")] for point in line.split("L")]
    np.testing.assert_array_equal(drawn, places)


def test_charts_say_what_they_show():
    probability = [[0.9, 0.1], [0.4, 0.6], [0.7, 0.3]]
    evaluation = evaluate_probabilities(["a", "b", "b"], probability, ["a", "b"])
    diagram = charts.reliability(evaluation)
    assert "60.0% sure, 100% right; 70.0% sure, 0% right; 90.0% sure, 100% right" in diagram
    curve, places = charts.rejection(evaluation)
    assert "The error is 33.3% if every row is answered" in curve
    assert len(places) == 3


def test_bars_of_a_histogram():
    bars = charts.histogram(np.array([0, 2, 4]), "<name>")
    heights = [float(v) for v in re.findall(r"v(-[\d.]+)h", bars)]
    assert heights == [-11.5, -23.0]  # none for an empty bin
    assert 'aria-label="&lt;name&gt;"' in bars
