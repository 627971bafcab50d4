"""How much memory this process has."""

from __future__ import annotations

import os
import sys
from pathlib import Path

STATM = Path("/proc/self/statm")
# An estimate for systems that do not say it: the interpreter and the libraries.
ASSUMED_RESIDENT_BYTES = 300 * 2**20


def resident_bytes() -> int:
    """Return the bytes of memory that this process has now, with all libraries.

    On systems other than Linux it is the most that it ever had, or an estimate.
    """
    try:
        return int(STATM.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, AttributeError):
        return peak_bytes() or ASSUMED_RESIDENT_BYTES


def peak_bytes() -> int:
    """Return the most memory that this process ever had; zero if the system does not say it."""
    try:
        import resource
    except ImportError:  # Windows
        return 0
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024
