"""Make calls that change the disk fail, one after the other, and run verbs of the command."""

import builtins
import ctypes
import io
import json
import os
import shutil
import signal
import sys
import tomllib
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from unittest.mock import patch

import numpy as np
import pandas as pd

import bayespoint
from bayespoint.cli.app import app

OLD = b"old content"
DRAFT = "*.bayespoint-draft"
INTERRUPTED = 130


class _Raw(io.FileIO):
    """A file whose writes are counted."""

    touch: Callable[[str], None]

    def write(self, data):
        self.touch("write")
        return super().write(data)

    def truncate(self, size=None):
        self.touch("truncate")
        return super().truncate(size)


@contextmanager
def disk_fault(
    folder: Path, number: int, action: Callable[[], None], lasting: bool
) -> Iterator[list]:
    """Call `action` at the numbered change of a file in a folder, and at later ones if it lasts.

    Changes are writes, truncations, syncs, new files, new names and new permissions. Yields the
    list of changes so far.
    """
    calls: list[str] = []

    def touch(what: str) -> None:
        calls.append(what)
        if len(calls) == number or (lasting and len(calls) > number):
            action()

    def is_inside(file) -> bool:
        return isinstance(file, int) or str(file).startswith(str(folder))

    def opened(file, mode="r", buffering=-1, encoding=None, errors=None, newline=None, **more):
        if not set(mode) & set("wax+") or not is_inside(file):
            return real_open(file, mode, buffering, encoding, errors, newline, **more)
        raw = _Raw(file, mode.replace("b", "").replace("t", ""), **more)
        raw.touch = touch
        if buffering == 0:
            return raw
        held = io.BufferedRandom(raw) if "+" in mode else io.BufferedWriter(raw)
        return held if "b" in mode else io.TextIOWrapper(held, encoding, errors, newline)

    def counted(name: str, function: Callable) -> Callable:
        def call(first, *arguments, **options):
            is_new = name != "open" or (arguments and arguments[0] & os.O_CREAT)
            if is_inside(first) and is_new:
                touch(name)
            return function(first, *arguments, **options)

        return call

    real_open = builtins.open
    names = ("open", "fsync", "replace", "link", "chmod", "ftruncate")
    with (
        patch.multiple(os, **{name: counted(name, getattr(os, name)) for name in names}),
        patch.object(builtins, "open", opened),
        patch.object(io, "open", opened),
    ):
        yield calls


def mixed_rows(n_rows: int, seed: int) -> pd.DataFrame:
    """Return rows with numbers, texts and two classes."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n_rows)
    numbers = {f"x{j}": np.round(rng.normal(size=n_rows) + y, 3) for j in range(3)}
    towns = np.where(rng.random(n_rows) < 0.8, np.array(["Ulm", "Bonn"])[y], "Ulm")
    return pd.DataFrame({**numbers, "town": towns, "kind": np.array(["no", "yes"])[y]})


def make_world(folder: Path) -> None:
    """Write the files that verbs read, and a linear and a kernel model."""
    mixed_rows(240, 0).to_csv(folder / "train.csv", index=False)
    mixed_rows(150, 1).to_csv(folder / "test.csv", index=False)
    pool = mixed_rows(60, 2)
    pool.loc[30:, "kind"] = None
    pool.to_csv(folder / "pool.csv", index=False)
    mixed_rows(150, 3).to_csv(folder / "earlier.csv", index=False)
    for name in ("linear", "kernel"):
        model = folder / f"{name}.bpm"
        arguments = ["train", folder / "train.csv", "--target", "kind", "--model", model]
        assert run([*map(str, arguments), "--classifier", name]) == 0
    watch = [folder / "linear.bpm", folder / "earlier.csv", "--watch", folder / "watch.json"]
    assert run(["evaluate", *map(str, watch), "--max-error", "0.4"]) == 0


def run(arguments: list[str]) -> int:
    """Run a verb in this process, and return its exit code."""
    try:
        app(arguments)
    except SystemExit as end:
        return int(end.code or 0)
    return 0


def _is_model(path: Path) -> bool:
    return bayespoint.load(path) is not None


def _is_onnx(path: Path) -> bool:
    import onnx

    onnx.checker.check_model(onnx.load(path))
    return True


def _is_watch(path: Path) -> bool:
    parts = json.loads(path.read_text())["parts"]
    return [part["n_rows"] for part in parts] == [150, 150]


def _has_rows(path: Path) -> bool:
    return path.read_text().count("\n") == 151


def _has_parquet_rows(path: Path) -> bool:
    return len(pd.read_parquet(path)) == 150


# Verb: its arguments (IN is the folder of inputs, OUT that of outputs), its file, and whether a
# new file is complete.
VERBS: dict[str, tuple[str, str, Callable[[Path], bool]]] = {
    "train": ("train IN/train.csv --target kind --model OUT/m --classifier linear", "m", _is_model),
    "train --compact": (
        "train IN/train.csv --target kind --model OUT/m --classifier kernel --compact 0.01",
        "m",
        _is_model,
    ),
    "update": ("update OUT/linear.bpm IN/test.csv", "linear.bpm", _is_model),
    "predict": ("predict IN/linear.bpm IN/test.csv --output OUT/p.csv", "p.csv", _has_rows),
    "predict, Parquet": (
        "predict IN/linear.bpm IN/test.csv --output OUT/p.parquet",
        "p.parquet",
        _has_parquet_rows,
    ),
    "export": ("export IN/linear.bpm --output OUT/m.onnx", "m.onnx", _is_onnx),
    "report": (
        "report IN/linear.bpm IN/test.csv --output OUT/r.html",
        "r.html",
        lambda path: path.read_text().rstrip().endswith("</html>"),
    ),
    "check": (
        "check IN/train.csv --target kind --write OUT/plan.toml",
        "plan.toml",
        lambda path: bool(tomllib.loads(path.read_text())),
    ),
    "evaluate --watch": (
        "evaluate IN/linear.bpm IN/test.csv --max-error 0.4 --watch OUT/watch.json",
        "watch.json",
        _is_watch,
    ),
    "label": (
        "label OUT/pool.csv --target kind --finish --classes yes,no --model OUT/m --seed 1",
        "m",
        _is_model,
    ),
    "papers": (
        "papers run figure_12 --output OUT",
        "figure_12.csv",
        lambda path: path.read_text().count("\n") == 2,  # names, and one quantity
    ),
}


def prepare(verb: str, world: Path, folder: Path) -> tuple[list[str], Path]:
    """Make a folder with old files; return the arguments of a verb, and its file."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    text, name, _ = VERBS[verb]
    if verb == "update":
        shutil.copy(world / "linear.bpm", folder)
    elif verb == "evaluate --watch":
        shutil.copy(world / "watch.json", folder)
    elif verb == "label":
        shutil.copy(world / "pool.csv", folder)
        (folder / name).write_bytes(OLD)
    else:
        (folder / name).write_bytes(OLD)
    arguments = [a.replace("IN/", f"{world}/").replace("OUT", str(folder)) for a in text.split()]
    return arguments, folder / name


def is_whole(verb: str, path: Path, old: bytes) -> bool:
    """Tell whether a file is the old one, or a new one that is complete."""
    try:
        return path.read_bytes() == old or VERBS[verb][2](path)
    except Exception:
        return False


def drop_privileges() -> None:
    """Give up all capabilities: then permissions of files bind root as they bind anybody else."""
    version, none = (ctypes.c_uint32 * 2)(0x20080522, 0), (ctypes.c_uint32 * 6)()
    if ctypes.CDLL(None, use_errno=True).capset(version, none):
        raise OSError(ctypes.get_errno(), "capabilities cannot be dropped")


def in_child(
    arguments: list[str], around=None, plain_user: bool = False, log: Path | None = None
) -> int:
    """Start a verb in a fork of this process, and return its id."""
    child = os.fork()
    if child:
        return child
    code = 70
    try:
        target = os.open(log or os.devnull, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o666)
        os.dup2(target, 1)
        os.dup2(target, 2)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        if plain_user:
            drop_privileges()
        if around is None:
            code = run(arguments)
        else:
            with around:
                code = run(arguments)
    except KeyboardInterrupt:  # before or after the verb: bayespoint.cli.main says so
        code = INTERRUPTED
    except BaseException:
        traceback.print_exc()  # to the log, if there is one
    finally:
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
        os._exit(code)
