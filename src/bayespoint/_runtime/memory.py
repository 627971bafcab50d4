"""How much memory this process has, and how much more it may take."""

from __future__ import annotations

import math
import os
import re
import sys
from pathlib import Path

STATM = Path("/proc/self/statm")
MEMINFO = Path("/proc/meminfo")
# The limit of a container, and what all its processes take now. Files that were read count as taken
# although their memory can be had at once.
CGROUP = Path("/sys/fs/cgroup")
# OpenBLAS takes a buffer of 32 MB for each thread. NumPy and SciPy bring one OpenBLAS each.
BLAS_BUFFER_BYTES, N_BLAS = 2**25, 2
# A product of such matrices is shared by all threads.
SHARED_SIZE = 512
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


def free_bytes() -> float:
    """Return the bytes that this process may still take; infinite if the system does not say it."""
    return max(min(_free_for_all(), _free_in_container(), _free_in_address_space()), 0.0)


def _free_for_all() -> float:
    """Return the memory that no process uses."""
    try:
        found = re.search(r"MemAvailable:\s*([0-9]+) kB", MEMINFO.read_text())
    except OSError:
        return math.inf
    return int(found[1]) * 1024.0 if found else math.inf


def _free_in_container() -> float:
    """Return what the limit of this process's container leaves."""
    try:
        limit = int((CGROUP / "memory.max").read_text())  # ValueError for "max"
        taken = int((CGROUP / "memory.current").read_text())
        files = re.search(r"^inactive_file ([0-9]+)", (CGROUP / "memory.stat").read_text(), re.M)
    except (OSError, ValueError):
        return math.inf
    return float(limit - taken + (int(files[1]) if files else 0))


def _free_in_address_space() -> float:
    """Return what `ulimit -v` leaves."""
    try:
        import resource

        limit = resource.getrlimit(resource.RLIMIT_AS)[0]
        taken = int(STATM.read_text().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    except (ImportError, OSError, ValueError, AttributeError):
        return math.inf
    return math.inf if limit == resource.RLIM_INFINITY else float(limit - taken)


def claim_library_memory() -> None:
    """Let libraries share a process that `ulimit -v` limits.

    Without memory for a buffer, OpenBLAS tries again for ever, and Python answers no Ctrl-C. So it
    gets its buffers now. Arrow would reserve a gigabyte at once, and LLVM, which compiles loops,
    would abort the process later.

    Raises
    ------
    MemoryError
        If there is not enough for the buffers.
    """
    if _free_in_address_space() == math.inf:
        return
    os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "system")
    import numpy as np
    from scipy import linalg

    if _free_in_address_space() < N_BLAS * ((os.cpu_count() or 1) + 1) * BLAS_BUFFER_BYTES:
        raise MemoryError
    matrix = np.eye(SHARED_SIZE)
    matrix @ matrix
    linalg.cholesky(matrix, check_finite=False)
