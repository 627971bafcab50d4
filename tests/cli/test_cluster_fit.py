import json

import numpy as np
import pandas as pd
import pytest

from bayespoint import BayesPointClassifier, LinearBayesPointClassifier
from bayespoint.cli import cluster_fit
from bayespoint.cli.cluster_fit import CELLS, LANDMARKS, Machine, affordable, best_of
from bayespoint.cli.machine import Entry
from bayespoint.cli.source import Plan
from bayespoint.cli.trained import open_model
from bayespoint.io.tables import dataset
from cli_helpers import mixed_table, ok, read_exactly, run

LINEAR, KERNEL, IN_CELLS = Machine("linear"), Machine("kernel", LANDMARKS), Machine("kernel", CELLS)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Return a folder of files of Parquet with unusual parts, of which each is a partition."""
    monkeypatch.setattr(dataset, "MIN_PARTITION_BYTES", 100)
    table = mixed_table(600)
    table.loc[590:, "kind"] = "rare"  # in the last file alone
    table.loc[:149, "job"] = None  # a file in which the column has no type
    for i, rows in enumerate(np.array_split(np.arange(600), 4)):
        table.iloc[rows].to_parquet(tmp_path / f"{i}.parquet", index=False)
    table.iloc[:0].to_parquet(tmp_path / "empty.parquet", index=False)
    return tmp_path


def train(folder, scheduler, *options):
    given = ["train", folder, "--target", "kind", "--model", folder / "m.bpm"]
    result = run(*given, "--scheduler", scheduler, "--json", *options)
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout), result.stderr


@pytest.mark.parametrize(
    ("kind", "classifier"),
    [("linear", LinearBayesPointClassifier), ("kernel", BayesPointClassifier)],
)
def test_all_rows_are_learned(folder, scheduler, kind, classifier, monkeypatch):
    monkeypatch.setattr(cluster_fit, "MAX_CELL_ROWS", 0)
    found, _ = train(folder, scheduler, "--classifier", kind, "--max-error", "0.3")
    assert found["n_rows"] == found["n_rows_available"] == 600 - found["n_held_out"]
    # A fifth of the rows is held out: four standard deviations.
    assert abs(found["n_held_out"] - 120) < 4 * np.sqrt(600 * 0.2 * 0.8)
    assert found["error"] < 0.2
    trained = open_model(folder / "m.bpm")
    assert isinstance(trained.classifier, classifier)
    assert trained.model.classes_.tolist() == ["no", "rare", "yes"]
    assert len(trained.record.fingerprints.trained) == found["n_rows"]
    table = mixed_table(600)
    table.to_csv(folder / "rows.csv", index=False)
    ok("predict", folder / "m.bpm", folder / "rows.csv", "--output", folder / "answers.csv")
    answers = read_exactly(folder / "answers.csv")
    assert np.mean(answers["prediction"] == table["kind"]) > 0.8


def test_the_better_machine_is_chosen_and_why_is_said(folder, scheduler):
    found, notes = train(folder, scheduler)
    assert found["contest"]["winner"] in ("linear", "kernel")
    assert "note: connected to 2 workers" in notes
    assert "landmarks" in notes
    assert "machine is chosen: log loss" in notes


def entry(log_loss, seconds=1.0):
    return Entry(1000, log_loss, 0.1, seconds)


def test_which_machine_is_best(capsys):
    assert best_of({LINEAR: entry(0.5), KERNEL: entry(0.4)}, 9).machine == KERNEL
    assert best_of({LINEAR: entry(0.3), KERNEL: entry(0.4)}, 9).machine == LINEAR
    cells = {KERNEL: entry(0.4), IN_CELLS: entry(0.39)}
    assert best_of(cells, 9).machine == KERNEL  # not enough better
    cells[IN_CELLS] = entry(0.37)
    assert best_of(cells, 9).machine == IN_CELLS
    assert "cells are the kernel machine" in capsys.readouterr().err
    assert best_of({LINEAR: entry(0.3), **cells}, 9).machine == LINEAR
    assert best_of({LINEAR: entry(0.3)}, 9).machine == LINEAR  # as requested


class Source:
    partitions, n_rows, seconds = list(range(10)), [100] * 10, 1.0


def test_time_allows_some_parts(monkeypatch):
    import time

    given = entry(0.1, 2.0)  # 2 ms a row, on two threads 1 ms; reading twice 2 ms a row
    plan = Plan(max_time=1.0, began=time.perf_counter())
    used = affordable(Source, given, plan, 2)
    assert len(used) == int(0.7 / 0.003 / 100)
    assert used == sorted(set(used))
    assert affordable(Source, given, Plan(max_time=1.0, began=-1e9), 2) != []
    for without in (Plan(), plan):
        assert len(affordable(Source, None, without, 2)) == 10
    assert len(affordable(Source, given, Plan(), 2)) == 10


def test_a_time_limit(folder, scheduler):
    found, _ = train(folder, scheduler, "--classifier", "linear", "--max-time", "30")
    assert found["n_rows"] == found["n_rows_available"]


def test_values_that_cannot_be_read_are_counted(folder, scheduler):
    table = mixed_table(600)
    table["age"] = table["age"].astype(str).mask(np.arange(600) % 100 == 1, "old")
    for path in folder.glob("*.parquet"):
        path.unlink()
    for i, rows in enumerate(np.array_split(np.arange(600), 2)):
        table.iloc[rows].to_csv(folder / f"{i}.csv", index=False)
    _, notes = train(folder, scheduler, "--classifier", "linear")
    assert notes.count("of column 'age' cannot be read") == 1
    assert "'old'" in notes


def test_a_column_may_have_two_types(folder, scheduler):
    table = pd.read_parquet(folder / "0.parquet")
    table.assign(age=table["age"].map("{:.3f}".format)).to_parquet(folder / "0.parquet")
    found, _ = train(folder, scheduler, "--classifier", "linear")
    assert "age" in found["columns"]["numbers"]
    assert found["error"] < 0.2


def test_ctrl_c_before_the_fit_leaves_nothing(folder, scheduler, monkeypatch):
    monkeypatch.setattr(cluster_fit, "is_cut_short", lambda: True)
    given = ["train", folder, "--target", "kind", "--model", folder / "m.bpm"]
    result = run(*given, "--scheduler", scheduler)
    assert result.exit_code == 130
    assert "nothing is kept" in result.stderr
    assert not (folder / "m.bpm").exists()
