"""A line on the terminal that says what is being done, how much of it, and how long it takes.

It is written by hand because it must not hide the cursor, which a killed process could not show
again, and because a verb that is done at once should not load a library for it.
"""

from __future__ import annotations

import shutil
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from typing import TextIO

from .._runtime.share_done import heard_by

# What takes less time than this shows no line.
SECONDS_BEFORE_LINE = 0.5
SECONDS_BETWEEN_FRAMES = 0.2
# In a file there is a line only so often.
SECONDS_BETWEEN_LINES = 20.0
# An estimate of the time left needs so many seconds and so much of the step to judge from.
MIN_SECONDS_JUDGED = 1.0
MIN_SHARE_JUDGED = 0.02
FRAMES, PLAIN_FRAMES = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏", "|/-\\"
MINUTE, HOUR = 60, 3600

_shown: Line | None = None


class Step:
    """A step of the work, and the shares of it that were reported.

    The speed is judged from the first report to the last: what was done before the first, such as
    rows that another step has read, says nothing about this step.
    """

    def __init__(self, name: str):
        self.name = name
        self.share: float | None = None
        self._first = self._last = (0.0, 0.0)  # share and time

    def advance(self, share: float, now: float) -> None:
        """Note that a share is done; it never falls."""
        if self.share is None:
            self._first = (share, now)
        elif not share > self.share:
            return
        self.share, self._last = share, (share, now)

    def seconds_left(self, now: float) -> float | None:
        """Return an estimate of the time that is left, or None if it would be a guess."""
        done, seconds = (last - first for first, last in zip(self._first, self._last, strict=True))
        if done < MIN_SHARE_JUDGED or seconds < MIN_SECONDS_JUDGED:
            return None
        left = seconds / done * (1 - self._last[0]) - (now - self._last[1])
        return left if left > 0 else None


class Line:
    """The line of a verb. Call it with a text to say what is being done.

    The first word of the text names the step: "reading a.csv", "testing". A new first word begins
    a new step, of which nothing is done yet. `advance` says how much of the step is done; if the
    verb does not say so, what the library reports is shown, or only the step to `follow`.
    """

    def __init__(
        self,
        text: str,
        stream: TextIO,
        *,
        follow: str = "",
        clock: Callable[[], float] = time.monotonic,
    ):
        self._stream, self._clock, self._follow = stream, clock, follow
        self._began = clock()
        self._lock = threading.RLock()
        self._width = 0  # of what stands on the terminal
        self._own = False  # whether the verb itself says how much is done
        self._text, self._step = text, Step("")

    def __call__(self, text: str) -> None:
        """Say what is being done."""
        if _first_word(text) != _first_word(self._text):
            self._step, self._own = Step(""), False
        self._text = text

    def advance(self, share: float) -> None:
        """Say that a share of the step is done."""
        self._own = True
        self._step.advance(share, self._clock())

    def hear(self, share: float, name: str) -> None:
        """Note a share of a step inside the work, unless the verb knows better."""
        if self._own or self._follow not in ("", name):
            return
        if name != self._step.name or share < (self._step.share or 0):
            self._step = Step(name)
        self._step.advance(share, self._clock())

    def text(self) -> str:
        """Return the line as it should be now."""
        now, step = self._clock(), self._step
        known = "", self._follow, _first_word(self._text)
        inner = "" if step.name in known else f": {step.name}"
        parts = [self._text + inner]
        if step.share:
            # Rounded down: 100 % would mean done.
            parts.append(f"{min(int(100 * step.share), 99)} %")
            left = step.seconds_left(now)
            parts += [] if left is None else [f"{about(left)} left"]
        return f"{', '.join(parts)} ({_clock_time(now - self._began)})"

    def draw(self, frame: int) -> None:
        """Write the line, over the one before."""
        plain = not (getattr(self._stream, "encoding", None) or "").lower().startswith("utf")
        frames = PLAIN_FRAMES if plain else FRAMES
        room = shutil.get_terminal_size().columns - 1
        text = f"{frames[frame % len(frames)]} {self.text()}"
        text = "".join(c if c.isprintable() else " " for c in text)[:room]
        self._write(text)

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Remove the line, and draw none until something else is written."""
        with self._lock:
            self.clear()
            yield

    def clear(self) -> None:
        """Remove the line."""
        with self._lock:
            if self._width:
                self._write("")

    def _write(self, text: str) -> None:
        # A terminal that was closed is no reason to stop.
        with self._lock, suppress(OSError, ValueError):
            self._stream.write("\r" + text.ljust(self._width) + ("" if text else "\r"))
            self._stream.flush()
            self._width = len(text)


class LogLine(Line):
    """Lines for a file, one after another."""

    def draw(self, frame: int) -> None:
        """Write what is being done."""
        with self._lock, suppress(OSError, ValueError):
            self._stream.write(f"bayespoint: {self.text()}\n")
            self._stream.flush()


class Silence:
    """What a verb talks to if there is no terminal."""

    def __call__(self, text: str) -> None:
        """Say what is being done."""

    def advance(self, share: float) -> None:
        """Say that a share of the step is done."""


@contextmanager
def working(
    text: str, *, quiet: bool = False, follow: str = "", log: bool = False
) -> Iterator[Line | Silence]:
    """Show on a terminal what is being done, and yield a function that changes the text.

    If there is no terminal, nothing is shown, or with `log` a line now and then.
    """
    global _shown
    is_terminal = sys.stderr.isatty()
    if quiet or not (is_terminal or log):
        yield Silence()
        return
    kind = Line if is_terminal else LogLine
    line, done = kind(text, sys.stderr, follow=follow), threading.Event()

    def draw() -> None:
        wait, frame = SECONDS_BEFORE_LINE if is_terminal else SECONDS_BETWEEN_LINES, 0
        while not done.wait(wait):
            line.draw(frame)
            wait = SECONDS_BETWEEN_FRAMES if is_terminal else SECONDS_BETWEEN_LINES
            frame += 1

    thread = threading.Thread(target=draw, daemon=True)
    thread.start()
    before, _shown = _shown, line
    try:
        with heard_by(line.hear):
            yield line
    finally:
        _shown = before
        done.set()
        thread.join()
        line.clear()


def clear_line() -> None:
    """Remove the line that is shown, if any."""
    if _shown is not None:
        _shown.clear()


@contextmanager
def without_line() -> Iterator[None]:
    """Remove the line that is shown, if any, while something else is written."""
    with _shown.paused() if _shown is not None else nullcontext():
        yield


def about(seconds: float) -> str:
    """Return a time as a person would say it."""
    if seconds < 10:
        return "a few seconds"
    if seconds < 2 * MINUTE:
        return f"about {round(seconds / 10) * 10} s"
    if seconds < 2 * HOUR:
        return f"about {round(seconds / MINUTE)} min"
    return f"about {round(seconds / HOUR)} h"


def _first_word(text: str) -> str:
    return text.partition(" ")[0].rstrip(",:")


def _clock_time(seconds: float) -> str:
    minutes, seconds = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{seconds:02}" if hours else f"{minutes}:{seconds:02}"
