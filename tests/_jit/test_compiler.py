"""Processes that fill one cache of compiled loops at the same time, and in the worst order."""

import os
import subprocess
import sys

import pytest

LOOP = """
from {package} import njit

@njit(cache=True)
def total(values):
    result = 0.0
    for i in range(len(values)):
        result += values[i]
    return result
"""
BEGIN = """
import os, sys
import numpy as np
import loops
from numba.core import caching

dense, spread = np.arange(10.0), np.arange(10.0)[::2]  # two signatures
"""
DENSE, SPREAD = (f"{BEGIN}print(loops.total({kind}))" for kind in ("dense", "spread"))
# A process that is stopped, or overtaken by another one, after the first of two files.
HALF = (
    BEGIN
    + """
def and_end(write):
    def write_and_end(*arguments):
        write(*arguments)
        os._exit(0)
    return write_and_end

for name in ("_save_index", "_save_data"):
    cache = loops.total._cache._cache_file
    setattr(cache, name, and_end(getattr(cache, name)))
loops.total(spread)
"""
)
# Both have looked which names are taken before one of them writes: here it still sees none.
TOO_LATE = (
    BEGIN
    + """
caching.IndexDataCacheFile._load_index = lambda self: {}
loops.total(dense)
"""
)


@pytest.fixture
def run(tmp_path):
    """Return a function that runs code with a module of loops and a cache of their own."""
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    environment["PYTHONPATH"] = str(tmp_path)

    def run(package, code, version=1):
        text = LOOP.format(package=package) + f"# version {version}\n"
        file = tmp_path / "loops.py"
        if not file.exists() or file.read_text("utf-8") != text:  # old versions of numba see times
            file.write_text(text, encoding="utf-8")
        command = [sys.executable, "-B", "-c", code]  # with -B no module of an old version
        result = subprocess.run(
            command, env=environment, capture_output=True, text=True, check=True, timeout=200
        )
        return result.stdout.split()

    return run


OURS = "bayespoint._jit.compiler"
# What numba alone does shows that these tests can fail, and for how long they are needed.
PACKAGES = [(OURS, "20.0"), pytest.param("numba", "10.0", marks=pytest.mark.slow)]


@pytest.mark.parametrize(("package", "answer"), PACKAGES)
def test_code_of_an_old_version_is_not_that_of_another_signature(run, package, answer):
    assert run(package, DENSE) == ["45.0"]
    run(package, HALF, version=2)
    assert run(package, SPREAD, version=2) == [answer]


@pytest.mark.parametrize(("package", "answer"), PACKAGES)
def test_two_processes_do_not_take_the_same_name(run, tmp_path, package, answer):
    assert run(package, SPREAD) == ["20.0"]
    indices = {path: path.read_bytes() for path in (tmp_path / "cache").rglob("*.nbi")}
    run(package, TOO_LATE)
    for path, content in indices.items():  # the other process writes its index last
        path.write_bytes(content)
    assert run(package, SPREAD) == [answer]


def test_loops_are_compiled_once(run):
    run(OURS, DENSE)
    hits = "print(sum(loops.total.stats.cache_hits.values()))"
    assert run(OURS, f"{BEGIN}loops.total(dense)\n{hits}") == ["1"]
    assert run(OURS, f"{BEGIN}loops.total(spread)\n{hits}") == ["0"]
    assert run(OURS, f"{BEGIN}loops.total(spread)\nloops.total(dense)\n{hits}") == ["2"]


def test_plain_python_without_a_compiler(run):
    assert run(OURS, f"import os\nos.environ['NUMBA_DISABLE_JIT'] = '1'\n{SPREAD}") == ["20.0"]
