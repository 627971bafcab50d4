"""What a person sees: notes, progress, figures, and errors on one line."""

from __future__ import annotations

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
from typing import Any

import typer

from .._runtime.atomic import remove_drafts
from .option_names import name_options

DEBUG = "BAYESPOINT_DEBUG"
FAILED = 1
# Exit codes of processes that were ended by a signal begin here.
SIGNALED = 128
INTERRUPTED = 130


def guarded(verb: Callable) -> Callable:
    """Let a verb end with one line and an exit code, whatever goes wrong."""

    @wraps(verb)
    def run(*args, **kwargs):
        if os.environ.get(DEBUG):
            return verb(*args, **kwargs)
        try:
            with _warnings_as_notes(), _killed_tidily():
                return verb(*args, **kwargs)
        except (typer.Exit, typer.Abort, typer.BadParameter):
            raise
        except KeyboardInterrupt:
            _say("interrupted")
            raise typer.Exit(INTERRUPTED) from None
        except BrokenPipeError:
            # Whoever read our output has seen enough; do not complain when Python closes it.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        except MemoryError:
            _say("error: there is not enough memory for this")
        except (ValueError, OSError, ImportError) as error:
            _say(f"error: {_message(error)}")
        except Exception as error:
            _say(
                f"error: unexpected {type(error).__name__}: {_message(error)} "
                f"({DEBUG}=1 shows where)"
            )
        raise typer.Exit(FAILED)

    return run


@contextmanager
def _killed_tidily() -> Iterator[None]:
    """Have what was begun removed when the process is asked to end."""

    def end(number, frame):
        # An exception could be raised where others call us, and be lost there.
        remove_drafts()
        os._exit(SIGNALED + number)

    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def note(text: str) -> None:
    """Say something that is not the result."""
    _say(f"note: {text}")


@contextmanager
def working(text: str, *, quiet: bool = False) -> Iterator[Callable[[str], None]]:
    """Show that something is being done, to a person; yields what changes the text."""
    if quiet or not sys.stderr.isatty():
        yield lambda text: None
        return
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn()
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task(text)
        yield lambda text: progress.update(task, description=text)


def show(figures: dict[str, Any], as_json: bool, *lines: str) -> None:
    """Print figures, as JSON or as lines that were made of them."""
    if as_json:
        typer.echo(json.dumps(_plain(figures), indent=2, ensure_ascii=False, allow_nan=False))
    else:
        typer.echo("\n".join(lines))


def aligned(rows: Sequence[tuple[str, ...]]) -> list[str]:
    """Return lines of a table; all columns but the first are aligned to the right."""
    widths = [
        max(len(row[i]) for row in rows if i < len(row)) for i in range(len(max(rows, key=len)))
    ]
    return [
        "  ".join(
            [
                row[0].ljust(widths[0]),
                *(cell.rjust(w) for cell, w in zip(row[1:], widths[1:], strict=False)),
            ]
        ).rstrip()
        for row in rows
    ]


def percent(value: float) -> str:
    """Return a share in percent."""
    return f"{100 * value:.1f} %"


def _plain(value: Any) -> Any:
    """Return what JSON has: NumPy's numbers as Python's, and null for those that are none."""
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    value = value.item() if hasattr(value, "item") else value
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _say(text: str) -> None:
    """Print one line; what a file holds cannot end it or steer the terminal."""
    printable = "".join(c if c.isprintable() else " " for c in f"bayespoint: {text}")
    typer.echo(printable, err=True)


def _message(error: BaseException) -> str:
    if isinstance(error, OSError) and error.strerror and error.filename:
        return f"{error.strerror}: {error.filename}"
    return name_options(" ".join(str(error).split())) or type(error).__name__


@contextmanager
def _warnings_as_notes() -> Iterator[None]:
    """Show what libraries warn of as notes, each once."""
    seen = set()

    def show_note(message, category, filename, lineno, file=None, line=None):
        text = " ".join(str(message).split())
        ours = not issubclass(category, (DeprecationWarning, FutureWarning))
        if ours and text not in seen:
            seen.add(text)
            note(text)

    with warnings.catch_warnings():
        warnings.simplefilter("default")
        warnings.showwarning = show_note
        yield
