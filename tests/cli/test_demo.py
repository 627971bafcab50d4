import numpy as np
from sklearn.dummy import DummyClassifier
from typer.testing import CliRunner

from bayespoint.cli import demo
from bayespoint.cli.app import app
from cli_helpers import run_json


def test_demo_shows_both_classifiers():
    result = CliRunner().invoke(app, ["demo", "--splits", "2"], env={"COLUMNS": "120"})
    assert result.exit_code == 0, result.output
    for word in ["iris", "digits", "Bayes point", "SVC", "log loss", "rejected"]:
        assert word in result.output


def test_demo_as_json(monkeypatch):
    monkeypatch.setattr(demo, "DATA", {"iris": demo.load_iris})
    scores = run_json("demo", "--splits", "2")["data"]["iris"]
    assert set(scores) == {"Bayes point", "SVC"}
    assert 0 <= scores["Bayes point"]["error"] < 0.2


def test_scores_of_a_constant_classifier_by_hand():
    """The classifier always predicts 0 with probability 0.75, and errs in one of two rows."""
    X, y = np.zeros((4, 1)), np.array([0, 0, 0, 1])
    model = DummyClassifier()
    score = demo._score(model, model, X, y, X[:2], np.array([0, 1]))
    assert (score.error, score.confidence) == (0.5, 0.75)
    assert np.isclose(score.log_loss, -np.log([0.75, 0.25]).mean())


def test_the_time_is_a_median():
    scores = [demo.Score(0.1, 0.9, 0.2, 0.1, seconds) for seconds in (9.0, 1.0, 2.0)]
    assert demo._mean(scores).seconds == 2.0
