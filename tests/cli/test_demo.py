import numpy as np
import pytest
from sklearn.dummy import DummyClassifier
from typer.testing import CliRunner

from bayespoint.cli import demo
from bayespoint.cli.app import app
from bayespoint.cli.demo import AS_IT_COMES, OURS, TUNED, Score
from bayespoint.cli.demo_tables import DemoTable, Split, breast_cancer
from cli_helpers import run_json


@pytest.fixture
def one_table(monkeypatch):
    monkeypatch.setattr(demo, "TABLES", {"a table": DemoTable(breast_cancer, 60)})
    monkeypatch.setattr(demo, "GRID", {"svc__C": [1, 10]})


@pytest.mark.parametrize("width", [80, 120])
def test_demo_fits_a_terminal(one_table, width):
    result = CliRunner().invoke(app, ["demo", "--splits", "2"], env={"COLUMNS": str(width)})
    assert result.exit_code == 0, result.output
    for word in ["a table", *(OURS, AS_IT_COMES, TUNED), "loss", "refused", "bayespoint train"]:
        assert word in result.output
    assert "…" not in result.output
    assert "bold" not in result.output  # this is not a terminal
    assert max(map(len, result.output.splitlines())) <= width


def test_demo_as_json(one_table):
    scores = run_json("demo", "--splits", "2")["data"]["a table"]
    assert set(scores) == {OURS, AS_IT_COMES, TUNED}
    assert scores[AS_IT_COMES]["log_loss"] is None
    assert 0 <= scores[OURS]["error"] < 0.2
    assert scores[OURS]["seconds"] > 0


def test_scores_of_a_constant_classifier_by_hand():
    """The classifier always predicts 0 with probability 0.75, and errs in one of two rows."""
    X, y = np.zeros((4, 1)), np.array([0, 0, 0, 1])
    score = demo.judge(DummyClassifier(), Split(X, y, X[:2], np.array([0, 1])))
    assert score.error == 0.5
    assert np.isclose(score.log_loss, -np.log([0.75, 0.25]).mean())


def test_the_closing_counts_losses_too():
    ours, plain = Score(0.2, 0.5, 0.1, 1.0), Score(0.1, np.nan, 0.1, 0.5)
    better = {OURS: ours, AS_IT_COMES: plain, TUNED: Score(0.3, 0.6, 0.2, 3.0)}
    worse = {OURS: ours, AS_IT_COMES: plain, TUNED: Score(0.1, 0.4, 0.1, 3.0)}
    text = demo.closing({"one": better, "two": worse})
    assert "lower one on 1 of 2 tables" in text
    assert "fewest errors on 0" in text
    assert "3.0 times as fast" in text
