import numpy as np
import pytest
from sklearn.dummy import DummyClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression

from bayespoint import RejectOptionClassifier
from bayespoint.cli.summary import quality, summary
from bayespoint.evaluation import evaluate

ABOUT = {"n_rows": 1234, "data": "t.csv", "seconds": 2.04, "target": "kind", "n_held_out": 2000}


def described(classifier, X, y, columns=None):
    model = RejectOptionClassifier(FrozenEstimator(classifier.fit(X, y))).fit(X, y)
    evaluation = evaluate(model, X, y)
    return summary(model, ABOUT | {"columns": columns}, evaluation, "m.bpm", 2_500_000), evaluation


@pytest.fixture
def rows(rng):
    X = rng.standard_normal((2000, 1))
    return X, np.where(X[:, 0] + 0.5 * rng.standard_normal(2000) > 0, "yes", "no")


def test_lines_say_what_was_trained_and_how_good_it_is(rows):
    columns = {"numbers": ["a"], "categories": []}
    lines, evaluation = described(LogisticRegression(), *rows, columns)
    text = "\n".join(lines)
    assert text.startswith("Trained with 1,234 rows of t.csv (1 numeric column) in 2.0 s:")
    assert "On 2,000 held-out rows:" in text
    assert f"{100 * evaluation.error.value:.1f} %" in text
    assert text.endswith("Written to m.bpm (2.5 MB).")


def test_smaller_errors_are_promised_for_fewer_answers(rows):
    lines, _ = described(LogisticRegression(), *rows)
    start = [line.split() for line in lines].index(["error", "answered"])
    table = [line.replace("%", "").split() for line in lines[start + 1 :] if "%" in line]
    errors, answered = np.array(table, dtype=float).T
    assert len(errors) >= 2
    assert (np.diff(errors) < 0).all()
    assert (np.diff(answered) < 0).all()


def test_noisy_rows_have_promises_too(rows, rng):
    X, y = rows
    lines, evaluation = described(
        LogisticRegression(), X, np.where(rng.random(len(y)) < 0.2, "no", y)
    )
    assert evaluation.error.high > 0.2
    first = [line.split() for line in lines].index(["error", "answered"]) + 1
    assert lines[first].startswith("  20.0 %")


def test_a_model_that_knows_nothing_promises_nothing(rows):
    lines, evaluation = described(DummyClassifier(), *rows)
    assert "promise" not in "\n".join(lines)
    assert "95 % interval" in quality(evaluation)[0]


def test_many_classes_are_counted(rng):
    y = np.arange(700) % 7
    lines, _ = described(DummyClassifier(), np.zeros((700, 1)), y)
    assert any("Classes of kind: " in line and ", and 2 more." in line for line in lines)
