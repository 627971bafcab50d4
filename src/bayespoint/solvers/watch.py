"""Why a solver has to stop before it is done: Ctrl-C, the deadline, or a callback."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from typing import Any

import numpy as np

from .._runtime.interrupt import Interrupted, interrupts
from .solver import OnRound


class Watch:
    """Remember in `stop` why a solver has to stop; it is empty while the solver may continue.

    Ctrl-C ("interrupted") counts more than the deadline ("max_time"), and both count more
    than the callback ("callback").
    """

    def __init__(
        self,
        interrupted: Interrupted,
        deadline: float = np.inf,
        on_round: OnRound | None = None,
    ):
        self.stop = ""
        self._interrupted = interrupted
        self._deadline = deadline
        self._on_round = on_round

    @property
    def has_deadline(self) -> bool:
        """Whether time is limited."""
        return bool(np.isfinite(self._deadline))

    def seconds_left(self) -> float:
        """Return the time until the deadline; infinite if there is none."""
        return self._deadline - time.perf_counter()

    def is_over(self) -> bool:
        """Look for Ctrl-C and at the clock; return whether to stop."""
        if self._interrupted:
            self.stop = "interrupted"
        elif time.perf_counter() > self._deadline:
            self.stop = "max_time"
        return bool(self.stop)

    def report(self, info: dict[str, Any]) -> bool:
        """Pass the info to the callback; return whether to stop."""
        if self._on_round is not None and self._on_round({**info, "stop": self.stop}):
            self.stop = self.stop or "callback"
        return bool(self.stop)

    def end_round(self, info: dict[str, Any]) -> bool:
        """Look at the clock, then report, so that the last report says why it is the last."""
        self.is_over()
        return self.report(info)


@contextmanager
def watching(
    deadline: float, on_round: OnRound | None, interrupted: Interrupted | None = None
) -> Iterator[Watch]:
    """Provide a watch that sees Ctrl-C, through the caller's `interrupted` if there is one."""
    with interrupts() if interrupted is None else nullcontext(interrupted) as pressed:
        yield Watch(pressed, deadline, on_round)
