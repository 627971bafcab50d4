import json
import os
import shutil
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

import bayespoint
from bayespoint._runtime.atomic import in_place_of
from bayespoint.cli import update
from bayespoint.cli.learn import judge
from cli_helpers import fails, mixed_table, ok, run, run_json


def linear(model):
    return bayespoint.load(model).estimator_.estimator[-1]


def test_rows_are_added(world, tmp_path):
    model = tmp_path / "m.bpm"
    shutil.copy(world / "linear.bpm", model)
    mixed_table(400, seed=5).to_csv(tmp_path / "new.csv", index=False)
    before = linear(model)
    result = run_json("update", model, tmp_path / "new.csv")
    assert result["n_new"] + result["n_held_out"] == 400
    assert result["n_rows"] == 192 + result["n_new"]
    after = linear(model)
    assert after.n_samples_seen_ == before.n_samples_seen_ + result["n_new"]
    assert np.mean(after.coef_variance_) < np.mean(before.coef_variance_)
    assert len(bayespoint.load(model).calibration_correct_) == result["n_held_out"]
    again = run_json("update", model, tmp_path / "new.csv")
    assert again["n_rows"] == result["n_rows"] + again["n_new"]


def test_the_old_model_can_stay(world, tmp_path):
    before = (world / "linear.bpm").read_bytes()
    out = tmp_path / "new.bpm"
    text = ok("update", world / "linear.bpm", world / "test.csv", "--output", out)
    assert "more rows" in text
    assert (world / "linear.bpm").read_bytes() == before
    ok("predict", out, world / "test.csv")


def test_libsvm_and_standard_input(world, tmp_path):
    one, two = tmp_path / "one", tmp_path / "two"
    content = (world / "more.svm").read_bytes()
    ok("update", world / "sparse.bpm", world / "more.svm", "--output", one)
    ok("update", world / "sparse.bpm", "-", "--output", two, input=content)
    np.testing.assert_array_equal(linear(one).coef_, linear(two).coef_)


def test_the_reject_rate_of_training_stays(world, tmp_path):
    model = tmp_path / "m"
    arguments = ["--target", "kind", "--model", model, "--classifier", "linear"]
    ok("train", world / "train.csv", *arguments, "--reject-rate", "0.25")
    ok("update", model, world / "test.csv")
    assert bayespoint.load(model).reject_rate == 0.25
    assert "accepted" in ok("predict", model, world / "test.csv")


@pytest.mark.skipif(os.name == "nt", reason="there are no such locks")
def test_updates_at_once_keep_all_rows(world, tmp_path):
    model, new = tmp_path / "m.bpm", tmp_path / "new.csv"
    shutil.copy(world / "linear.bpm", model)
    mixed_table(400, seed=5).to_csv(new, index=False)
    command = [sys.executable, "-m", "bayespoint", "update", str(model), str(new), "--json"]
    before = linear(model).n_samples_seen_
    processes = [
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) for _ in range(2)
    ]
    ends = [process.communicate() for process in processes]
    assert [process.returncode for process in processes] == [0, 0], ends
    n_new = sum(json.loads(out)["n_new"] for out, _ in ends)
    assert linear(model).n_samples_seen_ == before + n_new


def test_a_model_that_was_replaced_during_the_update_stays(world, tmp_path, monkeypatch):
    model, other = tmp_path / "m.bpm", (world / "kernel.bpm").read_bytes()
    shutil.copy(world / "linear.bpm", model)

    def replace(*arguments):
        with in_place_of(model) as file:
            file.write(other)
        return judge(*arguments)

    monkeypatch.setattr(update, "judge", replace)
    line = fails("update", model, world / "test.csv")
    assert "was replaced by another process" in line
    assert model.read_bytes() == other


def test_models_and_rows_that_cannot_be_used(world, tmp_path):
    out, new = tmp_path / "out.bpm", tmp_path / "new.csv"
    line = fails("update", world / "kernel.bpm", world / "test.csv", "--output", out)
    assert "Only linear classifiers can be updated" in line
    table = mixed_table(50)
    table.loc[7, "kind"] = "perhaps"
    table.to_csv(new, index=False)
    line = fails("update", world / "linear.bpm", new, "--output", out)
    assert "The model does not know the class 'perhaps'" in line
    pd.DataFrame(columns=list(mixed_table(2))).to_csv(new, index=False)
    assert "too few rows" in fails("update", world / "linear.bpm", new, "--output", out)
    assert list(tmp_path.iterdir()) == [new]


@pytest.mark.parametrize("labels", [["yes"], ["no"]])
def test_new_rows_may_be_of_one_class(world, tmp_path, labels):
    table = mixed_table(100)
    table[table["kind"].isin(labels)].to_csv(tmp_path / "new.csv", index=False)
    ok("update", world / "linear.bpm", tmp_path / "new.csv", "--output", tmp_path / "out")


def test_rows_that_were_learned_before_are_told(world, tmp_path):
    mixed_table(400, seed=5).to_csv(tmp_path / "new.csv", index=False)
    out = tmp_path / "out.bpm"
    first = run("update", world / "linear.bpm", tmp_path / "new.csv", "--output", out)
    assert "already learned" not in first.stderr
    n_new = run_json("update", out, tmp_path / "new.csv", "--output", tmp_path / "x")["n_new"]
    again = run("update", out, tmp_path / "new.csv", "--output", out)
    assert f"the model has already learned {n_new} of 400 rows" in again.stderr
    assert "They count twice now" in again.stderr
