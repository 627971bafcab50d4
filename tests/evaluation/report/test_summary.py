"""The first paragraph: what is predicted, how well, what is promised, the gravest caveat."""

from dataclasses import replace

import numpy as np
import pytest

from bayespoint.evaluation.baselines import Baseline, most_frequent
from bayespoint.evaluation.intervals import share
from bayespoint.evaluation.measure import evaluate, evaluate_probabilities
from bayespoint.evaluation.report.alerts import Alert
from bayespoint.evaluation.report.summary import summarize
from bayespoint.evaluation.seen import SeenRows
from report_helpers import Reject

NEW = SeenRows(100, 100, 0, 100, 0, share(0, 9, 0.95), "all", False)
RIGHT = np.tile([[0.9, 0.1], [0.1, 0.9]], (50, 1))
Y = np.tile(["a", "b"], 50)


def sentences(evaluation, *, baselines=(), held_out=(), alerts=(), target="size"):
    compared = [most_frequent(evaluation), *baselines]
    return summarize(evaluation, target, 7, compared, list(held_out), list(alerts))


def test_a_good_model():
    evaluation = replace(evaluate_probabilities(Y, RIGHT, ["a", "b"]), seen=NEW)
    assert sentences(evaluation) == [
        "This model predicts size (“a” or “b”) from 7 columns.",
        "On 100 rows that it had not seen it is wrong on 0% (95% interval 0 to 3.6%); always "
        "answering “a” would be wrong on 50.0%.",
        # 1 - 0.05^(1/100)
        "Of future rows like these at most 3.0% are answered wrongly, with 95% confidence.",
    ]


@pytest.mark.parametrize(
    ("seen", "known"),
    [
        (NEW, True),
        (None, False),
        (NEW._replace(n_seen=2, requested=True), False),
        (NEW._replace(n_checked=50), False),
        (NEW._replace(n_given=110, n_checked=110, n_seen=10, judged="unseen"), True),
    ],
)
def test_only_rows_that_are_known_to_be_new_are_called_so(seen, known):
    words = " ".join(sentences(replace(evaluate_probabilities(Y, RIGHT, ["a", "b"]), seen=seen)))
    assert ("that it had not seen" in words) == known
    assert ("if these are new" in words) == (not known)


def test_baselines_and_the_first_alert():
    evaluation = evaluate_probabilities(Y, RIGHT, ["a", "b"])
    other = Baseline("random forest", "", share(5, 100, 0.95), 0.1)
    ours = Baseline("this model", "", share(1, 10, 0.95), 0.1)
    alerts = [Alert("First", "Beware.", ""), Alert("Second", "Nothing.", "")]
    words = sentences(evaluation, baselines=[other], alerts=alerts, target=None)
    assert words[0] == "This model answers “a” or “b”, from 7 columns."
    assert "From the same training rows, random forest is wrong on 5.0%." in words
    assert words[-1] == "Beware."
    words = " ".join(sentences(evaluation, held_out=[ours, other]))
    assert "On 10 rows held out in training it was wrong on 10.0%, random forest on 5.0%" in words


def test_useless_as_a_classifier_and_useful_as_a_ranking():
    y = np.repeat(["no", "yes"], [180, 20])
    score = np.where(y == "yes", 0.3, 0.1)
    evaluation = evaluate_probabilities(y, np.column_stack([1 - score, score]), ["no", "yes"])
    words = " ".join(sentences(evaluation))
    assert "As a classifier it is useless here: it always answers “no”." in words
    assert "As a ranking it is useful" in words
    assert " %" not in words


def test_the_promise_of_a_reject_option_and_many_classes():
    model = Reject(RIGHT, ["a", "b"], 0.75, max_error=0.05, calibration_confidence_=np.ones(500))
    words = " ".join(sentences(evaluate(model, None, Y)))
    assert "at most 5% of its answers are wrong, with 90% confidence" in words
    assert "it answers 100% of these rows" in words
    model = Reject(RIGHT, ["a", "b"], np.inf, max_error=0.05, calibration_confidence_=np.ones(9))
    words = " ".join(sentences(evaluate(model, None, Y)))
    assert (
        "It cannot promise that at most 5% of its answers are wrong, so it refuses every" in words
    )
    assert "future rows" not in words
    probability = np.full((10, 10), 0.1)
    evaluation = evaluate_probabilities(np.arange(10), probability, np.arange(10))
    assert "predicts size (one of 10 classes)" in sentences(evaluation)[0]
