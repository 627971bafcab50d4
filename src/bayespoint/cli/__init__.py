"""The `bayespoint` command; each verb has a file of its own."""

from __future__ import annotations

import os
import sys
from contextlib import suppress


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
    from .app import app
    from .terminal import EXIT_INTERRUPTED

    try:
        app()
    except SystemExit as end:
        if end.code == EXIT_INTERRUPTED:
            # A thread of Arrow may still be reading, and would crash while Python shuts down.
            with suppress(OSError):
                sys.stdout.flush()
                sys.stderr.flush()
            os._exit(EXIT_INTERRUPTED)
        raise
