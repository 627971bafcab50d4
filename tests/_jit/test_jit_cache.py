"""Compiled loops where neither the package nor the user's folder can be written."""

import ctypes
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import bayespoint

# From linux/capability.h and linux/prctl.h.
CAPABILITY_VERSION, CAP_DAC_OVERRIDE, PR_CAPBSET_DROP = 0x20080522, 1, 24
LOOP = """
import os, sys, tempfile
import numpy as np
try:
    open(os.path.join(os.path.expanduser("~"), "file"), "w")
    sys.exit("the home is writable")
except OSError:
    pass
import bayespoint
from bayespoint._jit.columns import vote
assert bayespoint.__file__.startswith(sys.argv[1])
import numba
folder = numba.config.CACHE_DIR
assert os.path.dirname(folder) == tempfile.gettempdir() and os.path.isdir(folder)
if hasattr(os, "fork") and os.fork() == 0:
    sys.exit()  # must not remove what the parent still needs
if hasattr(os, "fork"):
    assert os.wait()[1] == 0 and os.path.isdir(folder)
print(folder)
"""


def as_an_ordinary_user():
    """Give up the right of root to write into any folder."""
    if os.geteuid():
        return
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl(PR_CAPBSET_DROP, CAP_DAC_OVERRIDE, 0, 0, 0)
    header, none = (ctypes.c_uint32 * 2)(CAPABILITY_VERSION, 0), (ctypes.c_uint32 * 6)()
    if libc.capset(header, none):
        raise OSError(ctypes.get_errno(), "capset")


@pytest.fixture
def read_only(tmp_path):
    """Return a folder with an installation and an empty home, which nobody may write to."""
    package = Path(bayespoint.__file__).parent
    ignore = shutil.ignore_patterns("__pycache__", "*.nb?")
    shutil.copytree(package, tmp_path / "site" / "bayespoint", ignore=ignore)
    (tmp_path / "home").mkdir()
    subprocess.run(["chmod", "-R", "a-w", tmp_path], check=True)
    yield tmp_path
    subprocess.run(["chmod", "-R", "u+w", tmp_path], check=True)


@pytest.mark.skipif(sys.platform != "linux", reason="needs chmod and capabilities")
def test_loops_are_compiled_without_a_place_for_their_cache(read_only):
    dropped = {"NUMBA_CACHE_DIR", "XDG_CACHE_HOME"}
    environment = {name: value for name, value in os.environ.items() if name not in dropped}
    environment |= {"HOME": str(read_only / "home"), "PYTHONPATH": str(read_only / "site")}
    run = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", LOOP, str(read_only)],
        env=environment | {"PYTHONDONTWRITEBYTECODE": "1"},
        preexec_fn=as_an_ordinary_user,
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    assert not os.path.exists(run.stdout.strip())  # removed at the end
