"""A folder for compiled loops, also for users who may write to none."""

import atexit
import os
import shutil
import tempfile

import numba


def _nothing() -> None:
    """Stand for a loop that is compiled."""


def find_cache() -> None:
    """Keep compiled loops for this process alone if numba may write to no folder.

    This happens with a package that others installed, and no home. A folder that is known before
    is not an option: whoever fills it first chooses what code runs.
    """
    try:
        numba.njit(cache=True)(_nothing)
    except RuntimeError:
        owner, folder = os.getpid(), tempfile.mkdtemp(prefix="bayespoint-")
        numba.config.CACHE_DIR = folder  # type: ignore[attr-defined]
        os.environ["NUMBA_CACHE_DIR"] = folder  # for processes that it starts

        def remove() -> None:
            if os.getpid() == owner:  # a fork may end earlier
                shutil.rmtree(folder, ignore_errors=True)

        atexit.register(remove)
