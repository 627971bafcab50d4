"""How much time and memory a command may take."""

from __future__ import annotations

import re
import time
from typing import NamedTuple

import numpy as np

from .._runtime.memory import free_bytes, resident_bytes

UNITS = {"": 1, "K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}
# A command needs at least this much memory beyond the program itself.
MIN_BYTES = 64 * 2**20
# If less memory is free, a command limits itself, to this share of what is free. The rest is for
# libraries that are loaded later, and for other processes.
PLENTY_BYTES, FREE_SHARE = 2**33, 0.7
# A fit that is begun gets at least this many seconds.
MIN_SECONDS = 0.1


class Limits(NamedTuple):
    """Limits of time and memory, from the start of a command."""

    max_time: float | None = None  # seconds
    max_memory: int | None = None  # bytes of this process, with program and libraries
    began: float = 0.0  # on the clock of time.perf_counter

    @property
    def seconds_left(self) -> float:
        """Seconds until the end; infinite without a limit."""
        if self.max_time is None:
            return np.inf
        return self.began + self.max_time - time.perf_counter()

    def seconds(self, share: float) -> float | None:
        """Return a share of the time that is left, None without a limit."""
        if self.max_time is None:
            return None
        return max(share * self.seconds_left, MIN_SECONDS)

    def is_past(self, share: float) -> bool:
        """Tell whether more than a share of the whole time has passed."""
        return self.max_time is not None and self.seconds_left < (1 - share) * self.max_time

    @property
    def bytes_left(self) -> float:
        """Bytes that may still be taken; infinite without a limit."""
        if self.max_memory is None:
            return np.inf
        return max(self.max_memory - resident_bytes(), 0.0)

    def require_memory(self) -> None:
        """Raise an error if the program itself takes nearly all that it may have."""
        if self.bytes_left < MIN_BYTES:
            least = resident_bytes() + 2 * MIN_BYTES
            raise ValueError(
                f"at most {size_text(self.max_memory or 0)} of memory may be taken, but the "
                f"program and its libraries take {size_text(resident_bytes())}. Allow at least "
                f"{size_text(least)} with --max-memory. If you did not set it, little is free: "
                "close other programs, or raise the limit of this one (ulimit -v)."
            )


def limit_by_free_memory() -> int | None:
    """Return how much memory a command may take that was given no limit; None if all it wants."""
    free = free_bytes()
    return None if free >= PLENTY_BYTES else int(resident_bytes() + FREE_SHARE * free)


def parse_size(text: str) -> int:
    """Return the bytes of a size such as 500M or 2G; units are powers of 1024."""
    found = re.fullmatch(r"\s*([0-9]+(?:\.[0-9]*)?)\s*([KMGT]?)(?:I?B)?\s*", text.upper())
    if not found or float(found[1]) == 0:
        raise ValueError(
            f"--max-memory should be a number with a unit, such as 500M or 2G, but is {text!r}."
        )
    return int(float(found[1]) * UNITS[found[2]])


def size_text(n_bytes: float) -> str:
    """Return a size for people."""
    return f"{n_bytes / 2**30:.3g}G" if n_bytes >= 2**30 else f"{n_bytes / 2**20:.0f}M"
