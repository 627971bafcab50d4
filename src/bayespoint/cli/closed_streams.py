"""Standard streams that were closed when the process began, as `command >&-` and services do."""

from __future__ import annotations

import os
import sys

# Names of those that were closed.
closed_streams: set[str] = set()


def open_closed_streams() -> None:
    """Let closed streams lead to nowhere.

    Else the next file that is opened takes the number of the stream, and what a library prints
    becomes a part of the file.
    """
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        try:
            os.fstat(number)
        except OSError:
            os.set_inheritable(os.open(os.devnull, os.O_RDWR), True)  # takes the lowest number
            closed_streams.add(name)
        if getattr(sys, name) is None:
            mode = "w" if number else "r"
            setattr(sys, name, os.fdopen(number, mode, encoding="utf-8", closefd=False))
