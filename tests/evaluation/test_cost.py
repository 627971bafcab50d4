"""The mean cost of answers, counted row by row."""

import numpy as np
import pytest

from bayespoint.evaluation import evaluate_probabilities
from bayespoint.evaluation.cost import mean_cost

COSTS = np.array([[0.0, 1.0], [5.0, 0.0]])


def test_costs_row_by_row(rng):
    probability = rng.dirichlet([1, 1], 100)
    y = rng.integers(0, 2, 100)
    evaluation = evaluate_probabilities(y, probability, [0, 1], costs=COSTS)
    paid = [COSTS[true, answer] for true, answer in zip(y, evaluation.predicted, strict=True)]
    cost = evaluation.cost
    assert cost.value == pytest.approx(np.mean(paid))
    assert cost.high - cost.value == pytest.approx(1.959964 * np.std(paid, ddof=1) / 10)
    always = [5 * np.mean(y == 1), np.mean(y == 0)]
    assert cost.constant == np.argmin(always)
    assert cost.constant_value == pytest.approx(min(always))
    assert evaluation.to_dict()["cost"]["value"] == cost.value


def test_the_interval_stays_among_the_costs_and_one_row_knows_nothing():
    cost = mean_cost(COSTS, np.array([1]), np.array([0]), 0.95)
    assert (cost.value, cost.low, cost.high) == (5, 0, 5)


def test_unknown_classes_cost_most():
    cost = mean_cost(COSTS, np.array([0, 2]), np.array([0, 0]), 0.95)
    assert cost.value == 2.5
