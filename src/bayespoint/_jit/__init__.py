"""Compiled inner loops: arrays in, arrays out, nothing else."""

import atexit
import os
import shutil
import tempfile

import numba


def _probe():
    """Stand for the loops of this folder: all of them are cached in the same place."""


def _find_cache() -> None:
    """Keep compiled loops in a temporary folder if no permanent one is writable.

    numba refuses to compile with `cache=True` where neither this folder nor the user's cache can
    be written: a read-only installation, used by a user without a home. The folder belongs to this
    process, because loading a cache runs the code in it.
    """
    try:
        numba.njit(cache=True)(_probe)
    except RuntimeError:
        owner, folder = os.getpid(), tempfile.mkdtemp(prefix="bayespoint-")
        numba.config.CACHE_DIR = folder  # type: ignore[attr-defined]

        def remove() -> None:
            if os.getpid() == owner:  # a fork may end earlier
                shutil.rmtree(folder, ignore_errors=True)

        atexit.register(remove)


_find_cache()
