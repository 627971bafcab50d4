"""Ctrl-C as a wish to be looked at between calls of compiled code."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager


class Interrupted:
    """True once Ctrl-C was pressed."""

    def __init__(self) -> None:
        self.pressed = False

    def __bool__(self) -> bool:
        return self.pressed


@contextmanager
def interrupts() -> Iterator[Interrupted]:
    """Collect Ctrl-C instead of raising KeyboardInterrupt; the second one raises.

    Compiled code cannot be left by an exception, and one that arrives while its result
    is handed over may crash the process. Outside the main thread, and where somebody
    else handles the signal, nothing is changed.
    """
    interrupted = Interrupted()
    ours = threading.current_thread() is threading.main_thread()
    if not ours or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield interrupted
        return

    def note(number, frame):
        if interrupted:
            raise KeyboardInterrupt
        interrupted.pressed = True

    signal.signal(signal.SIGINT, note)
    try:
        yield interrupted
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)
