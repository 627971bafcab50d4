"""Measures of ranking against scikit-learn and by counting."""

import numpy as np
import pytest
from sklearn.metrics import (
    average_precision_score,
    balanced_accuracy_score,
    precision_score,
    recall_score,
    roc_auc_score,
)

from bayespoint.evaluation import evaluate_probabilities
from bayespoint.evaluation.ranking import area_under_curve, lift


@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("decimals", [1, 6])
def test_measures_are_those_of_scikit_learn(rng, n_classes, decimals):
    probability = rng.dirichlet(np.full(n_classes, 0.7), 300).round(decimals)
    y = np.array([rng.choice(n_classes, p=row / row.sum()) for row in probability])
    evaluation = evaluate_probabilities(y, probability, np.arange(n_classes))
    answer = probability.argmax(axis=1)
    keywords = {"average": None, "zero_division": np.nan, "labels": np.arange(n_classes)}
    recall, precision = recall_score(y, answer, **keywords), precision_score(y, answer, **keywords)
    for k, one in enumerate(evaluation.per_class):
        assert one.n_rows == np.count_nonzero(y == k)
        assert one.recall.value == pytest.approx(recall[k])
        assert one.precision.value == pytest.approx(precision[k])
        assert one.auc.value == pytest.approx(roc_auc_score(y == k, probability[:, k]))
        expected = average_precision_score(y == k, probability[:, k])
        assert one.average_precision == pytest.approx(expected)
    assert evaluation.balanced_accuracy == pytest.approx(balanced_accuracy_score(y, answer))
    if n_classes == 2:
        assert evaluation.auc == evaluation.per_class[evaluation.rare].auc
    else:
        values = [one.auc.value for one in evaluation.per_class]
        assert evaluation.auc.value == pytest.approx(np.mean(values))


def pairs_won(positive, score):
    own, others = score[positive][:, None], score[~positive]
    return np.mean((own > others) + 0.5 * (own == others))


def test_the_interval_of_the_area_holds_the_truth_as_often_as_it_says():
    """Scores are normal with a shift of one: the area is Phi(1 / sqrt(2)) = 0.7602."""
    rng, n_runs, hits = np.random.default_rng(0), 400, 0
    positive = np.arange(200) < 40
    for _ in range(n_runs):
        score = rng.normal(size=200) + positive
        found = area_under_curve(positive, score, 0.9)
        assert found.value == pytest.approx(pairs_won(positive, score))
        hits += found.low <= 0.7602 <= found.high
    # Three standard deviations of a count with p = 0.9, and the normal limit is not exact at 40.
    assert abs(hits - 0.9 * n_runs) < 3 * np.sqrt(n_runs * 0.9 * 0.1) + 0.02 * n_runs


def test_a_perfect_ranking_is_not_certain():
    positive = np.arange(20) < 5
    found = area_under_curve(positive, positive.astype(float), 0.95)
    assert found.value == found.high == 1
    assert found.low == pytest.approx(0.025 ** (1 / 5))  # five of five pairs: Clopper, Pearson


def test_lift_counts_top_rows_and_shares_ties():
    positive = np.array([True, True, False, False, False, False, False, True, False, False])
    score = np.array([0.9, 0.8, 0.7, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1])
    assert lift(positive, score, 1) == pytest.approx(1 / 0.3)
    assert lift(positive, score, 3) == pytest.approx((2 / 3) / 0.3)
    assert lift(positive, np.zeros(10), 4) == pytest.approx(1)  # no ranking: nothing is gained


def test_rows_of_one_class_tell_nothing():
    evaluation = evaluate_probabilities([0, 0], [[0.9, 0.1], [0.2, 0.8]], [0, 1])
    assert all(np.isnan(one.auc.value) for one in evaluation.per_class)
    assert np.isnan(evaluation.auc.value)
    assert evaluation.to_dict()["auc"]["value"] is None
