"""Verbs of the command on hostile tables, and the plan of columns, for benchmarks/fuzz.py.

A verb must end with an exit code of its own, say errors in one line, and print nothing that steers
a terminal. Kept columns of `predict` are data, and come out as they are.
"""

import contextlib
import io
import re
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from unittest import mock

import pandas as pd
import typer
from fault_injection import mixed_rows, run

from bayespoint.cli import predict as verb
from bayespoint.cli.check import run_check
from bayespoint.cli.source import Plan
from bayespoint.cli.terminal import guarded
from bayespoint.cli.trained import Trained, open_model
from bayespoint.io.tables.read_options import ReadOptions
from bayespoint.io.tables.wishes import Wishes, plan_text, read_plan

WANTED = verb.Wanted(["town"], probabilities=True, novelty=True)
PLAN = Plan(Wishes())
SHARED = Path("/dev/shm")


@cache
def _folder() -> Path:
    return Path(tempfile.mkdtemp(prefix="fuzz", dir=SHARED if SHARED.is_dir() else None))


@cache
def _model() -> Trained:
    """Return a model of numbers, categories, words and dates."""
    rows = mixed_rows(60, 0)
    rows["day"] = pd.date_range("2024-01-01", periods=60).astype(str)
    rows["note"] = [f"a note of {i} words, {'late' if i % 2 else 'early'}" for i in range(60)]
    rows.to_csv(_folder() / "train.csv", index=False)
    model = _folder() / "model"
    text = f"train {_folder()}/train.csv --target kind --classifier linear --model {model} --json"
    assert run([*text.split(), "--text", "note", "--date", "day"]) == 0
    return open_model(model)


def _run(verb: Callable, *arguments) -> bool:
    """Run a verb without the parser of options, which is slow; return whether it succeeded."""
    raw, errors, code = io.BytesIO(), io.StringIO(), 0
    out = io.TextIOWrapper(raw, "utf-8", newline="")
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(errors):
        try:
            guarded(verb)(*arguments)
        except typer.Exit as end:
            code = end.exit_code
        except typer.BadParameter:
            code = 2
    out.flush()
    shown, said = raw.getvalue().decode(), errors.getvalue()
    assert code in (0, 1, 2), code
    assert "BAYESPOINT_DEBUG" not in said, said
    if code == 1:
        assert said.splitlines()[-1].startswith("bayespoint: error: "), said
    steering = re.search(r"[^\n\r\t -~\u00a0-\U0010ffff]", said + shown * (verb is run_check))
    assert steering is None, steering
    return code == 0


def _table(content: bytes) -> Path:
    path = _folder() / "t.csv"
    path.write_bytes(content)
    return path


def predict(content: bytes) -> bool:
    """Predict the rows of a stranger."""
    arguments = Path("m"), str(_table(content)), None, None, WANTED, ReadOptions(), False
    with mock.patch.object(verb, "open_model", return_value=_model()):
        return _run(verb.run_predict, *arguments)


def check(content: bytes) -> bool:
    """Describe the columns of a stranger, and write a plan, which can be read."""
    plan = _folder() / "plan.toml"
    if not _run(run_check, str(_table(content)), None, PLAN, plan, False):
        return False
    read_plan(plan)
    return True


def plan(content: bytes) -> bool:
    """Read a plan of columns."""
    path = _folder() / "t.toml"
    path.write_bytes(content)
    try:
        wishes = read_plan(path)
    except ValueError as error:
        assert "\n" not in str(error), error  # noqa: PT017
        return False
    path.write_text(plan_text("t", wishes.target, []), "utf-8")
    assert read_plan(path).target == wishes.target
    return True


def table_seeds() -> list[bytes]:
    """Return tables that the verbs can use."""
    rows = mixed_rows(8, 1)
    rows["day"], rows["note"] = "2024-02-03", "a note"
    plain = rows.to_csv(index=False).encode()
    few = rows[["x0", "town", "kind"]].to_csv(index=False, sep=";", decimal=",").encode()
    return [plain, few, plain.replace(b"Ulm", b'"U,lm"').replace(b"0.", b""), b"x0,x1\n1,2\n"]


def plan_seeds() -> list[bytes]:
    """Return plans."""
    whole = (
        b'target = "kind"\n\n[columns]\n"a" = "number ,"  # why\nb = "date %d.%m.%Y"\nc = "drop"\n'
    )
    return [whole, b"[columns]\n", b"columns = 1\n", b'target = "\\u007f"\n', b"x = [1, {a = 2}]\n"]
