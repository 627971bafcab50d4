"""Ctrl-C at every moment: what is kept, what is said, and the exit code.

The signal is a real one. It is sent by the function that runs at the moment of interest, so that
nothing depends on the clock.
"""

import importlib
import os
import signal
import sys

import pytest

import bayespoint
from bayespoint._runtime import interrupt
from bayespoint.cli import after_ctrl_c, source
from bayespoint.cli.after_ctrl_c import until_interrupted
from cli_helpers import read_exactly, run, run_json

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX signals")

EVALUATE = "bayespoint.fitting.mixture_search:MixtureSearch.evaluate"
PARTIAL_FIT = "bayespoint.classifiers.linear:LinearBayesPointClassifier.partial_fit"


def press():
    os.kill(os.getpid(), signal.SIGINT)


@pytest.fixture
def pressed_in(monkeypatch):
    """Return a function that makes another one press Ctrl-C when it is called."""
    monkeypatch.setattr(interrupt, "_last_press", -100.0)  # of another test

    def prepare(place, call=1, times=1):
        module, _, name = place.partition(":")
        holder, calls = importlib.import_module(module), 0
        *path, name = name.split(".")
        for part in path:
            holder = getattr(holder, part)
        function = getattr(holder, name)

        def pressing(*args, **kwargs):
            nonlocal calls
            calls += 1
            for _ in range(times if calls == call else 0):
                press()
            return function(*args, **kwargs)

        monkeypatch.setattr(holder, name, pressing)

    return prepare


def train(world, folder, *more, name="train.csv"):
    arguments = ["train", world / name, "--target", "kind", "--model", folder / "m.bpm", *more]
    return run(*arguments)


def works(folder, world):
    """Return how many held-out rows tested a model that can be loaded and used."""
    answers = run_json("evaluate", folder / "m.bpm", world / "test.csv")
    assert answers["n_rows"] == 150
    return run_json("diagnose", folder / "m.bpm")["n_held_out"]


def assert_nothing_is_left(result, folder):
    assert (result.exit_code, result.stdout) == (130, "")
    assert "interrupted" in result.stderr
    assert os.listdir(folder) == []


def test_train_while_reading(world, tmp_path, pressed_in):
    pressed_in("bayespoint.cli.train:read_source")
    assert_nothing_is_left(train(world, tmp_path), tmp_path)


def test_train_while_choosing(world, tmp_path, pressed_in):
    pressed_in(EVALUATE, call=3)
    result = train(world, tmp_path)
    assert result.exit_code == 130
    assert "cut short by Ctrl-C: this is the answer so far" in result.stderr
    assert "Written to" in result.stdout
    assert works(tmp_path, world) == 48


def test_train_while_choosing_pressed_twice(world, tmp_path, pressed_in):
    pressed_in(EVALUATE, call=3, times=2)
    assert_nothing_is_left(train(world, tmp_path), tmp_path)


def test_train_while_testing(world, tmp_path, pressed_in, monkeypatch):
    monkeypatch.setattr(after_ctrl_c, "QUICK_TEST_ROWS", 20)
    pressed_in("bayespoint.cli.learn:evaluate")
    result = train(world, tmp_path)
    assert result.exit_code == 130
    assert "the model is tested with 20 of 48 held-out rows" in result.stderr
    assert "On 20 held-out rows" in result.stdout
    assert works(tmp_path, world) == 20


def test_train_while_comparing(world, tmp_path, pressed_in):
    pressed_in("bayespoint.cli.record:trained_baselines")
    result = train(world, tmp_path)
    assert result.exit_code == 130
    assert "not compared with other classifiers" in result.stderr
    assert works(tmp_path, world) == 48


def test_train_while_saving(world, tmp_path, pressed_in):
    pressed_in("bayespoint.cli.train:save")
    result = train(world, tmp_path)
    assert (result.exit_code, os.listdir(tmp_path)) == (130, ["m.bpm"])
    assert works(tmp_path, world) == 48


@pytest.fixture
def long(world, tmp_path_factory, monkeypatch):
    """Return a folder with a file that is read in parts."""
    folder = tmp_path_factory.mktemp("long")
    header, *rows = (world / "train.csv").read_text().splitlines(keepends=True)
    (folder / "long.csv").write_text(header + "".join(rows * 40))
    monkeypatch.setattr(source, "MAX_ROWS_IN_MEMORY", 1000)
    monkeypatch.setattr(source, "ROWS_PER_CHUNK", 1000)
    monkeypatch.setattr("bayespoint.io.tables.csv_table.BLOCK_BYTES", 1 << 15)
    return folder


@pytest.mark.parametrize("place", [PARTIAL_FIT, "bayespoint.cli.source:_labeled"])
def test_train_with_a_stream(world, long, tmp_path, pressed_in, place):
    """Rows that were learned are kept, whether the next ones are being read or learned."""
    pressed_in(place, call=3)
    result = train(long, tmp_path, name="long.csv")
    assert result.exit_code == 130
    assert "the rest of the rows is not learned" in result.stderr
    n_rows = run_json("diagnose", tmp_path / "m.bpm")["n_rows"]
    assert 1000 < n_rows < 6000
    assert works(tmp_path, world)


def test_update(world, long, tmp_path, pressed_in):
    before = run_json("diagnose", world / "linear.bpm")["n_rows"]
    pressed_in(PARTIAL_FIT, call=2)
    result = run("update", world / "linear.bpm", long / "long.csv", "--output", tmp_path / "m.bpm")
    assert result.exit_code == 130
    assert "the rest of the rows is not learned" in result.stderr
    assert before < run_json("diagnose", tmp_path / "m.bpm")["n_rows"] < before + 6000


@pytest.mark.parametrize(
    ("place", "call"),
    [(EVALUATE, 30), ("bayespoint.classifiers.bayes_point:BayesPointClassifier.predict_proba", 2)],
)
def test_cross_validate_shows_the_folds_that_are_finished(world, pressed_in, place, call):
    pressed_in(place, call)
    arguments = ["cross-validate", world / "train.csv", "--target", "kind", "--folds", 3]
    result = run(*arguments)
    assert result.exit_code == 130, result.output
    assert "1 of 3 folds are finished" in result.stderr
    assert result.stdout.startswith("On 80 rows of train.csv")
    assert "±" not in result.stdout.splitlines()[-1]


def test_cross_validate_without_a_finished_fold(world, tmp_path, pressed_in):
    pressed_in(EVALUATE)
    result = run("cross-validate", world / "train.csv", "--target", "kind")
    assert_nothing_is_left(result, tmp_path)
    assert "no fold was finished" in result.stderr


@pytest.mark.parametrize("name", ["out.csv", "out.parquet"])
@pytest.mark.parametrize("old", [True, False])
def test_predict_keeps_finished_rows_beside_the_old_file(
    world, long, tmp_path, pressed_in, name, old
):
    out, partial = tmp_path / name, tmp_path / name.replace("out", "out.partial")
    if old:
        out.write_text("old")
    pressed_in("bayespoint.cli.predict:_answers", call=3)
    result = run("predict", world / "linear.bpm", long / "long.csv", "--output", out)
    assert (result.exit_code, result.stdout) == (130, "")
    assert sorted(tmp_path.iterdir()) == sorted([partial, *[out] * old])
    assert not old or out.read_text() == "old"
    if name.endswith("csv"):
        n_rows = len(read_exactly(partial))
    else:
        import pyarrow.parquet

        n_rows = pyarrow.parquet.read_table(partial).num_rows
    assert 0 < n_rows < 9600
    assert f"the first {n_rows:,} rows are in {partial}" in result.stderr
    assert ("as it was before" if old else "is not written") in result.stderr


def test_predict_writes_whole_rows(world, long, tmp_path, pressed_in):
    pressed_in("bayespoint.cli.predict:_rounded", call=2)
    result = run("predict", world / "linear.bpm", long / "long.csv", "--output", tmp_path / "o.csv")
    assert result.exit_code == 130
    text = (tmp_path / "o.partial.csv").read_text()
    n_rows = text.count("\n") - 1
    assert text.endswith("\n")
    assert f"the first {n_rows:,} rows" in result.stderr


def test_predict_without_a_finished_row(world, long, tmp_path, pressed_in):
    pressed_in("bayespoint.cli.predict:_answers")
    result = run("predict", world / "linear.bpm", long / "long.csv", "--output", tmp_path / "o.csv")
    assert_nothing_is_left(result, tmp_path)


@pytest.mark.parametrize(
    ("verb", "place"),
    [
        ("evaluate", "bayespoint.cli.evaluate:evaluate"),
        ("report", "bayespoint.evaluation.report:write_report"),
    ],
)
def test_verbs_that_have_nothing_to_keep(world, tmp_path, pressed_in, verb, place):
    pressed_in(place)
    output = ["--output", tmp_path / "r.html"] * (verb == "report")
    result = run(verb, world / "linear.bpm", world / "test.csv", *output)
    assert_nothing_is_left(result, tmp_path)


def test_explain_shows_the_weights(world, pressed_in):
    pressed_in("bayespoint.cli.explain:importances")
    result = run("explain", world / "linear.bpm", world / "test.csv")
    assert result.exit_code == 130
    assert "columns were not shuffled" in result.stderr
    assert "Weights for yes" in result.stdout


def test_the_next_verb_is_not_cut_short(world, pressed_in, tmp_path):
    pressed_in(EVALUATE, call=3)
    assert train(world, tmp_path).exit_code == 130
    assert train(world, tmp_path).exit_code == 0


def test_parts_before_the_first_are_not_kept():
    def parts():
        raise KeyboardInterrupt
        yield

    with pytest.raises(KeyboardInterrupt):
        list(until_interrupted(parts()))
    assert list(until_interrupted([1, 2])) == [1, 2]


def test_a_model_that_was_cut_short_loads_in_python(world, tmp_path, pressed_in):
    pressed_in("bayespoint.cli.learn:evaluate")
    assert train(world, tmp_path).exit_code == 130
    assert len(bayespoint.load(tmp_path / "m.bpm").classes_) == 2
