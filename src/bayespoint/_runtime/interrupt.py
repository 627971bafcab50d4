"""Treat Ctrl-C as a request that is read between calls of compiled code."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

# Ctrl-C pressed again within this many seconds stops everything, not just this fit.
DOUBLE_PRESS_SECONDS = 3.0

_last_press = -DOUBLE_PRESS_SECONDS
_n_presses = 0
_current: Interrupted | None = None


class Interrupted:
    """True once Ctrl-C was pressed."""

    def __init__(self) -> None:
        self.pressed = False
        self.twice = False

    def __bool__(self) -> bool:
        return self.pressed


def n_presses() -> int:
    """Return how often Ctrl-C was noted instead of raised, since the process began."""
    return _n_presses


def end_if_pressed_twice() -> None:
    """Raise KeyboardInterrupt if Ctrl-C was noted twice, for work that has no answer so far."""
    if _current is not None and _current.twice:
        raise KeyboardInterrupt


@contextmanager
def interrupts() -> Iterator[Interrupted]:
    """Note Ctrl-C instead of raising; after a double press, raise KeyboardInterrupt at the end.

    An exception cannot leave compiled code. If it is raised while a result is handed over, it
    ends in a SystemError or a crash. Outside the main thread, or if other code handles the
    signal, this does nothing. Nested blocks share one request.
    """
    global _current
    in_main_thread = threading.current_thread() is threading.main_thread()
    if in_main_thread and _current is not None:
        yield _current
        return
    interrupted = Interrupted()
    if not in_main_thread or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield interrupted
        return

    def note(number: int, frame: FrameType | None) -> None:
        global _last_press, _n_presses
        _n_presses += 1
        now = time.monotonic()
        interrupted.pressed = True
        interrupted.twice = interrupted.twice or now - _last_press < DOUBLE_PRESS_SECONDS
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
