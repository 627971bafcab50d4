"""The `bayespoint` command; each verb has a file of its own."""

from __future__ import annotations

import sys


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

    app()
