"""Ctrl-C as a wish to be looked at between calls of compiled code."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

# Ctrl-C twice within so many seconds means to stop everything, not just this fit.
IMPATIENT = 3.0

_last_press = -IMPATIENT
_current: Interrupted | None = None


class Interrupted:
    """True once Ctrl-C was pressed."""

    def __init__(self) -> None:
        self.pressed = False
        self.twice = False

    def __bool__(self) -> bool:
        return self.pressed


@contextmanager
def interrupts() -> Iterator[Interrupted]:
    """Collect Ctrl-C; pressed twice, it becomes a KeyboardInterrupt at the end.

    Compiled code cannot be left by an exception, and one that arrives while its result
    is handed over ends in a SystemError or a crash. Outside the main thread, and where
    somebody else handles the signal, nothing is changed. Inside another such block it is
    the same wish.
    """
    global _current
    ours = threading.current_thread() is threading.main_thread()
    if ours and _current is not None:
        yield _current
        return
    interrupted = Interrupted()
    if not ours or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield interrupted
        return

    def note(number, frame):
        global _last_press
        now = time.monotonic()
        interrupted.pressed = True
        interrupted.twice = interrupted.twice or now - _last_press < IMPATIENT
        _last_press = now

    signal.signal(signal.SIGINT, note)
    _current = interrupted
    try:
        yield interrupted
    finally:
        _current = None
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if interrupted.twice:
        raise KeyboardInterrupt
