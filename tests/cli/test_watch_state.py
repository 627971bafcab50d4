import json
import os
import re
import shutil
from functools import reduce
from operator import getitem

import numpy as np
import pandas as pd
import pytest

import bayespoint
from bayespoint.cli.trained import open_model
from bayespoint.cli.watch_state import count, read_watch, watch_lines, watch_to_dict
from bayespoint.evaluation import evaluate
from cli_helpers import fails, mixed_table, ok, run, run_json

PROMISE = "--max-error", "0.4"


@pytest.fixture
def later(world, tmp_path):
    """Return a function that writes new rows; a share of them has the other class."""

    def write(name, n_rows=300, seed=5, flipped=0.0):
        table, rng = mixed_table(n_rows, seed=seed), np.random.default_rng(seed)
        other = table["kind"].map({"no": "yes", "yes": "no"})
        table["kind"] = table["kind"].where(rng.random(n_rows) >= flipped, other)
        table.to_csv(tmp_path / name, index=False)
        return tmp_path / name

    return write


def watch(world, data, state, *more):
    return "evaluate", world / "linear.bpm", data, "--watch", state, *PROMISE, *more


def test_a_watch_is_begun_continued_and_shown(world, later, tmp_path):
    state, page = tmp_path / "w.json", tmp_path / "page.html"
    first, second = later("a.csv"), later("b.csv", seed=6)
    text = ok(*watch(world, first, state))
    assert "Since the watch began" in text
    assert f"Written to {state}." in text
    result = run_json(*watch(world, second, state))["watch"]
    assert result["holds"] is True
    model = open_model(world / "linear.bpm", {"max_error": 0.4}).model
    certificate = model.certificate()
    for part in (first, second):
        table = pd.read_csv(part)
        X = table[["age", "width", "job", "town"]].astype({"job": object, "town": object})
        X["job"] = X["job"].where(X["job"].notna(), None)
        certificate.update(table["kind"], model.predict(X))
    (expected,) = certificate.watched()
    (found,) = result["groups"]
    assert (found["n_answers"], found["n_wrong"]) == (expected.n_answers, expected.n_wrong)
    assert found["evidence"] == pytest.approx(expected.evidence)
    ok("report", world / "linear.bpm", second, "--output", page, "--watch", state, *PROMISE)
    assert "Since deployment" in page.read_text()
    assert sorted(os.listdir(tmp_path)) == ["a.csv", "b.csv", "page.html", "w.json"]


def test_a_broken_promise_is_exit_code_1(world, later, tmp_path):
    arguments = watch(world, later("bad.csv", flipped=1.0), tmp_path / "w.json")
    result = run(*arguments)
    assert result.exit_code == 1
    assert "Since the watch began" in result.stdout
    assert "promise of at most 40.0 % errors no longer holds" in result.stderr
    assert json.loads((tmp_path / "w.json").read_text())["parts"][0]["n_rows"] == 300
    # It is not taken back, and --json says so too.
    result = run(*watch(world, later("c.csv", seed=8), tmp_path / "w.json", "--json"))
    assert result.exit_code == 1
    assert json.loads(result.stdout)["watch"]["holds"] is False


def test_rows_count_once(world, later, tmp_path):
    state, data = tmp_path / "w.json", later("a.csv")
    ok(*watch(world, data, state))
    before = state.read_bytes()
    assert f"These rows are counted in {state} already" in fails(*watch(world, data, state))
    grown = pd.concat([pd.read_csv(data), mixed_table(50, seed=9)])
    grown.to_csv(tmp_path / "grown.csv", index=False)
    line = fails(*watch(world, tmp_path / "grown.csv", state))
    assert "The first 300 rows are counted" in line
    assert state.read_bytes() == before


def test_each_group_is_watched(world, later, tmp_path):
    model, data = tmp_path / "m.bpm", tmp_path / "train.csv"
    mixed_table(1500, seed=1).to_csv(data, index=False)
    options = "--target", "kind", "--classifier", "linear", "--max-error", "0.35", "--max-time", "1"
    ok("train", data, *options, "--groups", "town", "--model", model)
    table = pd.read_csv(later("a.csv", 600))
    table.loc[:5, "town"] = "Atlantis"
    table.to_csv(tmp_path / "a.csv", index=False)
    text = ok("evaluate", model, tmp_path / "a.csv", "--watch", tmp_path / "w.json")
    trained = open_model(model).model
    assert "By value of “town”:" in text
    assert "(not in training)" in text
    known = trained.groups_[trained.group_thresholds_ < np.inf].tolist()
    assert len(known) >= 1
    watched = json.loads((tmp_path / "w.json").read_text())["certificate"]
    assert watched["groups"] == known
    result = run_json("predict", model, tmp_path / "a.csv", "--output", tmp_path / "out.csv")
    out = pd.read_csv(tmp_path / "out.csv")
    for one in result["groups"][:-1]:
        inside = table["town"].fillna("(missing)") == one["group"]
        assert one["n_rows"] == inside.sum()
        assert one["n_answered"] == out["accepted"][inside.to_numpy()].sum()
    assert (result["groups"][-1]["n_rows"], result["groups"][-1]["n_answered"]) == (6, 0)
    said = run("predict", model, tmp_path / "a.csv").stderr
    assert "(not in training)" in said


def test_what_cannot_be_watched(world, later, tmp_path):
    state, data = tmp_path / "w.json", later("a.csv")
    linear = "evaluate", world / "linear.bpm"
    assert "promises no error" in fails(*linear, data, "--watch", state)
    assert not state.exists()
    line = fails(*linear, world / "train.csv", "--watch", state, *PROMISE)
    assert "were held out in training" in line
    line = fails(*linear, data, "--watch", state, "--include-training-rows", code=2)
    assert "without --include-training-rows" in line
    assert "is an input and would be overwritten" in fails(*linear, data, "--watch", data, code=2)
    ok(*watch(world, data, state))
    line = fails(*linear, data, "--watch", state, "--max-error", "0.3")
    assert "watches another model, or another promise" in line
    line = fails("report", *linear[1:], data, "--watch", state, "--output", tmp_path / "p.html")
    assert "watches another model" in line


DAMAGED = {
    "empty": lambda text: "",
    "no JSON": lambda text: text[: len(text) // 2],
    "a list": lambda text: "[1]",
    "something else": lambda text: '{"format": "other", "version": 1}',
    "later version": lambda text: text.replace('"version": 1', '"version": 2'),
    "no bets": lambda text: text.replace('"bets": [', '"bets": [], "x": ['),
    "worth": lambda text: text.replace('"worth": [', '"worth": ["a", '),
    "numbers": lambda text: text.replace('"n_answers":', '"n_answers": "x", "y":'),
    "negative": lambda text: text.replace('"n_wrong": ', '"n_wrong": -'),
    "infinite": lambda text: text.replace('"largest": ', '"largest": NaN, "y": '),
    "infinite count": lambda text: text.replace('"n_rows": ', '"n_rows": 1e999, "y": '),
    "infinite answers": lambda text: text.replace('"n_answers": ', '"n_answers": 1e999, "y": '),
    "infinite evidence": lambda text: text.replace('"largest": ', '"largest": 1e999, "y": '),
    "answers that do not count": lambda text: text.replace('"reject"', '"yes"'),
    "no groups": lambda text: _with_groups(text, []),
    "groups of another model": lambda text: _with_groups(text, ["a"]),
    "another promise": lambda text: text.replace('"max_error": 0.4', '"max_error": 0.9'),
    "deep": lambda text: "[" * 100_000,
    "binary": lambda text: b"\xff\xfe\x00",
}


def _with_groups(text, groups):
    content = json.loads(text)
    bets = content["certificate"]["bets"] * len(groups)
    content["certificate"] |= {"groups": groups, "bets": bets}
    return json.dumps(content)


@pytest.mark.parametrize("name", DAMAGED)
def test_a_damaged_state_is_told_and_kept(world, later, tmp_path, name):
    model = open_model(world / "linear.bpm", {"max_error": 0.4}).model
    state, (X, y) = tmp_path / "w.json", _rows()
    count(state, model, evaluate(model, X, y), X, y, "rows")
    content = DAMAGED[name](state.read_text())
    state.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(ValueError, match="is not a file that --watch wrote, or is damaged"):
        read_watch(state, model)
    assert state.read_bytes() == (content if isinstance(content, bytes) else content.encode())


HOSTILE = [
    None, True, -1, 2**70, 10**400, 1e308, 1e-320, float("inf"), float("nan"), "", "\ud800", [],
    [1], [[1, 2]], {}, {"a": 1}, [None] * 3, ["a"] * 3,
]  # fmt: skip


def _places(content, place=()):
    """Yield where values are in a tree of JSON."""
    inner = content if isinstance(content, dict) else range(len(content))
    for key in inner:
        yield (*place, key)
        if isinstance(content[key], (dict, list)):
            yield from _places(content[key], (*place, key))


def test_each_value_may_be_any_other(world, tmp_path):
    """The state is refused in words and kept, or goes on."""
    model = open_model(world / "linear.bpm", {"max_error": 0.4}).model
    state, (X, y), (X2, y2) = tmp_path / "w.json", _rows(), _rows(6)
    count(state, model, evaluate(model, X, y), X, y, "rows")
    original, evaluation = state.read_text(), evaluate(model, X2, y2)
    n_refused = n_counted = 0
    for *place, key in _places(json.loads(original)):
        for value in HOSTILE:
            content = json.loads(original)
            reduce(getitem, place, content)[key] = value
            before = json.dumps(content)
            state.write_text(before)
            try:
                certificate = count(state, model, evaluation, X2, y2, "other")
            except ValueError as error:
                assert re.search("is damaged|watches another|counted in", str(error))  # noqa: PT017
                assert state.read_text() == before
                n_refused += 1
            else:
                assert watch_lines(certificate)
                json.dumps(watch_to_dict(certificate))
                read_watch(state, model)
                n_counted += 1
    assert n_refused > 200
    assert n_counted > 20


def _rows(seed=5):
    table = mixed_table(300, seed=seed)
    return table[["age", "width", "job", "town"]], table["kind"].to_numpy()


def test_a_state_that_another_process_replaces(world, tmp_path, monkeypatch):
    model = open_model(world / "linear.bpm", {"max_error": 0.4}).model
    state, (X, y) = tmp_path / "w.json", _rows()
    count(state, model, evaluate(model, X, y), X, y, "rows")
    before = state.read_bytes()
    update = bayespoint.Certificate.update

    def replace_meanwhile(self, *arguments):
        shutil.copy(state, tmp_path / "copy")
        os.replace(tmp_path / "copy", state)
        return update(self, *arguments)

    monkeypatch.setattr(bayespoint.Certificate, "update", replace_meanwhile)
    X, y = _rows(6)
    with pytest.raises(ValueError, match="replaced by another process"):
        count(state, model, evaluate(model, X, y), X, y, "rows")
    assert state.read_bytes() == before


def test_two_processes_that_begin_a_state_at_once_both_count(world, tmp_path, monkeypatch):
    """The other one begins and counts between our look and our first writing."""
    model = open_model(world / "linear.bpm", {"max_error": 0.4}).model
    state, (X, y), (X2, y2) = tmp_path / "w.json", _rows(), _rows(6)
    exists = type(state).exists

    def look(self, **options):
        found = exists(self, **options)
        if self == state and not found:
            monkeypatch.undo()
            count(state, model, evaluate(model, X2, y2), X2, y2, "other")
        return found

    monkeypatch.setattr(type(state), "exists", look)
    count(state, model, evaluate(model, X, y), X, y, "rows")
    assert [part["data"] for part in read_watch(state, model).parts] == ["other", "rows"]


def test_missing_numbers_are_a_group(tmp_path):
    """JSON has no name for them."""
    for name, seed in (("a", 1), ("b", 2)):
        table = mixed_table(3000, seed=seed)
        table["age"] = np.array([1.0, 2.0, np.nan])[np.arange(len(table)) % 3]
        table.to_csv(tmp_path / f"{name}.csv", index=False)
    model, state = tmp_path / "m.bpm", tmp_path / "w.json"
    options = "--target", "kind", "--classifier", "linear", "--max-error", "0.45"
    ok("train", tmp_path / "a.csv", *options, "--groups", "age", "--model", model)
    arguments = "evaluate", model, tmp_path / "b.csv", "--watch", state
    groups = run_json(*arguments)["watch"]["groups"]
    assert [one["group"] for one in groups] == ["1", "2", "(missing)"]
    assert json.loads(state.read_text())["certificate"]["groups"] == [1.0, 2.0, None]
    assert "are counted" in fails(*arguments)
