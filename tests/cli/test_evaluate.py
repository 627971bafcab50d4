import numpy as np
import pytest

import bayespoint
from bayespoint import model_file
from bayespoint.cli.trained import open_model
from bayespoint.evaluation.seen import UNKNOWN
from cli_helpers import fails, mixed_table, ok, read_exactly, run, run_json


@pytest.mark.parametrize("name", ["test.csv", "test.tsv.gz", "test.parquet"])
def test_the_error_is_that_of_the_predictions(world, name):
    result = run_json("evaluate", world / "linear.bpm", world / name)
    table = read_exactly(world / "test.csv")
    X = table[["age", "width", "job", "town"]].astype({"job": object, "town": object})
    X["job"] = X["job"].where(X["job"].notna(), None)
    model = bayespoint.load(world / "linear.bpm")
    predicted = model.classes_[model.predict_proba(X).argmax(axis=1)]
    assert result["n_rows"] == 150
    assert result["error"]["value"] == pytest.approx(np.mean(predicted != table["kind"]))


def test_a_person_reads_the_error_and_the_confusion(world):
    arguments = "--include-training-rows", "--reject-rate", "0.2"
    text = ok("evaluate", world / "three.bpm", world / "three.csv", *arguments)
    for words in ("On 240 rows:", "error", "interval", "It answers", "predicted class (across)"):
        assert words in text
    assert "promised: at most 40.0 %" in ok(
        "evaluate", world / "linear.bpm", world / "test.csv", "--max-error", "0.4"
    )


def test_libsvm_and_standard_input(world):
    one = run_json("evaluate", world / "sparse.bpm", world / "more.svm")
    content = (world / "more.svm").read_bytes()
    assert run_json("evaluate", world / "sparse.bpm", "-", input=content) == one
    content = (world / "test.csv").read_bytes()
    assert run_json("evaluate", world / "linear.bpm", "-", input=content)["n_rows"] == 150


def test_classes_however_they_are_written(world, tmp_path):
    """Numbers may be texts or floats; texts may be in capitals or end with a period."""
    expected = run_json("evaluate", world / "three.bpm", world / "three.csv")
    three = read_exactly(world / "three.csv")
    three["kind"] = three["kind"].map({10: "10.0", 20: "020", 30: "3e1"})
    three.to_csv(tmp_path / "t.csv", index=False)
    assert run_json("evaluate", world / "three.bpm", tmp_path / "t.csv") == expected
    three["kind"] = three["kind"].astype(float)
    three.to_parquet(tmp_path / "t.parquet")
    assert run_json("evaluate", world / "three.bpm", tmp_path / "t.parquet") == expected
    expected = run_json("evaluate", world / "linear.bpm", world / "test.csv")
    test = read_exactly(world / "test.csv")
    test["kind"] = test["kind"].str.upper() + "."
    test.to_csv(tmp_path / "t.csv", index=False)
    result = run("evaluate", world / "linear.bpm", tmp_path / "t.csv")
    assert "'NO.' is read as the class 'no', and others likewise" in result.stderr
    assert run_json("evaluate", world / "linear.bpm", tmp_path / "t.csv") == expected


def test_the_target_may_have_another_name(world, tmp_path):
    expected = run_json("evaluate", world / "linear.bpm", world / "test.csv")
    table = read_exactly(world / "test.csv").rename(columns={"kind": "truth"})
    table.to_csv(tmp_path / "t.csv", index=False)
    arguments = ["evaluate", world / "linear.bpm", tmp_path / "t.csv"]
    assert run_json(*arguments, "--target", "truth") == expected
    assert "There is no column 'kind'" in fails(*arguments)


def test_classes_that_the_model_does_not_know(world, tmp_path):
    table = mixed_table(40)
    table.loc[3, "kind"] = "perhaps"
    table.to_csv(tmp_path / "t.csv", index=False)
    arguments = ["evaluate", world / "linear.bpm", tmp_path / "t.csv"]
    result = run(*arguments)
    if result.exit_code:
        assert "perhaps" in fails(*arguments)
    table["kind"] = None
    table.to_csv(tmp_path / "t.csv", index=False)
    assert "no rows with a class" in fails(*arguments)
    table["kind"] = "x"
    table.to_csv(tmp_path / "t.csv", index=False)
    line = fails("evaluate", world / "three.bpm", tmp_path / "t.csv")
    assert "should hold whole numbers, as in training, but holds 'x'" in line


def test_a_single_row_and_a_single_class(world, tmp_path):
    mixed_table(1).to_csv(tmp_path / "t.csv", index=False)
    assert run_json("evaluate", world / "linear.bpm", tmp_path / "t.csv")["n_rows"] == 1
    ok("evaluate", world / "linear.bpm", tmp_path / "t.csv")
    result = run_json("evaluate", world / "linear.bpm", tmp_path / "t.csv", "--max-error", "0.0001")
    assert result["n_rows"] == 1  # nothing is accepted, and unknown values are null


def test_rows_that_trained_the_model_do_not_judge_it(world):
    """Before, 240 rows judged the model of which 192 had trained it."""
    arguments = ["evaluate", world / "three.bpm", world / "three.csv"]
    text = ok(*arguments)
    assert "seen 192 of the 240 rows in training" in text
    assert "Only the 48 others are judged. They already tested it" in text
    result = run_json(*arguments)
    assert (result["n_rows"], result["seen"]["n_seen"]) == (48, 192)
    every = run_json(*arguments, "--include-training-rows")
    assert (every["n_rows"], every["seen"]["n_seen"]) == (240, 192)
    assert "judged too, as requested" in ok(*arguments, "--include-training-rows")
    new = ok("evaluate", world / "linear.bpm", world / "test.csv")
    assert "The model has seen none of the 150 rows in training." in new


@pytest.mark.parametrize("kind", ["shuffled.csv", "digits.csv", "other.parquet"])
def test_training_rows_are_recognized_however_they_are_written(world, tmp_path, kind):
    table = read_exactly(world / "train.csv")
    table = table.sample(frac=1, random_state=0)[["town", "kind", "width", "age", "job"]]
    if kind == "other.parquet":
        table.astype({"age": "float32", "width": "float32"}).to_parquet(tmp_path / kind)
    else:
        digits = "%.16e" if kind == "digits.csv" else "%.15g"
        table.to_csv(tmp_path / kind, index=False, float_format=digits, sep=";")
    seen = run_json("evaluate", world / "linear.bpm", tmp_path / kind)["seen"]
    assert (seen["n_given"], seen["n_seen"], seen["n_held_out"]) == (240, 192, 48)


def test_nothing_is_left_to_judge(world, tmp_path):
    model, data = tmp_path / "m.bpm", tmp_path / "few.csv"
    table = mixed_table(60)
    table.to_csv(data, index=False)
    ok("train", data, "--target", "kind", "--model", model, "--classifier", "linear")
    record = open_model(model).record
    columns = ["age", "width", "job", "town"]
    trained = record.fingerprints.look(table[columns]).trained
    table[trained].to_csv(data, index=False)
    for verb in ("evaluate", "explain"):
        assert "judge these with --include-training-rows" in fails(verb, model, data)
    assert run_json("evaluate", model, data, "--include-training-rows")["n_rows"] == trained.sum()


def test_models_of_earlier_versions_cannot_tell(world, tmp_path):
    model, metadata = model_file.read(world / "linear.bpm")
    metadata = {"command": metadata["command"]}
    bayespoint.save(model, tmp_path / "old.bpm", metadata)
    text = ok("evaluate", tmp_path / "old.bpm", world / "train.csv")
    assert UNKNOWN in text
    assert "On 240 rows:" in text
    assert run_json("evaluate", tmp_path / "old.bpm", world / "train.csv")["seen"] is None
