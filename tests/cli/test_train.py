import io
import types

import numpy as np
import pandas as pd
import pytest

import bayespoint
from bayespoint import LinearBayesPointClassifier, RejectOptionClassifier
from bayespoint.cli import learn, source
from bayespoint.cli import train as train_verb
from cli_helpers import fails, mixed_table, ok, run, run_json, sparse_rows


def trained(folder, data, *options, target="kind", input=None):
    model = folder / "model.bpm"
    named = [] if target is None else ["--target", target]
    return run_json("train", data, *named, "--model", model, *options, input=input), model


def test_results_and_model_belong_together(world, tmp_path):
    result, model = trained(tmp_path, world / "train.csv")
    assert result["n_rows"] + result["n_held_out"] == 240
    assert result["columns"] == {
        "numbers": ["age", "width"],
        "categories": ["job", "town"],
        "target": "kind",
        "integers": False,
        "formats": {},
        "dates": {},
        "texts": [],
        "left_out": [],
    }
    assert result["bytes"] == model.stat().st_size
    assert result["error"] == result["held_out"]["error"]["value"] < 0.3
    loaded = bayespoint.load(model)
    assert isinstance(loaded, RejectOptionClassifier)
    assert len(loaded.calibration_correct_) == result["n_held_out"]
    assert np.mean(~loaded.calibration_correct_) == pytest.approx(result["error"])


def test_a_person_reads_a_summary(world, tmp_path):
    text = ok("train", world / "three.csv", "--target", "kind", "--model", tmp_path / "m")
    for words in (
        "Trained with 192 rows of three.csv (2 numeric and 2 categorical columns)",
        "Classes of kind: ",
        "On 48 held-out rows:",
        "interval",
        "Written to ",
    ):
        assert words in text


def test_the_same_seed_gives_the_same_file(world, tmp_path):
    def file(seed):
        trained(tmp_path, world / "train.csv", "--seed", seed, "--classifier", "linear")
        content = bayespoint.load(tmp_path / "model.bpm")
        return content.estimator_.estimator[-1].coef_

    np.testing.assert_array_equal(file(1), file(1))
    assert not np.array_equal(file(1), file(2))


@pytest.mark.parametrize("name", ["test.csv", "test.tsv.gz", "test.parquet"])
def test_every_format_gives_the_same_model(world, tmp_path, name):
    _, model = trained(tmp_path, world / name, "--classifier", "linear")
    _, standard = trained(
        tmp_path, "-", "--classifier", "linear", input=(world / name).read_bytes()
    )
    expected = bayespoint.load(model).estimator_.estimator[-1].coef_
    trained(tmp_path, world / "test.csv", "--classifier", "linear")
    np.testing.assert_array_equal(
        bayespoint.load(standard).estimator_.estimator[-1].coef_, expected
    )
    np.testing.assert_allclose(
        bayespoint.load(model).estimator_.estimator[-1].coef_, expected, rtol=1e-9
    )


def test_libsvm_from_standard_input_needs_the_number_of_features(world, tmp_path):
    content = (world / "rows.svm").read_bytes()
    line = fails("train", "-", "--model", tmp_path / "m", input=content)
    assert "--features" in line
    one, model = trained(
        tmp_path, "-", "--features", 30, "--classifier", "linear", target=None, input=content
    )
    assert one["n_rows"] + one["n_held_out"] == 200
    expected = bayespoint.load(world / "sparse.bpm").estimator_.estimator[-1].coef_
    np.testing.assert_array_equal(bayespoint.load(model).estimator_.estimator[-1].coef_, expected)


def test_classes_are_numbers_or_texts(world, tmp_path):
    assert bayespoint.load(world / "three.bpm").classes_.tolist() == [10, 20, 30]
    assert bayespoint.load(world / "linear.bpm").classes_.tolist() == ["no", "yes"]
    assert bayespoint.load(world / "sparse.bpm").classes_.tolist() == [-1, 1]
    table = mixed_table(60)
    table["kind"] = np.where(table["kind"] == "yes", "1.0", "01")
    table.loc[:10, "kind"] = "1"
    table.loc[11:20, "kind"] = "2"
    table.to_csv(tmp_path / "t.csv", index=False)
    _, model = trained(tmp_path, tmp_path / "t.csv", "--classifier", "linear")
    assert bayespoint.load(model).classes_.tolist() == ["01", "1", "1.0", "2"]


def test_columns_are_as_the_user_says(world, tmp_path):
    table = mixed_table(120)
    table["zip"] = np.arange(120) % 3 + 10115
    table.to_csv(tmp_path / "t.csv", index=False)
    options = ["--categorical", "zip", "--drop", "job", "--ignore", "age"]
    result, model = trained(tmp_path, tmp_path / "t.csv", *options, "--classifier", "linear")
    assert result["columns"]["numbers"] == ["width"]
    assert result["columns"]["categories"] == ["town", "zip"]
    table.to_parquet(tmp_path / "t.parquet")
    assert ok("predict", model, tmp_path / "t.csv") == ok("predict", model, tmp_path / "t.parquet")
    for option in ("--categorical", "--drop", "--target"):
        arguments = {"--target": "kind", option: "twon"}
        flat = [word for pair in arguments.items() for word in pair]
        line = fails("train", tmp_path / "t.csv", "--model", tmp_path / "m", *flat)
        assert "There is no column 'twon'. Did you mean 'town'?" in line


def test_a_typing_error_among_numbers_is_noted(tmp_path):
    table = mixed_table(60).astype({"age": object})
    table.loc[5, "age"] = "1O"
    table.to_csv(tmp_path / "t.csv", index=False)
    result = run(
        *("train", tmp_path / "t.csv", "--target", "kind", "--model", tmp_path / "m"),
        *("--classifier", "linear"),
    )
    assert result.exit_code == 0
    expected = "1 value of column 'age' cannot be read and counts as missing, for example '1O'"
    assert expected in result.stderr


@pytest.mark.parametrize("verb", ["train", "cross-validate"])
def test_little_free_memory_is_told_before_it_is_taken(world, tmp_path, monkeypatch, verb):
    arguments = [verb, world / "test.csv", "--target", "kind"]
    arguments += ["--model", tmp_path / "m"] if verb == "train" else []
    monkeypatch.setattr("bayespoint.cli.limits.free_bytes", lambda: 2.0**32)
    said = run(*arguments).stderr
    assert "little memory is free, so this takes at most" in said
    assert "little" not in run(*arguments, "--max-memory", "3G").stderr
    monkeypatch.setattr("bayespoint.cli.limits.free_bytes", lambda: 2.0**20)
    failed = run(*arguments)
    assert failed.exit_code == 1
    assert "but the program and its libraries take" in failed.stderr


@pytest.mark.parametrize(
    ("limits", "reason"),
    [
        ({"max_memory": 2**30}, ", because of --max-memory 1G"),
        ({"max_time": 90.0}, ", because of --max-time 90"),
        (
            {"max_time": 0.5, "max_memory": 2**30},
            ", because of --max-time 0.5 and --max-memory 1G",
        ),
        ({}, "; --max-time sets how many"),
    ],
)
def test_why_rows_are_left_out(world, capsys, monkeypatch, limits, reason):
    """With a limit of memory alone, this note was a TypeError."""

    def fit_half(columns, X, y, plan, say):
        return types.SimpleNamespace(n_rows=len(y) // 2, contest=None)

    plan = source.Plan(**limits)
    rows = source.read_source(str(world / "train.csv"), "kind", plan)
    monkeypatch.setattr("bayespoint.cli.train.fit_in_limits", fit_half)
    train_verb.train(rows, plan, 0.1, lambda text: None)
    assert f"the model is trained with 108 of 216 rows{reason}\n" in capsys.readouterr().err


def test_the_target_has_to_be_named(world, tmp_path):
    text = fails("train", world / "train.csv", "--model", tmp_path / "m", code=2)
    assert "--target" in text
    assert "age, width, job, town, kind" in text


@pytest.mark.parametrize("name", ["train.csv", "train.parquet", "rows.svm"])
def test_files_larger_than_memory_are_learned_as_a_stream(world, tmp_path, monkeypatch, name):
    """A stream uses all rows and the same columns, and is as good as training at once."""
    monkeypatch.setattr(source, "MAX_ROWS_IN_MEMORY", 300)
    monkeypatch.setattr(source, "ROWS_PER_CHUNK", 150)
    monkeypatch.setattr("bayespoint.io.tables.csv_table.BLOCK_BYTES", 4000)
    target, path = "kind", tmp_path / name
    table = mixed_table(1000, seed=3)
    table.loc[500:800:2, "kind"] = None  # some chunks have few classes
    if name.endswith("svm"):
        from sklearn.datasets import dump_svmlight_file

        dump_svmlight_file(*sparse_rows(1000, seed=3), str(path), zero_based=False)
        target = None
    elif name.endswith("csv"):
        table.to_csv(path, index=False)
    else:
        monkeypatch.setattr("bayespoint.io.tables.parquet_table.ROWS_PER_BATCH", 100)
        table.to_parquet(path)
    n_rows = 1000 if target is None else int(table["kind"].notna().sum())
    streamed, model = trained(tmp_path, path, "--classifier", "linear", target=target)
    assert isinstance(bayespoint.load(model).estimator_.estimator[-1], LinearBayesPointClassifier)
    assert streamed["n_rows"] + streamed["n_held_out"] == n_rows
    assert 0.1 * n_rows < streamed["n_held_out"] < 0.3 * n_rows
    monkeypatch.setattr(source, "MAX_ROWS_IN_MEMORY", 10_000)
    whole, _ = trained(tmp_path, path, "--classifier", "linear", target=target)
    assert whole["columns"] == streamed["columns"]
    # Both errors come from about 200 rows: allow four standard errors of their difference.
    allowed = 4 * np.sqrt(2 * whole["error"] * (1 - whole["error"]) / whole["n_held_out"])
    assert abs(streamed["error"] - whole["error"]) < allowed + 0.02


def test_few_rows_are_held_out_of_many(tmp_path, world, monkeypatch):
    monkeypatch.setattr(source, "MAX_ROWS_IN_MEMORY", 100)
    monkeypatch.setattr(source, "ROWS_PER_CHUNK", 50)
    monkeypatch.setattr("bayespoint.io.tables.csv_table.BLOCK_BYTES", 2000)
    monkeypatch.setattr(learn, "MAX_HELD_OUT_ROWS", 30)
    mixed_table(1000).to_csv(tmp_path / "t.csv", index=False)
    result, _ = trained(tmp_path, tmp_path / "t.csv")
    assert 30 <= result["n_held_out"] < 80


def test_a_class_that_comes_too_late(tmp_path, monkeypatch):
    monkeypatch.setattr(source, "MAX_ROWS_IN_MEMORY", 100)
    monkeypatch.setattr("bayespoint.io.tables.csv_table.BLOCK_BYTES", 2000)
    table = mixed_table(1000)
    table.loc[900:, "kind"] = "late"
    table.to_csv(tmp_path / "t.csv", index=False)
    arguments = ["train", tmp_path / "t.csv", "--target", "kind", "--model", tmp_path / "m"]
    assert "The model does not know the class 'late'" in fails(*arguments)
    assert "does not know the class 'late'" in fails(*arguments, "--classifier", "kernel")
    assert not (tmp_path / "m").exists()


def test_rejection_is_part_of_the_model(world, tmp_path):
    _, model = trained(tmp_path, world / "train.csv", "--reject-rate", 0.2)
    loaded = bayespoint.load(model)
    assert loaded.reject_rate == 0.2
    assert np.isfinite(loaded.threshold_)
    assert "accepted" in ok("predict", model, world / "test.csv").splitlines()[0]


@pytest.mark.parametrize(
    "options",
    [
        ["--reject-rate", "0.1", "--max-error", "0.1"],
        ["--confidence-level", "0.9"],
        ["--reject-rate", "2"],
        ["--holdout", "0"],
        ["--delimiter", "ab"],
        ["--delimiter", ""],
        ["--classifier", "forest"],
        ["--format", "xlsx"],
        ["--seed", "x"],
        ["--unknown"],
    ],
)
def test_wrong_options(world, tmp_path, options):
    fails(
        "train",
        world / "train.csv",
        "--target",
        "kind",
        "--model",
        tmp_path / "m",
        *options,
        code=2,
    )
    assert not (tmp_path / "m").exists()


@pytest.mark.parametrize("delimiter", ['"', "\\n", "\n", "€"])
def test_odd_delimiters(world, tmp_path, delimiter):
    result = run(
        *("train", world / "train.csv", "--target", "kind", "--model", tmp_path / "m"),
        *("--delimiter", delimiter),
    )
    assert result.exit_code in (1, 2)
    assert "BAYESPOINT_DEBUG" not in result.stderr, result.stderr


def test_huge_and_tiny_numbers(tmp_path):
    """The largest and smallest floats do not lead to an unexpected error."""
    table = mixed_table(60)[["age", "kind"]]
    table["huge"] = np.where(table["kind"] == "yes", 1e300, -1e300)
    table["tiny"] = np.where(table["kind"] == "yes", 1e-300, 0)
    table["same"] = 7
    table.to_csv(tmp_path / "t.csv", index=False)
    result = run(
        *("train", tmp_path / "t.csv", "--target", "kind", "--model", tmp_path / "m"),
        *("--classifier", "linear"),
    )
    assert result.exit_code in (0, 1)
    assert "BAYESPOINT_DEBUG" not in result.stderr, result.stderr
    if result.exit_code:
        assert not (tmp_path / "m").exists()


def test_two_rows_of_a_class_are_enough(tmp_path):
    text = "x,kind\n" + "1,a\n2,a\n5,b\n6,b\n"
    (tmp_path / "t.csv").write_text(text)
    result, model = trained(tmp_path, tmp_path / "t.csv")
    assert (result["n_rows"], result["n_held_out"]) == (2, 2)
    table = pd.read_csv(io.StringIO(ok("predict", model, tmp_path / "t.csv")))
    assert set(table["prediction"]) <= {"a", "b"}


def test_the_model_keeps_a_summary_of_its_columns(tmp_path):
    from bayespoint.io.models.model_file import read

    mixed_table(100).to_csv(tmp_path / "t.csv", index=False)
    printed = run_json("train", tmp_path / "t.csv", "--target", "kind", "--model", tmp_path / "m")
    assert "reference" not in printed
    reference = read(tmp_path / "m")[1]["command"]["reference"]
    assert set(reference["columns"]) == {"age", "width", "job", "town"}


def test_a_compact_model(world, tmp_path):
    kernel = "--classifier", "kernel"
    _, path = trained(tmp_path, world / "train.csv", *kernel)
    whole = bayespoint.load(path).estimator_.estimator[-1]
    given = "train", world / "train.csv", "--target", "kind", "--model", path, "--compact", "0.05"
    notes = run(*given, *kernel).stderr
    small = bayespoint.load(path).estimator_.estimator[-1]
    assert f"the model has {len(small.support_)} of {len(whole.support_)} points" in notes
    assert len(small.support_) < len(whole.support_)
    assert small.compaction_.change <= 0.05
    assert "--compact changes nothing" in run(*given, "--classifier", "linear").stderr


def test_a_promise_for_each_group(tmp_path):
    data, target = tmp_path / "rows.csv", "kind"
    table = mixed_table(1500, seed=1)
    table.to_csv(data, index=False)
    options = ["--target", target, "--classifier", "linear", "--model", tmp_path / "m"]
    text = ok("train", data, *options, "--max-error", "0.3", "--groups", "prediction")
    assert "at most 30.0 % errors for each answer:" in text
    model = bayespoint.load(tmp_path / "m")
    assert model.groups == "prediction"
    for found in model.group_summary():
        assert f"{found.n_rows:,}" in text
    ok("predict", tmp_path / "m", data, "--output", tmp_path / "answers.csv")
    answers = pd.read_csv(tmp_path / "answers.csv")
    thresholds = dict(zip(model.groups_, model.group_thresholds_, strict=True))
    answered = answers[answers["accepted"]]
    assert len(answered) > 0
    # Probabilities are written with six decimals.
    lowest = answered["prediction"].map(thresholds).to_numpy() - 1e-6
    assert np.all(answered["probability"].to_numpy() >= lowest)
    assert answers.loc[~answers["accepted"], "prediction"].isna().all()
    line = fails("train", data, *options, "--groups", "town", code=2)
    assert "--groups needs --max-error" in line
    assert "should be 'prediction' or a column" in fails(
        "train", data, *options, "--max-error", "0.3", "--groups", "nothing"
    )
