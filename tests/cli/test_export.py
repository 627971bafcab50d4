import re

import numpy as np
import onnxruntime
import pandas as pd
import pytest

from cli_helpers import fails, ok, run_json


def onnx_answers(path, data):
    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    table = pd.read_csv(data)
    inputs = {}
    for value in session.get_inputs():
        column = table[value.name]
        if "string" in value.type:
            values = column.fillna("").to_numpy(object)
        else:
            values = column.to_numpy(np.float64 if "double" in value.type else np.float32)
        inputs[value.name] = values.reshape(-1, 1)
    names = [value.name for value in session.get_outputs()]
    return dict(zip(names, session.run(None, inputs), strict=True))


@pytest.mark.parametrize("model", ["linear", "kernel"])
@pytest.mark.parametrize("rejection", [("--max-error", "0.35"), ("--reject-rate", "0.2")])
def test_onnx_gives_the_predictions_of_the_command(world, tmp_path, model, rejection):
    out = tmp_path / "m.onnx"
    result = run_json("export", world / f"{model}.bpm", "--output", out, *rejection)
    assert result["bytes"] == out.stat().st_size
    assert set(result["inputs"]) == {"age", "width", "job", "town"}
    assert any("accept" in name for name in result["outputs"])
    answers = onnx_answers(out, world / "test.csv")
    table = tmp_path / "out.parquet"
    ok(*("predict", world / f"{model}.bpm", world / "test.csv"), *rejection, "--output", table)
    expected = pd.read_parquet(table)
    accept = next(value for name, value in answers.items() if "accept" in name)
    np.testing.assert_array_equal(np.ravel(accept), expected["accepted"])
    label = next(value for name, value in answers.items() if "label" in name)
    known = expected["accepted"].to_numpy()
    np.testing.assert_array_equal(np.ravel(label)[known], expected["prediction"][known])


def test_without_rejection_there_is_no_accept(world, tmp_path):
    result = run_json("export", world / "three.bpm", "--output", tmp_path / "m.onnx")
    assert not any("accept" in name for name in result["outputs"])
    # The place without a name is an older way, which still works.
    text = ok("export", world / "sparse.bpm", tmp_path / "s.onnx")
    assert "Written to" in text


def test_the_output_has_to_be_named(world):
    assert "--output FILE.onnx" in fails("export", world / "three.bpm", code=2)
    assert "FILE]" not in ok("export", "--help")


def test_a_reader_of_the_file_alone_can_fill_its_inputs(tmp_path):
    rng = np.random.default_rng(0)
    when = pd.Timestamp("2019-03-04") + pd.to_timedelta(rng.integers(0, 900 * 24, 400), unit="h")
    late = when > pd.Timestamp("2020-06-01")
    table = pd.DataFrame(
        {
            "since": when.strftime("%d.%m.%Y %H:%M"),
            "size": np.round(rng.normal(size=400), 3),
            "town": rng.choice([" Ulm ", "Bonn", "NA"], 400),
            "kind": np.where(late ^ (rng.random(400) < 0.05), "yes", "no"),
        }
    )
    data, model, out = (tmp_path / name for name in ("t.csv", "m.bpm", "m.onnx"))
    table.to_csv(data, index=False)
    ok("train", data, "--target", "kind", "--model", model, "--classifier", "linear")
    text = ok("export", model, "--output", out)
    session = onnxruntime.InferenceSession(str(out), providers=["CPUExecutionProvider"])
    how = session.get_modelmeta().custom_metadata_map["inputs"]
    assert how in text
    assert "Parts of the date 'since': (days)" in how  # without a zone, as the times are
    origin = pd.Timestamp(re.search(r"days since ([\d-]+)", how)[1])
    parts = {
        "days": (when - origin) / pd.Timedelta(days=1),
        "year": when.year,
        "month": when.month,
        "weekday": when.day_of_week,
        "hour": when.hour + when.minute / 60,
    }
    inputs = {f"since ({part})": np.asarray(values, float) for part, values in parts.items()}
    assert all(f"({part})" in how for part in parts)
    inputs["size"] = table["size"].to_numpy()
    inputs["town"] = table["town"].str.strip().replace("NA", "").to_numpy(object)
    names = [value.name for value in session.get_inputs()]
    assert set(names) == set(inputs)
    found = session.run(["probabilities"], {name: inputs[name][:, None] for name in names})[0]
    answers = tmp_path / "a.parquet"
    ok("predict", model, data, "--output", answers, "--probabilities")
    expected = pd.read_parquet(answers)[["probability of no", "probability of yes"]]
    np.testing.assert_allclose(found, expected, atol=1e-9)


def test_what_cannot_be_exported_names_an_option(world, tmp_path):
    rng = np.random.default_rng(0)
    words = np.array([f"word{i}" for i in range(30)])
    y = rng.choice(["yes", "no"], 120)
    notes = [" ".join([*rng.choice(words, 5), label]) for label in y]
    data, model = tmp_path / "t.csv", tmp_path / "m.bpm"
    pd.DataFrame({"note": notes, "kind": y}).to_csv(data, index=False)
    ok(*("train", data, "--target", "kind", "--model", model), "--text", "note")
    assert "--drop note" in fails("export", model, "--output", tmp_path / "m.onnx")
    train = ["train", world / "train.csv", "--target", "kind", "--classifier", "linear"]
    ok(*train, "--model", model, "--max-error", "0.4", "--groups", "prediction")
    assert "--reject-rate" in fails("export", model, "--output", tmp_path / "m.onnx")
    ok("export", model, "--output", tmp_path / "m.onnx", "--reject-rate", "0")


def test_numbers_with_units_are_explained(tmp_path):
    rng = np.random.default_rng(0)
    fee, discount = rng.uniform(100, 9000, 200).round(2), rng.integers(0, 30, 200)
    table = pd.DataFrame(
        {
            "fee": [f"${value:,.2f}" for value in fee],
            "discount": [f"{value}%" for value in discount],
            "left": np.where(fee / 300 - discount + rng.normal(size=200) > 0, "yes", "no"),
        }
    )
    data, model, out = (tmp_path / name for name in ("t.csv", "m.bpm", "m.onnx"))
    table.to_csv(data, index=False)
    ok("train", data, "--target", "left", "--model", model, "--classifier", "linear")
    text = ok("export", model, "--output", out)
    assert "Numbers are doubles, NaN if missing: 1,234.5 $ is 1234.5, 1.5 % is 1.5." in text
    session = onnxruntime.InferenceSession(str(out), providers=["CPUExecutionProvider"])
    inputs = {"fee": fee[:, None], "discount": discount[:, None].astype(float)}
    found = session.run(["probabilities"], inputs)[0]
    ok("predict", model, data, "--output", tmp_path / "a.parquet", "--probabilities")
    expected = pd.read_parquet(tmp_path / "a.parquet")
    np.testing.assert_allclose(found[:, 1], expected["probability of yes"], atol=1e-6)


def test_times_with_a_zone_are_in_utc(tmp_path):
    table = pd.DataFrame({"since": pd.date_range("2024-01-01", periods=60, freq="31h")})
    table["kind"] = np.where(table["since"].dt.hour < 12, "early", "late")
    table["since"] = table["since"].dt.strftime("%Y-%m-%dT%H:%M:%S+02:00")
    data, model = tmp_path / "t.csv", tmp_path / "m.bpm"
    table.to_csv(data, index=False)
    ok("train", data, "--target", "kind", "--model", model, "--classifier", "linear")
    assert "date 'since', in UTC: (days)" in ok("export", model, "--output", tmp_path / "m.onnx")
