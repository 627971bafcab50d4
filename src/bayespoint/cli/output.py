"""What is known to go wrong with a file that is to be written, before any work is done."""

from __future__ import annotations

import os
from pathlib import Path

import typer


def check_output(path: Path, *inputs: str | Path) -> None:
    """Refuse to write to a folder that does not exist, or over a file that is read."""
    if path.is_dir():
        raise typer.BadParameter(f"{str(path)!r} is a folder. Give the name of a file.")
    if not path.parent.is_dir():
        raise typer.BadParameter(f"There is no folder {str(path.parent)!r} to write to.")
    for other in inputs:
        if os.path.exists(other) and path.exists() and os.path.samefile(path, other):
            raise typer.BadParameter(
                f"{str(path)!r} is read, and would be overwritten. Write to another file."
            )
