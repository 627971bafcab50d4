"""What train and update leave in the model file: fingerprints and baselines."""

import json

import pytest

from bayespoint import model_file
from bayespoint.cli import train
from bayespoint.cli.record import seconds_left
from bayespoint.cli.trained import open_model
from cli_helpers import ok, run_json


def test_baselines_learn_from_the_training_rows_and_are_judged_on_the_others(world, tmp_path):
    ok("train", world / "train.csv", "--target", "kind", "--model", tmp_path / "m.bpm")
    record = open_model(tmp_path / "m.bpm").record
    names = [one.name for one in record.baselines]
    assert names == ["this model", "logistic regression", "random forest"]
    assert {one.error.total for one in record.baselines} == {48}
    assert record.baselines[1].how == "learned from the same 192 training rows"
    assert record.reason is None
    assert len(record.fingerprints.trained) == 192
    assert len(record.fingerprints.held_out) == 48


def test_a_person_reads_the_comparison(world, tmp_path):
    text = ok("train", world / "train.csv", "--target", "kind", "--model", tmp_path / "m.bpm")
    record = open_model(tmp_path / "m.bpm").record
    shown = f"random forest {100 * record.baselines[2].error.value:.1f} %"
    assert shown in text


def test_no_time_is_left_for_baselines(world, tmp_path, monkeypatch):
    monkeypatch.setattr(train, "seconds_left", lambda spent, left: min(0.0, left))
    arguments = ["train", world / "train.csv", "--target", "kind", "--model", tmp_path / "m.bpm"]
    ok(*arguments, "--max-time", "9")
    record = open_model(tmp_path / "m.bpm").record
    assert len(record.baselines) < 3
    assert "No time was left" in record.reason


def test_baselines_take_no_longer_than_the_model_or_its_limit():
    assert seconds_left(0.5, None) == 3
    assert seconds_left(20.0, None) == 10
    assert seconds_left(20.0, 6.0) == 6
    assert seconds_left(31.0, -1.0) == -1


def test_an_update_adds_fingerprints(world, tmp_path):
    before = open_model(world / "linear.bpm").record
    ok("update", world / "linear.bpm", world / "test.csv", "--output", tmp_path / "m.bpm")
    record = open_model(tmp_path / "m.bpm").record
    assert record.fingerprints.salt == before.fingerprints.salt
    assert len(record.fingerprints.trained) > len(before.fingerprints.trained)
    assert record.baselines == []
    seen = run_json(
        *("evaluate", tmp_path / "m.bpm", world / "train.csv", "--include-training-rows")
    )["seen"]
    assert seen["n_seen"] == 192


def test_a_model_that_never_knew_its_rows_cannot_learn_them_by_an_update(world, tmp_path):
    model, metadata = model_file.read(world / "linear.bpm")
    model_file.save(model, tmp_path / "m.bpm", {"command": metadata["command"]})
    ok("update", tmp_path / "m.bpm", world / "test.csv")
    assert open_model(tmp_path / "m.bpm").record is None


def test_the_record_holds_no_rows_in_plain_text(world):
    content = json.dumps(model_file.read(world / "linear.bpm")[1]["record"])
    table = (world / "train.csv").read_text().splitlines()[1:]
    widths = [line.split(",")[1] for line in table if '"' not in line]
    assert len(widths) > 50
    assert not any(width in content for width in widths)


@pytest.mark.parametrize("change", [{"salt": "00"}, {"limit": -1}, {"trained": 5}])
def test_a_changed_record_is_refused(world, tmp_path, change):
    model, metadata = model_file.read(world / "linear.bpm")
    record = metadata["record"]
    record = record | {"fingerprints": record["fingerprints"] | change}
    model_file.save(model, tmp_path / "m.bpm", {**metadata, "record": record})
    with pytest.raises(ValueError, match="was changed after"):
        open_model(tmp_path / "m.bpm")
