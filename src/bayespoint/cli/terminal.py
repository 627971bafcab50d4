"""Output to the terminal: results, notes, progress, and errors on one line."""

from __future__ import annotations

import errno
import json
import math
import os
import signal
import sys
import threading
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import wraps
from textwrap import wrap
from typing import Any

import typer

from .._runtime.atomic import remove_drafts
from .._runtime.interrupt import n_presses
from .._runtime.memory import claim_library_memory
from .option_names import name_options
from .progress_line import clear_line, without_line
from .progress_line import working as working

# If this environment variable is set, an error shows its traceback.
DEBUG_VARIABLE = "BAYESPOINT_DEBUG"
EXIT_FAILED = 1
EXIT_INTERRUPTED = 130
# Add the number of a signal to get the exit code of a process that it ended.
EXIT_SIGNAL_BASE = 128
# From `kill`, and from a terminal that is closed; nohup ignores the latter.
ENDING_SIGNALS = [signal.SIGTERM, *([signal.SIGHUP] if hasattr(signal, "SIGHUP") else [])]
# Errors of a disk, of the user's share of it, or of a file that is full.
NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
# What the system says if there is no memory for a library or a thread.
NO_MEMORY_WORDS = (
    "failed to map segment", "cannot allocate memory", "Cannot allocate memory",
    "can't start new thread",
)  # fmt: skip
NO_MEMORY_ADVICE = (
    "there is not enough memory. Close other programs, or raise the limit of this one (ulimit -v). "
    "train takes less with --max-memory, and with fewer columns"
)
# Sentences are broken into lines of this many characters.
LINE_WIDTH = 98
# Names listed in a note.
MAX_NAMES_LISTED = 5

# Whether Ctrl-C has cut the verb short, and how often it was noted before the verb began.
_is_cut_short = False
_presses_before = 0


def guarded(verb: Callable) -> Callable:
    """Make a verb end with one line and an exit code, whatever goes wrong."""

    @wraps(verb)
    def run(*args, **kwargs):
        global _is_cut_short, _presses_before
        _is_cut_short, _presses_before = False, n_presses()
        if os.environ.get(DEBUG_VARIABLE):
            return verb(*args, **kwargs)
        try:
            with _warnings_as_notes(), _tidy_when_killed():
                claim_library_memory()
                verb(*args, **kwargs)
                if not is_cut_short():
                    return
                if not _is_cut_short:
                    cut_short("this is the answer so far")
        except (typer.Exit, typer.Abort, typer.BadParameter):
            raise
        except KeyboardInterrupt as error:
            _say(f"interrupted: {error}" if error.args else "interrupted; nothing is kept")
            raise typer.Exit(EXIT_INTERRUPTED) from None
        except BrokenPipeError:
            # The reader of our output has closed it. Python should not complain about that.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        except Exception as error:
            _say(f"error: {_explain(error)}")
        else:
            raise typer.Exit(EXIT_INTERRUPTED)
        raise typer.Exit(EXIT_FAILED)

    return run


def cut_short(kept: str) -> None:
    """Say what is kept after Ctrl-C; the verb goes on, and ends with its exit code."""
    global _is_cut_short
    _is_cut_short = True
    note(f"cut short by Ctrl-C: {kept}")


def is_cut_short() -> bool:
    """Return whether Ctrl-C has cut short what the verb does, so that more work is unwelcome."""
    return _is_cut_short or n_presses() > _presses_before


@contextmanager
def _tidy_when_killed() -> Iterator[None]:
    """Remove unfinished files if a signal asks the process to end."""

    def end(number, frame):
        # An exception could be raised inside a callback of a library, and be lost there.
        remove_drafts()
        clear_line()
        os._exit(EXIT_SIGNAL_BASE + number)

    if threading.current_thread() is not threading.main_thread():
        yield
        return
    ending = [number for number in ENDING_SIGNALS if signal.getsignal(number) != signal.SIG_IGN]
    before = {number: signal.signal(number, end) for number in ending}
    try:
        yield
    finally:
        for number, action in before.items():
            signal.signal(number, action)


def note(text: str) -> None:
    """Print a note, which is not part of the result."""
    _say(f"note: {text}")


def show(result: dict[str, Any], as_json: bool, *lines: str) -> None:
    """Print a result as JSON, or else the lines that describe it."""
    if as_json:
        typer.echo(json.dumps(_to_json(result), indent=2, ensure_ascii=False, allow_nan=False))
    else:
        typer.echo("\n".join(lines))


def aligned(rows: Sequence[tuple[str, ...]]) -> list[str]:
    """Return lines of a table; all columns but the first are right-aligned, words in () are not."""
    widths = [
        max(len(row[i]) for row in rows if i < len(row)) for i in range(len(max(rows, key=len)))
    ]
    return [
        "  ".join(
            [
                row[0].ljust(widths[0]),
                *(
                    cell.ljust(w) if cell.startswith("(") else cell.rjust(w)
                    for cell, w in zip(row[1:], widths[1:], strict=False)
                ),
            ]
        ).rstrip()
        for row in rows
    ]


def wrapped(sentence: str) -> list[str]:
    """Return a sentence as lines that begin with two blanks."""
    return wrap(sentence, LINE_WIDTH, initial_indent="  ", subsequent_indent="  ")


def listed(names: Sequence[str], most: int = MAX_NAMES_LISTED) -> str:
    """Return names as a text, and dots if there are too many to list."""
    return ", ".join([*names[:most], *["..."] * (len(names) > most)])


def percent(value: float) -> str:
    """Return a share in percent."""
    return f"{100 * value:.1f} %"


def _to_json(value: Any) -> Any:
    """Return a value that JSON can hold: numbers as Python's, NaN and infinity as null."""
    if isinstance(value, dict):
        return {str(key): _to_json(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_to_json(item) for item in value]
    value = value.item() if hasattr(value, "item") else value
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _say(text: str) -> None:
    """Print one line, without characters that could break it or control the terminal."""
    printable = "".join(c if c.isprintable() else " " for c in f"bayespoint: {text}")
    with without_line():
        typer.echo(printable, err=True)


def _is_out_of_memory(error: BaseException | None) -> bool:
    """Tell whether memory was too short, for numbers, for a library or for a thread."""
    while error is not None:
        if isinstance(error, MemoryError) or getattr(error, "errno", None) == errno.ENOMEM:
            return True
        if any(words in str(error) for words in NO_MEMORY_WORDS):
            return True
        error = error.__cause__ or error.__context__
    return False


def _explain(error: Exception) -> str:
    if _is_out_of_memory(error):
        return NO_MEMORY_ADVICE
    if isinstance(error, (ValueError, OSError, ImportError)):
        return _message(error)
    return f"unexpected {type(error).__name__}: {_message(error)} ({DEBUG_VARIABLE}=1 shows where)"


def _message(error: BaseException) -> str:
    if isinstance(error, OSError) and error.errno in NO_ROOM:
        return (
            f"{error.strerror}. Make room, or write to another disk. Files that were there before "
            "are unchanged."
        )
    if isinstance(error, FileNotFoundError) and error.filename:
        return f"There is no file {str(error.filename)!r}."
    if isinstance(error, FileNotFoundError) and error.errno and not _has_current_folder():
        return "The current folder was removed. Change to another one."
    if isinstance(error, OSError) and error.strerror and error.filename:
        return f"{error.strerror}: {error.filename}"
    return name_options(" ".join(str(error).split())) or type(error).__name__


def _has_current_folder() -> bool:
    try:
        os.getcwd()
    except OSError:
        return False
    return True


@contextmanager
def _warnings_as_notes() -> Iterator[None]:
    """Show warnings of libraries as notes, each once."""
    seen = set()

    def show_note(message, category, filename, lineno, file=None, line=None):
        text = " ".join(str(message).split())
        ours = not issubclass(category, (DeprecationWarning, FutureWarning))
        if ours and text not in seen:
            seen.add(text)
            note(name_options(text))

    with warnings.catch_warnings():
        warnings.simplefilter("default")
        warnings.showwarning = show_note
        yield
