import math
import os
import subprocess
import sys

import numpy as np
import pytest

from bayespoint._runtime import memory
from bayespoint._runtime.memory import (
    ASSUMED_RESIDENT_BYTES,
    free_bytes,
    peak_bytes,
    resident_bytes,
)


def test_memory_grows_with_what_is_taken():
    before = resident_bytes()
    taken = np.ones(2**24)  # 128 MB
    grown = resident_bytes() - before
    # Pages that were freed before may be used again, but not so many.
    assert 2**26 < grown < 2**28
    assert peak_bytes() >= taken.nbytes


def test_systems_that_do_not_say_it(monkeypatch, tmp_path):
    monkeypatch.setattr(memory, "STATM", tmp_path / "missing")
    assert resident_bytes() == peak_bytes()
    monkeypatch.setattr(memory, "peak_bytes", lambda: 0)
    assert resident_bytes() == ASSUMED_RESIDENT_BYTES


@pytest.fixture
def system(monkeypatch, tmp_path):
    """Return a function that sets what the system says; without it, nothing."""
    monkeypatch.setattr(memory, "MEMINFO", tmp_path / "meminfo")
    monkeypatch.setattr(memory, "CGROUP", tmp_path)
    monkeypatch.setattr(memory, "_free_in_address_space", lambda: math.inf)

    def say(name, text):
        (tmp_path / name).write_text(text)

    return say


def test_free_memory_is_the_smallest_that_is_known(system):
    assert free_bytes() == math.inf
    system("meminfo", "MemTotal:       24000 kB\nMemAvailable:   9000 kB\n")
    assert free_bytes() == 9000 * 1024
    system("memory.max", "max\n")
    system("memory.current", "700\n")
    system("memory.stat", "anon 500\ninactive_file 100\n")
    assert free_bytes() == 9000 * 1024
    system("memory.max", "1000\n")
    assert free_bytes() == 400
    system("memory.max", "100\n")
    assert free_bytes() == 0


@pytest.mark.skipif(sys.platform != "linux", reason="ulimit -v and /proc")
def test_a_limit_of_the_address_space_counts():
    code = (
        "import resource\n"
        "from bayespoint._runtime import memory\n"
        "memory._free_for_all = memory._free_in_container = lambda: float('inf')\n"
        "assert memory.free_bytes() == float('inf')\n"
        "resource.setrlimit(resource.RLIMIT_AS, (2**32, 2**32))\n"
        "assert 2**30 < memory.free_bytes() < 2**32\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.skipif(sys.platform != "linux", reason="ulimit -v and /proc")
def test_blas_has_its_memory_before_others_take_it():
    """Without it, the Cholesky factorization never ended."""
    code = (
        "import resource, numpy as np\n"
        "from scipy import linalg\n"
        "from bayespoint._runtime import memory\n"
        "def leave(free):\n"
        "    taken = int(memory.STATM.read_text().split()[0]) * resource.getpagesize()\n"
        "    resource.setrlimit(resource.RLIMIT_AS, (taken + free, -1))\n"
        "leave(2**24)\n"
        "try: memory.claim_library_memory()\n"
        "except MemoryError: pass\n"
        "else: raise AssertionError\n"
        "leave(2**30)\n"
        "memory.claim_library_memory()\n"
        "leave(2**24)\n"
        "linalg.cholesky(np.eye(200))\n"
        "np.linalg.cholesky(np.eye(200))\n"
    )
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}
    subprocess.run([sys.executable, "-c", code], check=True, timeout=120, env=environment)
