"""The `bayespoint` command; each verb has a file of its own."""

from __future__ import annotations

import atexit
import os
import signal
import sys
from collections.abc import Callable
from contextlib import suppress

from .closed_streams import open_closed_streams


def main() -> None:
    """Run the command line."""
    try:
        import rich  # noqa: F401
        import typer  # noqa: F401
    except ModuleNotFoundError as error:
        sys.exit(
            f"The bayespoint command needs {error.name}, which is not installed. "
            'Install it with: python -m pip install "bayespoint[cli]"'
        )
    open_closed_streams()
    code: int | None = None

    def leave() -> None:
        """End the process as it is."""
        if code is None:
            return
        for stream in sys.stdout, sys.stderr:
            with suppress(OSError, ValueError, RuntimeError):
                stream.flush()
        os._exit(code)

    # A thread of Arrow may still be reading, and would crash while Python shuts down. What is
    # registered first is called last, after the libraries have tidied up.
    atexit.register(leave)
    try:
        from .app import app

        app()
    except KeyboardInterrupt:  # before a verb has begun
        code = 130
        _answer_ctrl_c(leave)
        print("bayespoint: interrupted; nothing is kept", file=sys.stderr)  # noqa: T201
        sys.exit(code)
    except SystemExit as end:
        # Just before or after a verb, typer makes an exit of Ctrl-C.
        if isinstance(getattr(end.__context__, "__cause__", None), KeyboardInterrupt):
            code = 130
            _answer_ctrl_c(leave)
            print("bayespoint: interrupted", file=sys.stderr)  # noqa: T201
            sys.exit(code)
        code = end.code if isinstance(end.code, int) else None
        if code is not None:
            _answer_ctrl_c(leave)
        raise


def _answer_ctrl_c(leave: Callable[[], None]) -> None:
    """Leave at once on Ctrl-C: the verb has ended, and Python would show a traceback."""
    with suppress(ValueError):  # outside of the main thread nothing is answered
        signal.signal(signal.SIGINT, lambda number, frame: leave())
