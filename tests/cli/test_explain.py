import pytest

import bayespoint
from bayespoint.cli import explain
from cli_helpers import fails, ok, run, run_json


def test_weights_of_a_linear_model(world):
    result = run_json("explain", world / "linear.bpm")
    assert result["importances"] == []
    features = {weight["feature"] for weight in result["weights"]}
    assert {"age", "missingindicator_age", "width", "town_Ulm", "job_None"} <= features
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


@pytest.mark.parametrize(("columns", "rows"), [(1, 2000), (10, 2000), (50, 400), (1000, 200)])
def test_fewer_rows_are_shuffled_if_there_are_many_columns(columns, rows):
    assert explain._n_rows(columns) == rows


def test_rows_that_trained_the_model_are_named(world, tmp_path):
    path = tmp_path / "m.bpm"
    arguments = ["--target", "kind", "--model", path, "--classifier", "linear"]
    ok("train", world / "three.csv", *arguments)
    assert "rows trained the model" in run("explain", path, world / "three.csv").stderr
