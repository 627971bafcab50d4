"""Costs, thresholds and class weights as people write them, and what they lead to."""

import numpy as np
import pandas as pd
import pytest
import typer

import bayespoint
from bayespoint.classifiers.reject.decision import decide
from bayespoint.cli.decision import (
    Decision,
    check_decision,
    decision_lines,
    make_rule,
    parse_class_weight,
    parse_costs,
    parse_goal,
    rule_for_recall,
    with_class_weight,
)
from bayespoint.cli.source import Plan
from bayespoint.cli.trained import open_model
from bayespoint.evaluation import exact_interval
from bayespoint.io.tables.labels import ClassCounts
from cli_helpers import fails, ok, run_json

CLASSES = np.array(["no", "yes"])


def rare_table(n_rows, seed):
    """Return rows of a class with a share of about 6 % that is never the most probable one."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 3))
    yes = rng.random(n_rows) < 1 / (1 + np.exp(3 - 0.7 * X[:, 0]))
    return pd.DataFrame(X, columns=["a", "b", "c"]).assign(y=np.where(yes, "yes", "no"))


@pytest.fixture(scope="module")
def rare(tmp_path_factory):
    folder = tmp_path_factory.mktemp("rare")
    rare_table(2000, 0).to_csv(folder / "train.csv", index=False)
    rare_table(3000, 1).to_csv(folder / "test.csv", index=False)
    return folder


def trained(folder, *options):
    model = folder / "m.bpm"
    train = ["train", folder / "train.csv", "--target", "y", "--model", model]
    return ok(*train, "--classifier", "linear", *options), model


def test_costs_as_written():
    np.testing.assert_array_equal(parse_costs("yes:no=5, no:yes=2", CLASSES), [[0, 2], [5, 0]])
    np.testing.assert_array_equal(parse_costs("yes:no=5", CLASSES), [[0, 1], [5, 0]])
    np.testing.assert_array_equal(parse_costs("1:0=3,0:0=-1", np.array([0, 1])), [[-1, 1], [3, 0]])
    odd = np.array(["a:b", "c=d"])
    np.testing.assert_array_equal(parse_costs("c=d:a:b=7", odd), [[0, 1], [7, 0]])


def test_costs_of_a_file(tmp_path):
    path = tmp_path / "costs.csv"
    path.write_text("true,no,yes\nno,0,2\nyes,9.5,0\n", encoding="utf-8")
    np.testing.assert_array_equal(parse_costs(str(path), CLASSES), [[0, 2], [9.5, 0]])
    path.write_text("true,no,perhaps\nno,0,2\n", encoding="utf-8")
    with pytest.raises(typer.BadParameter, match="'no:perhaps'"):
        parse_costs(str(path), CLASSES)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("maybe:no=5", "The classes are no, yes"),
        ("5", "TRUE:ANSWER=COST"),
        ("yes:no=much", "expected a number, but found 'much'"),
        ("yes:no=inf", "expected a number"),
        ("yes:no=0,no:yes=0", "cost more than the right"),
    ],
)
def test_costs_that_make_no_sense(text, message):
    with pytest.raises(typer.BadParameter, match=message):
        parse_costs(text, CLASSES)


def test_goals_as_written():
    two = ClassCounts(CLASSES, np.array([9, 1]))
    assert parse_goal("recall=0.8", two) == (1, 0.8)
    assert parse_goal("no:recall=1", two) == (0, 1.0)
    three = ClassCounts(np.array(["a", "b", "c"]), np.array([1, 1, 0]))
    assert parse_goal("b:recall=.5", three) == (1, 0.5)
    with pytest.raises(typer.BadParameter, match="name one of the 3 classes"):
        parse_goal("recall=.5", three)
    with pytest.raises(typer.BadParameter, match="no held-out row"):
        parse_goal("c:recall=.5", three)
    for text, message in (
        ("precision=0.8", "CLASS:recall=SHARE"),
        ("yes:recall=80", "at most 1"),
        ("maybe:recall=0.8", "no class 'maybe'"),
        ("yes:recall=most", "expected a number"),
    ):
        with pytest.raises(typer.BadParameter, match=message):
            check_decision(Decision(threshold_for=text), two)


@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("goal", [0.05, 0.5, 0.8, 1.0])
def test_the_threshold_is_the_highest_that_finds_enough(rng, n_classes, goal):
    probability = rng.dirichlet(np.ones(n_classes), 300)
    y = np.array([rng.choice(n_classes, p=row) for row in probability])
    costs, about = rule_for_recall(1, goal, np.arange(n_classes), probability, y)
    answer = decide(probability, costs)
    found, total = about["recall"]
    assert found == np.sum((answer == 1) & (y == 1)) == np.ceil(goal * total)
    assert about["precision"] == [found, np.sum(answer == 1)]
    if n_classes == 2:
        np.testing.assert_array_equal(answer == 1, probability[:, 1] >= about["threshold"])


def test_the_recall_of_new_rows_is_within_the_stated_interval():
    """Scores are the probabilities themselves, so the true recall of a threshold is known."""
    rng, inside, n_runs = np.random.default_rng(0), 0, 300
    for _ in range(n_runs):
        p = rng.beta(1, 9, 400)
        y = (rng.random(400) < p).astype(int)
        about = rule_for_recall(1, 0.8, CLASSES, np.column_stack([1 - p, p]), CLASSES[y])[1]
        low, high = exact_interval(*about["recall"], 0.95)
        # Rows of the class have the density p * beta(1, 9), which is beta(2, 9).
        true_recall = np.mean(rng.beta(2, 9, 20_000) >= about["threshold"])
        inside += low <= true_recall <= high
    # At least 95 %, less three standard deviations of a count.
    assert inside >= n_runs * 0.95 - 3 * np.sqrt(n_runs * 0.95 * 0.05)


def test_a_threshold_for_recall_from_train_to_new_rows(rare):
    text, model = trained(rare, "--threshold-for", "yes:recall=0.8")
    about = open_model(model).info["decision"]
    low, high = exact_interval(*about["recall"], 0.9999)
    assert "to find 80.0 % of them" in text
    result = run_json("evaluate", model, rare / "test.csv")
    recall = result["per_class"][1]["recall"]
    # Both are uncertain: their intervals meet, but for one case in thousands.
    assert recall["low"] <= high
    assert low <= recall["high"]
    assert recall["value"] > 0.5
    plain = trained(rare)[1]
    assert run_json("evaluate", plain, rare / "test.csv")["per_class"][1]["recall"]["count"] == 0
    assert result["log_loss"] == run_json("evaluate", plain, rare / "test.csv")["log_loss"]


def test_costs_decide_predictions_and_leave_probabilities(rare, tmp_path):
    text, model = trained(rare, "--costs", "yes:no=20")
    assert "costs least on average" in text
    out = tmp_path / "out.csv"
    ok("predict", model, rare / "test.csv", "--output", out, "--probabilities")
    answers = pd.read_csv(out)
    expected = np.where(
        20 * answers["probability of yes"] > answers["probability of no"], "yes", "no"
    )
    assert (expected == "yes").any()
    np.testing.assert_array_equal(answers["prediction"], expected)
    of_answer = np.where(
        expected == "yes", answers["probability of yes"], answers["probability of no"]
    )
    np.testing.assert_allclose(answers["probability"], of_answer)
    table = pd.read_csv(rare / "test.csv")
    loaded = bayespoint.load(model)
    np.testing.assert_array_equal(loaded.predict(table[["a", "b", "c"]]), expected)
    result = run_json("evaluate", model, rare / "test.csv")
    paid = np.where(table["y"] == expected, 0, np.where(table["y"] == "yes", 20, 1))
    assert result["cost"]["value"] == pytest.approx(paid.mean())
    assert "per row" in ok("evaluate", model, rare / "test.csv")


def test_an_update_keeps_the_costs(rare):
    _, model = trained(rare, "--costs", "yes:no=20")
    ok("update", model, rare / "test.csv")
    assert np.array_equal(bayespoint.load(model).costs, [[0, 1], [20, 0]])
    assert open_model(model).info["decision"]["kind"] == "costs"


def test_a_model_that_only_ranks_is_called_so(rare):
    text, model = trained(rare)
    words = " ".join(text.split())
    assert "As a classifier it is useless here: it always answers “no”." in words
    assert "As a ranking it is useful" in words
    assert "--threshold-for yes:recall=0.8" in words
    assert "always answers “no”" in ok("evaluate", model, rare / "test.csv")


def test_class_weights(rare):
    found = ClassCounts(CLASSES, np.array([9, 1]))
    assert parse_class_weight("yes=5", found) == {"no": 1.0, "yes": 5.0}
    assert parse_class_weight("balanced", found)["yes"] == pytest.approx(5)
    plan = Plan()
    assert with_class_weight(plan, found) is plan
    assert with_class_weight(Plan(class_weight="yes=5"), found).class_weight["yes"] == 5
    for text, message in (("yes=0", "above 0"), ("maybe=2", "are no, yes"), ("yes", "balanced")):
        with pytest.raises(typer.BadParameter, match=message):
            parse_class_weight(text, found)
    _, model = trained(rare, "--class-weight", "balanced")
    result = run_json("evaluate", model, rare / "test.csv")
    assert result["per_class"][1]["recall"]["value"] > 0.3
    assert result["verdict"][0].startswith("By the number of errors it is not shown to be better")


def test_wrong_options_train_nothing(rare, tmp_path):
    train = ["train", rare / "train.csv", "--target", "y", "--model", tmp_path / "x.bpm"]
    line = fails(*train, "--costs", "yes:no=5", "--threshold-for", "recall=0.8", code=2)
    assert "not both" in line
    assert "no class 'x'" in fails(*train, "--threshold-for", "x:recall=0.8", code=2)
    assert list(tmp_path.iterdir()) == []


def test_lines_about_decisions():
    assert decision_lines(None) == []
    assert make_rule(Decision(), CLASSES, None, None) == (None, None)
    about = {"kind": "recall", "class": "b", "goal": 0.8, "weight": 7.0, "threshold": None,
             "recall": [8, 10], "precision": [8, 30]}  # fmt: skip
    words = " ".join(" ".join(decision_lines(about)).split())
    assert "as if missing one cost 7 times as much as another error" in words
    assert "80.0 % (8 of 10, 95 % interval 44.4 to 97.5 %)" in words
