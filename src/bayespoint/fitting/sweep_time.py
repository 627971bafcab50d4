"""How long sweeps over many rows would take, measured with a few of them."""

from __future__ import annotations

import time

from ..solvers.watch import Watch


class SweepTimer:
    """Ask a watch on behalf of rows, and measure how long their sweeps take.

    The time before the first question is not counted: it loads compiled code.
    """

    def __init__(self, watch: Watch):
        self._watch = watch
        self._began: float | None = None

    def is_over(self) -> bool:
        """Look for Ctrl-C and at the clock; return whether to stop."""
        if self._began is None:
            self._began = time.perf_counter()
        return self._watch.is_over()

    def has_time(self, n_sweeps: int, ratio: float) -> bool:
        """Tell whether there is time for so many sweeps over `ratio` times as many rows.

        The sweeps measured are the same number: the first one is not timed, but the evidence is,
        which takes as long as a sweep. The larger fit computes its evidence, too.
        """
        if self._watch.is_over():
            return False
        began = time.perf_counter() if self._began is None else self._began
        each = (time.perf_counter() - began) / n_sweeps
        return each * (n_sweeps + 1) * ratio < self._watch.seconds_left()
