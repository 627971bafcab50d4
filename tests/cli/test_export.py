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
