"""The verb without its page, which tests/labeling/test_page_in_browser.py shows."""

import json
import re
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pandas as pd
import pytest

from bayespoint.labeling.entries import final_answers
from bayespoint.labeling.journal import read
from cli_helpers import fails, ok, run, run_json
from labeling_helpers import get_json, label, request, two_groups

COMMAND = [sys.executable, "-c", "from bayespoint.cli import main; main()"]


@pytest.fixture
def pool(tmp_path):
    """Return the path of a pool without labels, and the classes of its rows."""
    X, y = two_groups(120)
    table = pd.DataFrame(np.round(X, 4), columns=["size", "weight", "age"])
    table.to_csv(tmp_path / "pool.csv", index=False)
    return tmp_path / "pool.csv", y


class Running:
    """The command in a process of its own."""

    def __init__(self, *arguments):
        self.process = subprocess.Popen(
            [*COMMAND, "label", *map(str, arguments), "--no-browser"],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        lines = []
        for line in self.process.stderr:
            lines.append(line)
            found = re.search(r"http://\S+", line)
            if found:
                self.address = found[0]
                return
        raise AssertionError(lines)

    def answer(self, y, n):
        for _ in range(n):
            row = get_json(self.address)["question"]["row"]
            assert request(self.address, "act", label(row, y[row]))[0] == 200

    def end(self, number=signal.SIGINT):
        self.process.send_signal(number)
        out, errors = self.process.communicate(timeout=120)
        return self.process.returncode, out, errors


def write_journal(pool, y, rows, name="pool.journal.csv", **other):
    """Write a journal of a pool by hand, as another program could."""
    from bayespoint.cli.pool import Shown, read_pool
    from bayespoint.cli.source import Plan
    from bayespoint.labeling.journal import Journal

    read_ = read_pool(str(pool), "kind", Plan(), Shown())
    journal = Journal(pool.with_name(name), read_.facts() | {"seed": 0} | other)
    for row in rows:
        journal.append("label", row, read_.rows.key(row), y[row])
    journal.close()
    return pool.with_name(name)


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_kill_resume_and_ctrl_c(pool):
    path, y = pool
    arguments = [path, "--target", "kind", "--classes", "no,yes", "--max-error", "0.3"]
    first = Running(*arguments)
    assert "Another process writes" in fails("label", path, "--target", "kind", "--finish")
    first.answer(y, 20)
    assert first.end(signal.SIGKILL)[0] == -signal.SIGKILL
    second = Running(path, "--target", "kind")  # classes and promise are in the journal
    state = get_json(second.address)
    assert state["summary"]["n_labels"] == 20
    assert state["classes"] == ["no", "yes"]
    assert state["certificate"]["max_error"] == 0.3
    second.answer(y, 30)
    code, out, errors = second.end()
    assert code == 0, errors
    assert out.startswith("50 labels.")
    labeled = pd.read_csv(path.with_name("pool.labeled.csv"))
    known = labeled["kind"].notna()
    assert known.sum() == 50
    assert (labeled["kind"][known] == y[known]).all()
    assert len(pd.read_csv(path.with_name("pool.predicted.csv"))) == 70


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_finish_on_the_page_ends_the_command(pool):
    path, y = pool
    command = Running(path, "--target", "kind")
    command.answer(y, 6)
    in_the_way = path.with_name("pool.labeled.csv")
    in_the_way.mkdir()
    request(command.address, "finish", {})
    while get_json(command.address)["problem"] is None:  # it is not tried at once
        time.sleep(0.02)
    assert "could not be written" in get_json(command.address)["problem"]
    while get_json(command.address)["finishing"]:
        time.sleep(0.02)
    in_the_way.rmdir()
    done = threading.Thread(target=request, args=(command.address, "finish", {}))
    done.start()
    out, errors = command.process.communicate(timeout=120)
    done.join()
    assert command.process.returncode == 0, errors
    assert "6 labels." in out
    assert path.with_name("pool.labeled.csv").exists()


def test_finish_without_a_page(pool):
    path, y = pool
    write_journal(path, y, range(60))
    model = path.with_name("m.bayespoint")
    found = run_json("label", path, "--target", "kind", "--model", model, "--finish")
    assert found["n_labels"] == 60
    assert str(model) in found["files"]
    predicted = pd.read_csv(path.with_name("pool.predicted.csv"))
    assert predicted["row"].tolist() == list(range(61, 121))
    assert (predicted["prediction"] == y[60:]).mean() > 0.9
    # The model file is one that the other verbs know, and knows its rows.
    answers = path.with_name("answers.csv")
    ok("predict", model, path, "--output", answers)
    assert (pd.read_csv(answers)["prediction"] == y).mean() > 0.9
    labeled = path.with_name("pool.labeled.csv")
    assert "All 60 rows were used to train" in fails("evaluate", model, labeled)


def test_labels_in_the_file_are_used(pool):
    path, y = pool
    table = pd.read_csv(path).assign(kind=None).astype({"kind": object})
    table.loc[:40, "kind"] = y[:41]
    table.to_csv(path, index=False)
    found = run_json("label", path, "--target", "kind", "--finish")
    assert found["n_labels"] == 41
    assert len(pd.read_csv(path.with_name("pool.predicted.csv"))) == 79


def test_too_few_labels_for_a_model(pool):
    path, y = pool
    write_journal(path, y, [0])
    text = ok("label", path, "--target", "kind", "--finish")
    assert "There is no model yet" in text
    assert not path.with_name("pool.predicted.csv").exists()


def test_one_class_is_no_model(pool):
    path, _ = pool
    write_journal(path, ["yes"] * 120, range(30))
    text = ok("label", path, "--target", "kind", "--classes", "yes", "--finish")
    assert text.startswith("30 labels.")
    assert "There is no model yet" in text


def test_every_row_has_a_label(pool):
    path, y = pool
    pd.read_csv(path).assign(kind=y).to_csv(path, index=False)
    found = run_json("label", path, "--target", "kind", "--finish")
    assert found["n_labels"] == 120
    assert len(pd.read_csv(path.with_name("pool.predicted.csv"))) == 0


def test_names_of_classes_are_kept_as_they_are(pool):
    path, _ = pool
    names = ["a, b", "🎉", 'say "no"']
    option = '"a, b",🎉,"say ""no"""'
    write_journal(path, names * 40, [0, 1, 2])
    ok("label", path, "--target", "kind", "--classes", option, "--finish")
    journal = read(path.with_name("pool.journal.csv"))[1]
    assert [entry.label for entry in journal if entry.action == "class"] == names
    assert pd.read_csv(path.with_name("pool.labeled.csv"))["kind"][:3].tolist() == names


@pytest.mark.parametrize(
    ("content", "message"),
    [("", "is empty"), ("a,b\n", "has no rows"), ("a,b\n1,2\n", "a column with values")],
)
def test_files_without_questions(tmp_path, content, message):
    (tmp_path / "pool.csv").write_text(content)
    assert message in fails("label", tmp_path / "pool.csv", "--target", "kind", "--no-browser")
    assert not (tmp_path / "pool.journal.csv").exists()


@pytest.mark.parametrize("option", ["--export", "--model"])
def test_answers_are_never_written_over(pool, option):
    path, y = pool
    other = write_journal(path, y, range(3), "other.csv")
    ours = path.with_name("pool.journal.csv")
    more = ["--merge", other, "--finish"]
    label_ = ["label", path, "--target", "kind"]
    assert "keeps the answers" in fails(*label_, option, ours, *more, code=2)  # not there yet
    assert not ours.exists()
    write_journal(path, y, range(5))
    before = [ours.read_bytes(), other.read_bytes()]
    for name in (ours, other):
        assert "would be overwritten" in fails(*label_, option, name, *more, code=2)
    assert [ours.read_bytes(), other.read_bytes()] == before


def test_results_that_break_off_can_be_written_again(pool, monkeypatch):
    path, y = pool
    journal = write_journal(path, y, range(40)).read_bytes()

    def broken(*arguments):
        raise OSError("No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr("bayespoint.cli.label_results.write_predicted", broken)
        assert "No space left" in fails("label", path, "--target", "kind", "--finish")
    names = {"pool.csv", "pool.journal.csv", "pool.labeled.csv"}
    assert {other.name for other in path.parent.iterdir()} == names
    assert path.with_name("pool.journal.csv").read_bytes() == journal
    assert run_json("label", path, "--target", "kind", "--finish")["n_labels"] == 40
    assert len(pd.read_csv(path.with_name("pool.predicted.csv"))) == 80


def test_a_line_that_was_never_finished_and_one_that_is_damaged(pool):
    path, y = pool
    journal = write_journal(path, y, range(6))
    whole = journal.read_bytes()
    for rest in (b"2026-01-01T00:00:00.000Z,label,7,ab", b"\x00\xff\xfe"):
        journal.write_bytes(whole + rest)
        assert ok("label", path, "--target", "kind", "--finish").startswith("6 labels.")
        assert journal.read_bytes() == whole
    journal.write_bytes(whole + b"\x00\xff\xfe\n")
    assert "is damaged" in fails("label", path, "--target", "kind", "--finish")


def test_export(pool):
    path, y = pool
    write_journal(path, y, [5, 3])
    out = path.with_name("labels.csv")
    assert "2 labeled rows" in ok("label", path, "--target", "kind", "--export", out)
    table = pd.read_csv(out)
    assert table["row"].tolist() == [4, 6]
    assert table["kind"].tolist() == [y[3], y[5]]


def test_merge_onto_reordered_rows(pool):
    path, y = pool
    old = write_journal(path, y, range(30))
    order = np.random.default_rng(0).permutation(120)
    pd.read_csv(path).iloc[order].to_csv(path, index=False)
    assert "has changed since" in fails("label", path, "--target", "kind", "--finish")
    new = path.with_name("new.csv")
    result = run(
        "label", path, "--target", "kind", "--journal", new, "--merge", old, "--finish", "--json"
    )
    assert result.exit_code == 0, result.output
    assert "30 new answers" in result.stderr
    assert json.loads(result.stdout)["n_labels"] == 30
    answers = final_answers(read(new)[1])
    assert {row: answer.label for row, answer in answers.items()} == {
        int(np.flatnonzero(order == row)[0]): y[row] for row in range(30)
    }


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["--max-error", "0.1"], "has --max-error 0.05, not 0.1"),
        (["--seed", "3"], "has --seed 0, not 3"),
        (["--target", "other"], "classes of 'kind'"),
        (["--classes", "yes,YES"], "differs in capitals only"),
        (["--classes", "yes,NA"], "missing value"),
    ],
)
def test_what_does_not_fit_to_the_journal_is_refused(pool, more, message):
    path, y = pool
    write_journal(path, y, range(5), max_error=0.05, confidence_level=0.95)
    target = [] if "--target" in more else ["--target", "kind"]
    assert message in fails("label", path, *target, *more, "--finish")


def test_wrong_options(pool, tmp_path):
    path, _ = pool
    assert "needs --max-error" in fails(
        "label", path, "--target", "kind", "--confidence-level", "0.9", code=2
    )
    assert "is an input" in fails("label", path, "--target", "kind", "--export", path, code=2)
    assert "not a journal" in fails(
        "label", path, "--target", "kind", "--journal", _csv(tmp_path), "--finish"
    )


def _csv(folder):
    (folder / "other.csv").write_text("a,b\n1,2\n")
    return folder / "other.csv"


def test_a_missing_server_is_named(pool, monkeypatch):
    path, _ = pool
    monkeypatch.setitem(sys.modules, "starlette.applications", None)
    monkeypatch.delitem(sys.modules, "bayespoint.labeling.server", raising=False)
    message = fails("label", path, "--target", "kind", "--no-browser")
    assert 'pip install "bayespoint[label]"' in message
