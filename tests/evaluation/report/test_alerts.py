"""Alerts: each one where it belongs, none for a clean report, the gravest first."""

from dataclasses import replace

import numpy as np
import pytest

from bayespoint.evaluation.baselines import most_frequent
from bayespoint.evaluation.drift import Drift
from bayespoint.evaluation.importance import Importance
from bayespoint.evaluation.intervals import share
from bayespoint.evaluation.measure import evaluate, evaluate_probabilities
from bayespoint.evaluation.report.alerts import find_alerts
from bayespoint.evaluation.report.columns import Table
from bayespoint.evaluation.report.diagnosis import Finding
from bayespoint.evaluation.report.facts import Facts
from bayespoint.evaluation.seen import SeenRows
from report_helpers import Reject

N_ROWS = 1000
NEW = SeenRows(N_ROWS, N_ROWS, 0, N_ROWS, 0, share(0, 9, 0.95), "all", False)
RIGHT = np.tile([[0.9, 0.1], [0.1, 0.9]], (N_ROWS // 2, 1))
Y = np.tile(["a", "b"], N_ROWS // 2)
CLEAN = replace(evaluate_probabilities(Y, RIGHT, ["a", "b"]), seen=NEW)


def facts(evaluation=CLEAN, X=None, **changes):
    cells = Table(np.zeros((N_ROWS, 3)) if X is None else X)
    nothing = Facts(
        None, evaluation, cells, [most_frequent(evaluation)], None, None, None, [], None, []
    )
    return nothing._replace(**changes)


def only(**changes):
    (alert,) = find_alerts(facts(**changes))
    return f"{alert.title}. {alert.words}"


def test_a_clean_report_has_none():
    assert find_alerts(facts()) == []
    fine = [Finding("ok", "1", "fine", True), Finding("neutral", "1", "a number")]
    same = [Drift("x", 0.02, 1.0, 0.0, 0.0, [])]
    assert find_alerts(facts(findings=fine, drifts=same)) == []


def test_rows_of_the_training():
    assert "nobody can tell" in only(evaluation=replace(CLEAN, seen=None))
    some = NEW._replace(n_given=1010, n_checked=1010, n_seen=10, judged="unseen")
    assert "Only the 1,000 others are judged" in only(evaluation=replace(CLEAN, seen=some))
    tested = NEW._replace(n_held_out=7)
    assert "7 of them already tested" in only(evaluation=replace(CLEAN, seen=tested))


def test_classes_that_are_unknown_rare_or_small():
    y = np.where(np.arange(N_ROWS) < 3, "<new>", Y)
    evaluation = replace(evaluate_probabilities(y, RIGHT, ["a", "b"]), seen=NEW)
    assert only(evaluation=evaluation).startswith("Unknown classes. 3 rows of classes")
    # Half of the rare class is found, nothing else is mistaken for it.
    y = np.where(np.arange(N_ROWS) < 60, "b", "a")
    score = np.where(np.arange(N_ROWS) < 30, 0.9, 0.1)
    probability = np.column_stack([1 - score, score])
    evaluation = replace(evaluate_probabilities(y, probability, ["a", "b"]), seen=NEW)
    words = only(evaluation=evaluation)
    assert words.startswith("Rare class. Only 6.0% of the rows are “b”")
    assert "the model finds 30 of 60" in words
    y = np.where(np.arange(N_ROWS) < 5, 2, np.arange(N_ROWS) % 2)
    evaluation = replace(evaluate_probabilities(y, np.eye(3)[y], [0, 1, 2]), seen=NEW)
    assert "1 class of 3 has fewer than 10 rows" in only(evaluation=evaluation)


def test_a_broken_promise():
    model = Reject(RIGHT[:, ::-1], ["a", "b"], 0.75, max_error=0.05)
    evaluation = replace(evaluate(model, None, Y), seen=NEW)
    titles = [alert.title for alert in find_alerts(facts(evaluation=evaluation))]
    assert titles == ["Broken promise"]


def test_one_column_that_knows_everything():
    leak = [Importance(1, 2.0, 0.5, 0.1), Importance(0, 0.01, 0.0, 0.1), Importance(2, 0, 0, 0.1)]
    assert "Almost everything comes from the column “x1”" in only(importances=leak)
    shared = [leak[0], leak[1]._replace(log_loss=0.5), leak[2]]
    assert find_alerts(facts(importances=shared)) == []


def test_columns_that_were_accused_before():
    words = only(suspects=["<copy>", "later"])
    assert words.startswith("Possible leak. A single column predicts almost every answer alone: ")
    assert "“<copy>”, “later”. Is it known before the answer is" in words


def test_few_rows():
    few = replace(evaluate_probabilities(Y[:40], RIGHT[:40, ::-1] ** 0.1, ["a", "b"]), seen=NEW)
    few = replace(few, error=share(4, 40, 0.95))
    titles = [alert.title for alert in find_alerts(facts(evaluation=few))]
    assert "Few rows" in titles


def test_drift_new_categories_and_missing_values():
    drifted = Drift("age", 0.5, 1e-9, 0.0, 0.0, [])
    assert "Drift. 1 column of 1 differs from training" in only(drifts=[drifted])
    new = Drift("town", 0.01, 1.0, 0.0, 0.0, ["<Ulm>"])
    assert "town (“<Ulm>”)" in only(drifts=[new])
    X = np.zeros((N_ROWS, 8))
    X[:300, :7] = np.nan
    words = only(X=X)
    assert "7 columns often have no value: x0 (30.0%)" in words
    assert "and 2 more" in words


def test_the_training_and_the_order():
    bad = Finding("the solver", "3 s", "ran out of time", False)
    assert only(findings=[bad]) == "Training. The solver (3 s): ran out of time."
    drifted = Drift("age", 0.5, 1e-9, 0.0, 0.0, [])
    many = facts(evaluation=replace(CLEAN, seen=None), findings=[bad], drifts=[drifted])
    assert [alert.title for alert in find_alerts(many)] == ["Perhaps not new", "Drift", "Training"]


@pytest.mark.parametrize("section", ["about", "training", "drift"])
def test_sections_that_alerts_link_to_exist(section, write, iris):
    from sklearn.linear_model import LogisticRegression

    X, y, X_test, y_test = iris
    model = LogisticRegression(max_iter=1000).fit(X, y)
    _, page = write(model, X_test, y_test, train=(X, y))
    assert ("id", section) in page.attributes
