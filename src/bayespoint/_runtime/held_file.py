"""Let one process at a time change a file."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from .atomic import lock_file

# Look this often whether another process has finished with the file.
WAIT_SECONDS = 0.1


@contextmanager
def held_file(path: str | os.PathLike, wait: Callable[[], None]) -> Iterator[Callable[[], bool]]:
    """Hold a file until the end of the block; processes that hold the same file wait.

    Yields a function that tells whether the file is still the one that was there at the
    beginning. `wait` is called once if another process holds the file. Where files cannot be
    locked, nobody waits.
    """
    descriptor, told = -1, False
    try:
        while True:
            descriptor = os.open(path, os.O_RDONLY)
            # A file that was replaced in the meantime is not the one to hold.
            if lock_file(descriptor) is not False and _is_at(path, descriptor):
                break
            os.close(descriptor)
            descriptor = -1
            if not told:
                wait()
                told = True
            time.sleep(WAIT_SECONDS)
        yield lambda: _is_at(path, descriptor)
    finally:
        if descriptor >= 0:
            os.close(descriptor)


def _is_at(path: str | os.PathLike, descriptor: int) -> bool:
    """Return whether an open file has this path."""
    try:
        return os.path.samestat(os.stat(path), os.fstat(descriptor))
    except FileNotFoundError:
        return False
