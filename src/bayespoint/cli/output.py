"""Check that an output file can be written, before any work is done."""

from __future__ import annotations

import os
from pathlib import Path

import typer


def check_output(path: Path, *inputs: str | Path) -> None:
    """Raise an error if the folder cannot be written to, or if the file is one of the inputs."""
    if path.is_dir():
        raise typer.BadParameter(f"{str(path)!r} is a folder. Give the name of a file.")
    if path.exists() and not path.is_file():
        raise typer.BadParameter(f"{str(path)!r} is a device or a pipe. Give the name of a file.")
    if not path.parent.is_dir():
        raise typer.BadParameter(f"There is no folder {str(path.parent)!r} to write to.")
    # A file is written beside the one that it replaces.
    folder = os.path.dirname(os.path.realpath(path))
    if not os.access(folder, os.W_OK):
        raise typer.BadParameter(
            f"You may not write to the folder {folder!r}. Write to another one, or ask its owner."
        )
    for other in inputs:
        if os.path.exists(other) and path.exists() and os.path.samefile(path, other):
            raise typer.BadParameter(
                f"{str(path)!r} is an input and would be overwritten. Write to another file."
            )
