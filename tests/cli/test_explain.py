import json

import pandas as pd
import pytest

import bayespoint
from bayespoint.cli import explain
from bayespoint.io.tables.columns import Columns
from cli_helpers import fails, ok, run, run_json


def test_weights_of_a_linear_model(world):
    result = run_json("explain", world / "linear.bpm")
    assert result["importances"] == []
    features = {weight["feature"] for weight in result["weights"]}
    assert {"age", "age (missing)", "width", "town_Ulm", "job (missing)"} <= features
    certainty = [abs(weight["mean"] / weight["std"]) for weight in result["weights"]]
    assert certainty == sorted(certainty, reverse=True)
    model = bayespoint.load(world / "linear.bpm").estimator_.estimator[-1]
    means = sorted(weight["mean"] for weight in result["weights"])
    assert means == pytest.approx(sorted(model.coef_.ravel()))
    assert "Weights for yes" in ok("explain", world / "linear.bpm", "--top", "2")


def test_weights_of_several_classes(world, tmp_path):
    path = tmp_path / "m.bpm"
    arguments = ["--target", "kind", "--model", path, "--classifier", "linear"]
    ok("train", world / "three.csv", *arguments)
    weights = run_json("explain", path)["weights"]
    model = bayespoint.load(path).estimator_.estimator[-1]
    for label, mean in zip(model.classes_, model.coef_, strict=True):
        found = [weight["mean"] for weight in weights if weight["label"] == str(label)]
        assert sorted(found) == pytest.approx(sorted(mean))
    assert len(run_json("explain", path, world / "three.csv")["importances"]) == 4
    text = ok("explain", path, "--top", "1")
    assert [text.count(f"Weights for {label}") for label in model.classes_] == [1, 1, 1]
    assert text.count("\n") == 3 * 3 + 2


@pytest.mark.parametrize("model", ["linear.bpm", "kernel.bpm"])
def test_informative_columns_matter(world, model):
    result = run_json("explain", world / model, world / "test.csv")
    order = [importance["column"] for importance in result["importances"]]
    assert sorted(order) == ["age", "job", "town", "width"]
    assert order[-1] == "job"
    text = ok("explain", world / model, world / "test.csv", "--top", "1")
    assert "How much worse the model gets if a column is shuffled" in text
    assert "job " not in text.partition("Weights")[0]


def test_other_models(world):
    line = fails("explain", world / "kernel.bpm")
    assert "bayespoint explain MODEL DATA" in line
    assert len(run_json("explain", world / "sparse.bpm")["weights"]) == 30
    result = run("explain", world / "sparse.bpm", world / "more.svm")
    assert result.exit_code == 0
    assert "not shuffled" in result.stderr
    assert run_json("explain", world / "three.bpm", world / "three.csv")["weights"] == []


@pytest.mark.parametrize(
    ("columns", "support", "rows"),
    [(1, 0, 2000), (10, 0, 2000), (50, 0, 400), (1000, 0, 200),
     (10, 1000, 2000), (10, 10_000, 400), (50, 10_000, 200)],
)  # fmt: skip
def test_fewer_rows_are_shuffled_if_it_would_take_long(columns, support, rows):
    assert explain._n_rows(columns, support) == rows


def test_rows_that_trained_the_model_are_left_out(world, tmp_path):
    path, rows = tmp_path / "m.bpm", world / "three.csv"
    ok("train", rows, "--target", "kind", "--model", path, "--classifier", "linear")
    note = " ".join(run("explain", path, rows).stderr.split())
    assert "Only the" in note
    unseen = run_json("explain", path, rows)["importances"]
    every = run("explain", path, rows, "--include-training-rows", "--json")
    assert "judged too, as requested" in " ".join(every.stderr.split())
    assert json.loads(every.stdout)["importances"] != unseen


def test_too_few_rows_are_told(world, tmp_path):
    few = tmp_path / "one.csv"
    few.write_text("".join((world / "test.csv").read_text().splitlines(keepends=True)[:2]))
    assert "1 row tells nothing about columns" in run("explain", world / "kernel.bpm", few).stderr


def test_rows_without_classes_cannot_be_explained(world, tmp_path):
    table = pd.read_csv(world / "test.csv").drop(columns="kind")
    table.to_csv(tmp_path / "new.csv", index=False)
    for verb in ("explain", "evaluate"):
        line = fails(verb, world / "kernel.bpm", tmp_path / "new.csv")
        assert "no column 'kind'" in line
        assert "can be predicted, but not judged" in line


def test_names_of_features_are_plain_words():
    columns = Columns(["age"], ["job", "job_None"], "kind", False, texts=["note"])
    named = {
        "job_baker": "job_baker",
        "job_None": "job (missing)",
        "job_None_nan": "job_None (missing)",
        "categories__job_infrequent_sklearn": "job (rare ones)",
        "missingindicator_age": "age (missing)",
        "words of note__red": "words of note__red",
    }
    assert {feature: explain.readable(feature, columns) for feature in named} == named
