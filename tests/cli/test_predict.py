import io
import re

import numpy as np
import pandas as pd
import pytest

import bayespoint
from bayespoint.cli import trained
from bayespoint.cli.predict import round_probabilities
from bayespoint.io.tables.columns import frame
from bayespoint.io.tables.open_table import open_table
from cli_helpers import fails, mixed_table, ok, read_exactly, run, run_json, sparse_rows


def answers(*arguments, input=None):
    return pd.read_csv(io.StringIO(ok("predict", *arguments, input=input)))


def python_probabilities(model, path):
    """Return the probabilities that a user of Python gets."""
    opened = trained.open_model(model)
    if opened.columns is None:
        X = sparse_rows(seed=1)[0]
    else:
        (table,) = open_table(path).batches()
        X = frame(table, opened.columns)
    return bayespoint.load(model).predict_proba(X)


@pytest.mark.parametrize(
    ("model", "data"),
    [
        ("linear.bpm", "test.csv"),
        ("kernel.bpm", "test.csv"),
        ("three.bpm", "three.csv"),
        ("sparse.bpm", "more.svm"),
    ],
)
def test_the_same_as_in_python(world, model, data):
    model, data = world / model, world / data
    proba = python_probabilities(model, data)
    classes = bayespoint.load(model).classes_
    table = answers(model, data, "--probabilities")
    assert list(table) == [
        "prediction",
        "probability",
        *(f"probability of {name}" for name in classes),
    ]
    np.testing.assert_array_equal(table["prediction"], classes[proba.argmax(axis=1)])
    # Six decimals are written. Rows come in different blocks, so sums may differ in the last bits.
    tolerance = {"rtol": 0, "atol": 0.5e-6 + 1e-12}
    np.testing.assert_allclose(table["probability"], proba.max(axis=1), **tolerance)
    np.testing.assert_allclose(table.iloc[:, 2:], proba, **tolerance)


def test_every_format_gives_the_same_predictions(world, tmp_path):
    expected = ok("predict", world / "linear.bpm", world / "test.csv")
    for name in ("test.tsv.gz", "test.parquet"):
        assert ok("predict", world / "linear.bpm", world / name) == expected
        content = (world / name).read_bytes()
        assert ok("predict", world / "linear.bpm", "-", input=content) == expected
    out = tmp_path / "out.csv"
    ok("predict", world / "linear.bpm", world / "test.csv", "--output", out)
    assert out.read_text() == expected
    parquet = tmp_path / "out.parquet"
    ok("predict", world / "linear.bpm", world / "test.csv", "--output", parquet)
    pd.testing.assert_frame_equal(pd.read_parquet(parquet), pd.read_csv(out), check_dtype=False)
    sparse = ok("predict", world / "sparse.bpm", world / "more.svm")
    content = (world / "more.svm").read_bytes()
    assert ok("predict", world / "sparse.bpm", "-", input=content) == sparse


def test_columns_are_matched_by_name(world, tmp_path):
    """Columns may be in another order, with others in between, and the target may be missing."""
    expected = ok("predict", world / "linear.bpm", world / "test.csv")
    table = read_exactly(world / "test.csv")
    table["id"] = range(len(table))
    table[["town", "id", "width", "job", "age"]].to_csv(tmp_path / "t.csv", index=False)
    result = run("predict", world / "linear.bpm", tmp_path / "t.csv")
    assert result.stdout == expected
    assert "columns that the model does not know are ignored: id" in result.stderr


def test_a_missing_column_is_named(world, tmp_path):
    table = read_exactly(world / "test.csv").rename(columns={"width": "Widht"})
    table.to_csv(tmp_path / "t.csv", index=False)
    line = fails("predict", world / "linear.bpm", tmp_path / "t.csv", "--output", tmp_path / "o")
    assert "t.csv: There is no column 'width'. Did you mean 'Widht'?" in line
    table.to_csv(tmp_path / "t.csv", index=False, header=False)
    line = fails("predict", world / "linear.bpm", tmp_path / "t.csv")
    assert "The first line seems to hold no column names" in line


def test_a_column_of_another_type_is_named(world, tmp_path):
    table = read_exactly(world / "test.csv").astype({"age": object})
    table.loc[3, "age"] = "old"
    table.to_csv(tmp_path / "t.csv", index=False)
    result = run("predict", world / "linear.bpm", tmp_path / "t.csv", "--output", tmp_path / "o")
    assert result.exit_code == 0
    assert "1 value of column 'age' cannot be read and counts as missing" in result.stderr
    assert "'old'" in result.stderr
    (tmp_path / "o").unlink()
    table["age"] = "old"
    table.to_csv(tmp_path / "t.csv", index=False)
    line = fails("predict", world / "linear.bpm", tmp_path / "t.csv", "--output", tmp_path / "o")
    assert "Column 'age' should hold numbers, but holds 'old'" in line
    assert not (tmp_path / "o").exists()


def test_new_and_missing_values_have_an_answer(world, tmp_path):
    text = "age,width,job,town\n?,NA,,\n1,2,astronaut,Rome\n ,nan, ? ,Ulm\n"
    (tmp_path / "t.csv").write_text(text)
    table = answers(world / "linear.bpm", tmp_path / "t.csv")
    assert table["probability"].between(0.5, 1).all()
    # All unknown towns are treated alike.
    (tmp_path / "t.csv").write_text(text.replace("Rome", "Paris"))
    pd.testing.assert_frame_equal(table, answers(world / "linear.bpm", tmp_path / "t.csv"))


def test_refused_rows_have_no_prediction(world, tmp_path):
    all_ = answers(world / "linear.bpm", world / "test.csv")
    arguments = [world / "linear.bpm", world / "test.csv", "--reject-rate", "0.3"]
    some = answers(*arguments)
    model = bayespoint.load(world / "linear.bpm").at(reject_rate=0.3)
    accepted = all_["probability"] >= model.threshold_
    assert 0.1 < (~accepted).mean() < 0.6
    np.testing.assert_array_equal(some["accepted"], accepted)
    np.testing.assert_array_equal(some["prediction"].isna(), ~accepted)
    np.testing.assert_array_equal(some["prediction"][accepted], all_["prediction"][accepted])
    result = run_json("predict", *arguments, "--output", tmp_path / "out.csv")
    assert result["n_accepted"] == accepted.sum()
    counts = all_["prediction"][accepted].value_counts()
    assert result["answers"] == {"no": counts["no"], "yes": counts["yes"]}
    text = ok("predict", *arguments, "--output", tmp_path / "out.csv")
    assert f"Answers: no {counts['no']}, yes {counts['yes']}." in text
    assert result["threshold"] == model.threshold_
    result = run("predict", world / "linear.bpm", world / "test.csv", "--max-error", "0.0001")
    assert result.exit_code == 0
    assert "note" in result.stderr
    table = pd.read_csv(io.StringIO(result.stdout))
    assert not table["accepted"].any()


def test_a_promise_that_refuses_everything_names_one_that_does_not(world):
    result = run("predict", world / "linear.bpm", world / "test.csv", "--max-error", "0.0001")
    found = re.search(r"note: --max-error ([\d.]+) answers ([\d.]+) % of", result.stderr)
    model = bayespoint.load(world / "linear.bpm")
    assert f"{100 * model.at(max_error=float(found[1])).coverage_:.1f}" == found[2]
    kept = run("predict", world / "linear.bpm", world / "test.csv", "--max-error", found[1])
    assert "No threshold" not in kept.stderr
    assert "--max-error" not in kept.stderr


def test_columns_can_be_kept_as_they_are(world, tmp_path):
    text = 'age,width,job,town,id,note\n01.50,2,baker,Ulm, 007,NA\n1,2,baker,Ulm,8,"a,""b"""\n'
    (tmp_path / "t.csv").write_text(text)
    keep = [word for name in ("id", "age", "note", "id") for word in ("--keep", name)]
    table = pd.read_csv(
        io.StringIO(ok("predict", world / "linear.bpm", tmp_path / "t.csv", *keep)),
        dtype=str,
        keep_default_na=False,
    )
    assert list(table) == ["id", "age", "note", "prediction", "probability"]
    assert table["id"].tolist() == [" 007", "8"]
    assert table["age"].tolist() == ["01.50", "1"]
    assert table["note"].tolist() == ["NA", 'a,"b"']
    parquet = tmp_path / "t.parquet"
    pd.read_parquet(world / "test.parquet").assign(n=2**53 + 1).to_parquet(parquet)
    kept = answers(world / "linear.bpm", parquet, "--keep", "n", "--keep", "age", "--keep", "kind")
    assert (kept["n"] == 2**53 + 1).all()
    assert len(kept) == 150


def test_kept_columns_have_names_of_their_own(world, tmp_path):
    table = mixed_table(5).assign(prediction=1, probability=2, accepted=3)
    table.to_csv(tmp_path / "t.csv", index=False)
    arguments = ["predict", world / "linear.bpm", tmp_path / "t.csv"]
    for name in ("prediction", "probability"):
        assert "Rename the one to keep" in fails(*arguments, "--keep", name, code=2)
    assert "accepted" in ok(*arguments, "--keep", "accepted")
    text = fails(*arguments, "--keep", "accepted", "--reject-rate", "0.1", code=2)
    assert "--keep accepted" in text
    assert "no column 'x'" in fails(*arguments, "--keep", "x")
    assert "LIBSVM" in fails(
        "predict", world / "sparse.bpm", world / "more.svm", "--keep", "x", code=2
    )


def test_json_goes_with_a_file(world, tmp_path):
    arguments = [world / "linear.bpm", world / "test.csv"]
    assert "--output" in fails("predict", *arguments, "--json", code=2)
    result = run_json("predict", *arguments, "--output", tmp_path / "o.csv")
    assert result["n_rows"] == result["n_accepted"] == 150
    assert result["threshold"] is None


def test_models_and_files_of_other_kinds(world):
    assert "is LIBSVM" in fails("predict", world / "linear.bpm", world / "more.svm")
    assert "is a table" in fails("predict", world / "sparse.bpm", world / "test.csv")


def test_rows_are_not_all_in_memory(world, tmp_path, monkeypatch):
    """Some rows are written before others are read."""
    monkeypatch.setattr("bayespoint.io.tables.csv_table.BLOCK_BYTES", 5000)
    test = pd.concat([read_exactly(world / "test.csv")] * 20)
    test.to_csv(tmp_path / "long.csv", index=False)
    sizes = []
    original = trained.frame
    monkeypatch.setattr(
        trained, "frame", lambda *a: sizes.append(len(original(*a))) or original(*a)
    )
    table = answers(world / "linear.bpm", tmp_path / "long.csv")
    assert len(sizes) > 10
    assert max(sizes) < 500
    expected = pd.concat([answers(world / "linear.bpm", world / "test.csv")] * 20)
    pd.testing.assert_frame_equal(table, expected.reset_index(drop=True), rtol=1e-12)


def test_an_error_in_the_middle_leaves_the_old_file(world, tmp_path, monkeypatch):
    monkeypatch.setattr("bayespoint.io.tables.csv_table.BLOCK_BYTES", 5000)
    text = (world / "test.csv").read_text()
    path, out = tmp_path / "t.csv", tmp_path / "out.csv"
    path.write_text(text + text.partition("\n")[2] * 10 + "1,2\n")
    out.write_text("old")
    assert "a row has 2 values instead of 5" in fails(
        "predict", world / "linear.bpm", path, "--output", out
    )
    assert out.read_text() == "old"
    assert set(tmp_path.iterdir()) == {path, out}


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.8390987319544442, "0.839099"),
        (0.9999998712345, "0.999999871"),
        (1.23456e-9, "1.23e-09"),
        (1 - 2**-53, "0.9999999999999999"),
        (5e-324, "5e-324"),
        (0.0, "0.0"),
        (1.0, "1.0"),
        (0.5, "0.5"),
    ],
)
def test_probabilities_have_few_digits_and_are_never_wrongly_certain(value, text):
    assert str(float(round_probabilities(np.array([value]))[0])) == text


def test_parquet_keeps_all_digits(world, tmp_path):
    out = tmp_path / "out.csv", tmp_path / "out.parquet"
    for path in out:
        ok("predict", world / "kernel.bpm", world / "test.csv", "--output", path)
    rounded, exact = read_exactly(out[0]), pd.read_parquet(out[1])
    gap = np.abs(rounded["probability"] - exact["probability"])
    assert 0 < gap.max() <= 0.5e-6


@pytest.mark.parametrize("model", ["linear.bpm", "kernel.bpm"])
def test_novelty(world, model):
    """As in Python; rows that are too novel are refused, also without another limit."""
    model, data = world / model, world / "test.csv"
    opened = trained.open_model(model)
    (table,) = open_table(data).batches()
    expected = bayespoint.load(model).novelty(frame(table, opened.columns))
    plain = answers(model, data, "--novelty")
    assert list(plain) == ["prediction", "probability", "novelty"]
    np.testing.assert_allclose(plain["novelty"], expected, rtol=0, atol=0.5e-6 + 1e-7)
    limit = float(np.median(expected))
    refusing = answers(model, data, "--max-novelty", limit, "--novelty", "--probabilities")
    assert list(refusing)[:4] == ["prediction", "probability", "accepted", "novelty"]
    clear = np.abs(expected - limit) > 1e-7
    assert np.array_equal(refusing["accepted"][clear], expected[clear] <= limit)
    assert refusing["prediction"].isna().equals(~refusing["accepted"])


def test_novelty_of_a_compact_model(world, tmp_path):
    model = tmp_path / "compact.bpm"
    opened = bayespoint.load(world / "kernel.bpm")
    assert opened.max_novelty == 1
    ok("train", world / "train.csv", "--target", "kind", "--classifier", "kernel", "--compact",
       0.01, "--model", model)  # fmt: skip
    assert "compact" in fails("predict", model, world / "test.csv", "--novelty")
