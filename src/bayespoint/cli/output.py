"""Check that an output file can be written, before any work is done."""

from __future__ import annotations

import os
from pathlib import Path

import typer


def check_output(path: Path, *inputs: str | Path) -> None:
    """Raise an error if the folder does not exist, or if the file is one of the inputs."""
    if path.is_dir():
        raise typer.BadParameter(f"{str(path)!r} is a folder. Give the name of a file.")
    if not path.parent.is_dir():
        raise typer.BadParameter(f"There is no folder {str(path.parent)!r} to write to.")
    for other in inputs:
        if os.path.exists(other) and path.exists() and os.path.samefile(path, other):
            raise typer.BadParameter(
                f"{str(path)!r} is an input and would be overwritten. Write to another file."
            )
