"""What is said in words about models that are useless as classifiers."""

import numpy as np

from bayespoint.evaluation import evaluate_probabilities
from bayespoint.evaluation.verdict import beats_constant


def rare_class(rng, strength, n_rows=2000):
    """Return probabilities around 6 % that never reach one half, and labels drawn from them."""
    score = rng.normal(size=n_rows)
    p = 0.06 * np.exp(strength * score - strength**2 / 2)
    p = np.clip(p, 1e-6, 0.49)
    return (rng.random(n_rows) < p).astype(int), np.column_stack([1 - p, p])


def test_useless_as_a_classifier_and_useful_as_a_ranking(rng):
    y, probability = rare_class(rng, 0.8)
    evaluation = evaluate_probabilities(y, probability, [0, 1])
    assert not beats_constant(evaluation)
    first, second = evaluation.verdict()
    assert "useless here: it always answers “0”" in first
    assert "As a ranking it is useful" in second
    assert f"{evaluation.ranking.lift:.1f} times as many “1”" in second


def test_a_useful_ranking_with_a_bad_top_is_not_praised_for_it(rng):
    y = np.repeat([0, 1], [600, 400])
    score = np.where(y == 1, rng.uniform(0.2, 0.48, 1000), rng.uniform(0.0, 0.4, 1000))
    score[:100] = 0.49  # the top tenth has no row of the class
    evaluation = evaluate_probabilities(y, np.column_stack([1 - score, score]), [0, 1])
    assert evaluation.ranking.auc.low > 0.5
    assert evaluation.ranking.lift == 0
    assert (
        "% of the cases, but the top 100 rows hold no more “1” than usual."
        in (evaluation.verdict()[1])
    )


def test_useless_as_both(rng):
    y, probability = rare_class(rng, 0.8)
    evaluation = evaluate_probabilities(rng.permutation(y), probability, [0, 1])
    assert evaluation.ranking.auc.low < 0.5  # probability 0.975 for a ranking by chance
    assert "better than chance" in evaluation.verdict()[1]


def test_answers_by_chance_do_not_pass(rng):
    """A model that deviates from the constant at random is called useless, 95 % of the time."""
    passed = 0
    for _ in range(200):
        y = rng.integers(0, 2, 100)
        evaluation = evaluate_probabilities(y, rng.dirichlet([1, 1], 100), [0, 1])
        # Against a constant that is the larger class, luck has to be larger still.
        passed += beats_constant(evaluation)
    assert passed <= 10 + 4 * np.sqrt(200 * 0.05 * 0.95)


def test_a_good_model_gets_no_verdict(rng):
    y = rng.integers(0, 2, 200)
    evaluation = evaluate_probabilities(y, np.eye(2)[y] * 0.8 + 0.1, [0, 1])
    assert evaluation.verdict() == []


def test_classes_that_are_never_answered_are_named(rng):
    y = np.repeat([0, 1, 2], [50, 50, 20])
    probability = np.eye(3)[np.where(y == 2, 0, y)] * 0.7 + 0.1
    evaluation = evaluate_probabilities(y, probability, [0, 1, 2])
    assert evaluation.verdict() == ["It never answers “2”, although the rows have such cases."]


def test_more_classes_without_a_ranking(rng):
    y = rng.integers(0, 3, 60)
    evaluation = evaluate_probabilities(y, np.tile([0.5, 0.3, 0.2], (60, 1)), [0, 1, 2])
    assert len(evaluation.verdict()) == 2
    one = evaluate_probabilities([0] * 5, [[0.9, 0.1]] * 5, [0, 1])
    assert "one class only" in one.verdict()[1]
