import os
import subprocess
import sys

import numba
import pytest

from bayespoint._jit.cache_folder import find_cache


@pytest.mark.skipif(sys.platform == "win32", reason="uses POSIX folders")
def test_loops_are_compiled_without_a_folder_to_keep_them(tmp_path):
    """An ordinary user without a home, who may not write where the package is."""
    code = (
        "import os, tempfile, numba\n"
        "works = numba.njit\n"
        "def fails(**options):\n"  # as numba does if it finds no folder
        "    numba.njit = works\n"
        "    raise RuntimeError('cannot cache function')\n"
        "numba.njit = fails\n"
        "from bayespoint._jit import columns\n"
        "folder = numba.config.CACHE_DIR\n"
        "assert os.path.dirname(folder) == tempfile.gettempdir()\n"
        "assert os.stat(folder).st_mode & 0o077 == 0\n"
        "print(folder)"
    )
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    environment.pop("NUMBA_CACHE_DIR", None)
    result = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
    )
    assert result.stdout.startswith(str(tmp_path))
    assert os.listdir(tmp_path) == []


def test_a_folder_that_can_be_written_is_kept():
    before = numba.config.CACHE_DIR
    find_cache()
    assert before == numba.config.CACHE_DIR
