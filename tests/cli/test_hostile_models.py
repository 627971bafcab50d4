"""The command with model files that are damaged, foreign or hostile."""

import io
import json
import pickle
import zipfile

import numpy as np
import pytest

import bayespoint
from bayespoint.io.models.model_file import read
from cli_helpers import fails


class Payload:
    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return (open, (self.path, "w"))


def archive(members, compression=zipfile.ZIP_STORED):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", compression) as file:
        for name, content in members.items():
            file.writestr(name, content)
    return buffer.getvalue()


def verbs(world, model, folder):
    data = world / "test.csv"
    return [
        ["predict", model, data, "--output", folder / "out.csv"],
        ["evaluate", model, data],
        ["update", model, data, "--output", folder / "out.bpm"],
        ["diagnose", model],
        ["explain", model, data],
        ["export", model, "--output", folder / "out.onnx"],
        ["report", model, data, "--output", folder / "out.html"],
    ]


def refused_by_all(world, folder, content):
    model = folder / "model.bpm"
    model.write_bytes(content)
    for arguments in verbs(world, model, folder):
        assert "model" in fails(*arguments)
    assert list(folder.iterdir()) == [model]
    assert model.read_bytes() == content


@pytest.fixture(scope="module")
def hostile(world):
    good = (world / "linear.bpm").read_bytes()
    with zipfile.ZipFile(world / "linear.bpm") as file:
        members = {name: file.read(name) for name in file.namelist()}
    text = members["model.json"]
    zeros = b"\0" * 5_000_000
    newer = json.loads(text)
    newer["version"] += 1
    return {
        "empty": b"",
        "half": good[: len(good) // 2],
        "without its end": good[:-1],
        "text": b"age,width\n1,2\n",
        "pickle": pickle.dumps(Payload(str(world / "pwned"))),
        "pickle in the archive": archive({**members, "arrays/0.npy": pickle.dumps(Payload("x"))}),
        "zip bomb": archive({**members, "bomb": zeros}, zipfile.ZIP_DEFLATED),
        "bomb as the text": archive({"model.json": zeros}, zipfile.ZIP_DEFLATED),
        "path traversal": archive({**members, "../../evil.npy": b"x"}),
        "absolute path": archive({**members, "/tmp/evil": b"x"}),
        "deep text": archive({"model.json": b"[" * 100_000 + b"]" * 100_000}),
        "no text": archive({"other": b"x"}),
        "of the future": archive({**members, "model.json": json.dumps(newer)}),
        "code": archive({**members, "model.json": text.replace(b"Pipeline", b"os.syste")}),
    }


CASES = [
    *("empty", "half", "without its end", "text", "pickle", "pickle in the archive", "zip bomb"),
    *("bomb as the text", "path traversal", "absolute path", "deep text", "no text"),
    *("of the future", "code"),
]


@pytest.mark.parametrize("case", CASES)
def test_hostile_models_are_refused(world, hostile, tmp_path, case):
    refused_by_all(world, tmp_path, hostile[case])
    assert not (world / "pwned").exists()


def test_all_hostile_models_are_tried(hostile):
    assert set(hostile) == set(CASES)


def test_flipped_bits_are_found_or_harmless(world, tmp_path):
    """Every flipped bit is an error of one line, unless it lies where the archive holds nothing."""
    good, rng = bytearray((world / "linear.bpm").read_bytes()), np.random.default_rng(0)
    model, out, refused = tmp_path / "model.bpm", tmp_path / "out.csv", 0
    expected = bayespoint.load(world / "linear.bpm")
    for place in rng.integers(0, len(good), 60):
        flipped = good.copy()
        flipped[place] ^= 1 << rng.integers(8)
        model.write_bytes(flipped)
        try:
            loaded, _ = read(model)
        except ValueError:
            fails("predict", model, world / "test.csv", "--output", out)
            assert not out.exists()
            refused += 1
        else:
            np.testing.assert_array_equal(
                loaded.estimator_.estimator[-1].coef_, expected.estimator_.estimator[-1].coef_
            )
    assert refused > 30


CHANGES = {
    "no columns": lambda about: about.pop("columns"),
    "other columns": lambda about: about["columns"].update(numbers=["age"]),
    "odd columns": lambda about: about.update(columns=[1, 2]),
    "more about columns": lambda about: about["columns"].update(code="import os"),
    "no target": lambda about: about.pop("target"),
    "target that is none": lambda about: about.update(target=3),
    "rows that are none": lambda about: about.update(n_rows="many"),
}


@pytest.mark.parametrize("change", CHANGES)
def test_changed_facts_about_a_model_are_refused(world, tmp_path, change):
    model, metadata = read(world / "linear.bpm")
    CHANGES[change](metadata["command"])
    path = tmp_path / "model.bpm"
    bayespoint.save(model, path, {"command": metadata["command"]})
    for arguments in verbs(world, path, tmp_path):
        assert "was changed after 'bayespoint train' wrote it" in fails(*arguments)
    assert list(tmp_path.iterdir()) == [path]


def test_models_saved_by_python_are_refused(world, tmp_path):
    path = tmp_path / "model.bpm"
    model = bayespoint.load(world / "linear.bpm")
    for estimator in (model, model.estimator_.estimator[-1]):
        bayespoint.save(estimator, path)
        for arguments in verbs(world, path, tmp_path):
            assert "saved by Python code" in fails(*arguments)
    bayespoint.save(model.estimator_.estimator[-1], path, {"command": {"columns": None}})
    assert "saved by Python code" in fails("diagnose", path)
