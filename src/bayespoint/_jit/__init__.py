"""Compiled inner loops: arrays in, arrays out, nothing else."""

import atexit
import os
import shutil
import tempfile

import numba


def _nothing() -> None:
    """Stand for a loop that is compiled."""


def _find_cache() -> None:
    """Keep compiled loops for this process alone if numba may write to no folder.

    This happens with a package that others installed, and no home. A folder that is known before
    is not an option: whoever fills it first chooses what code runs.
    """
    try:
        numba.njit(cache=True)(_nothing)
    except RuntimeError:
        folder = tempfile.mkdtemp(prefix="bayespoint-")
        numba.config.CACHE_DIR = folder
        os.environ["NUMBA_CACHE_DIR"] = folder  # for processes that it starts
        atexit.register(shutil.rmtree, folder, ignore_errors=True)


_find_cache()
