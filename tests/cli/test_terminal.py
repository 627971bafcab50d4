import errno
import json
import warnings

import numpy as np
import pytest
import typer

from bayespoint.cli import terminal
from bayespoint.cli.terminal import aligned, guarded, listed, note, percent, show, wrapped


def ended(error):
    """Return the exit code of a verb that raises an error."""

    @guarded
    def verb():
        raise error

    with pytest.raises(typer.Exit) as end:
        verb()
    return end.value.exit_code


@pytest.mark.parametrize(
    ("error", "code", "line"),
    [
        (ValueError("two\nlines"), 1, "error: two lines"),
        (FileNotFoundError(2, "No such file", "x.csv"), 1, "error: There is no file 'x.csv'."),
        (MemoryError(), 1, f"error: {terminal.NO_MEMORY_ADVICE}"),
        (OSError(errno.ENOMEM, "x"), 1, f"error: {terminal.NO_MEMORY_ADVICE}"),
        (RuntimeError("can't start new thread"), 1, f"error: {terminal.NO_MEMORY_ADVICE}"),
        (ImportError("m.so: failed to map segment"), 1, f"error: {terminal.NO_MEMORY_ADVICE}"),
        (KeyboardInterrupt(), 130, "interrupted; nothing is kept"),
        (KeyboardInterrupt("two rows"), 130, "interrupted: two rows"),
        (ZeroDivisionError("oh"), 1, "unexpected ZeroDivisionError: oh (BAYESPOINT_DEBUG=1 shows"),
    ],
)
def test_an_error_is_one_line_and_an_exit_code(error, code, line, capsys):
    assert ended(error) == code
    printed = capsys.readouterr().err
    assert line in printed
    assert printed.count("\n") == 1


def test_with_the_variable_an_error_shows_its_traceback(monkeypatch):
    monkeypatch.setenv("BAYESPOINT_DEBUG", "1")

    @guarded
    def verb():
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        verb()


def test_warnings_become_notes_once_and_deprecations_do_not(capsys):
    @guarded
    def verb():
        for _ in range(2):
            warnings.warn("not  precise", UserWarning, stacklevel=1)
            warnings.warn("old", DeprecationWarning, stacklevel=1)

    verb()
    assert capsys.readouterr().err == "bayespoint: note: not precise\n"


def test_notes_cannot_steer_the_terminal(capsys):
    note("a\x1b[31m\nb")
    assert capsys.readouterr().err == "bayespoint: note: a [31m b\n"


def test_json_has_null_for_nan_and_infinity(capsys):
    show({"a": np.float64(1.5), "b": [np.nan, np.inf], 3: np.int64(2), "d": (True, None)}, True)
    found = json.loads(capsys.readouterr().out)
    assert found == {"a": 1.5, "b": [None, None], "3": 2, "d": [True, None]}
    show({"a": 1}, False, "one", "two")
    assert capsys.readouterr().out == "one\ntwo\n"


def test_columns_are_aligned_and_long_lists_are_cut():
    assert aligned([("", "ab"), ("long", "c", "d")]) == ["      ab", "long   c  d"]
    assert listed(["a", "b", "c"], 2) == "a, b, ..."
    assert listed(["a", "b"], 2) == "a, b"
    assert percent(0.1234) == "12.3 %"


def test_sentences_are_broken_into_lines():
    lines = wrapped("word " * 60)
    assert len(lines) > 2
    assert all(line.startswith("  word") and len(line) <= 98 for line in lines)
