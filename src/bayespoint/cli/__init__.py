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
    from .terminal import INTERRUPTED

    try:
        app()
    except SystemExit as end:
        if end.code == INTERRUPTED:
            # Arrow may still be reading in a thread of its own, and abort when Python ends.
            with suppress(OSError):
                sys.stdout.flush()
                sys.stderr.flush()
            os._exit(INTERRUPTED)
        raise
