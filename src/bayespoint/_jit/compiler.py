"""numba's njit, with a cache that processes may fill at the same time.

numba numbers the files of compiled code, and an index says which signature has which number. Two
processes that compile different signatures take the same number, and the index is written before
the code. So a signature may find the code of another one: a wrong answer, and no error. Here the
name of a file says what is in it: one signature of one version of a loop. There is no index.
"""

import hashlib

import numba
from numba.core.caching import IndexDataCacheFile

# Hexadecimal digits of a hash that tell files of a loop apart.
NAME_DIGITS = 16


def njit(**options):
    """Return a decorator that compiles a loop."""

    def decorate(function):
        loop = numba.njit(**options)(function)
        if loop is not function:  # NUMBA_DISABLE_JIT returns it as it is
            loop._cache._cache_file.__class__ = _CacheFile
        return loop

    return decorate


class _CacheFile(IndexDataCacheFile):
    """Compiled code of a loop, a file for each signature."""

    def save(self, key, data):
        """Write the code for a signature and a processor."""
        self._save_data(self._name(key), data)

    def load(self, key):
        """Return the code for a signature and a processor, or None."""
        try:
            return self._load_data(self._name(key))
        except FileNotFoundError:
            return None

    def _name(self, key) -> str:
        digest = hashlib.sha256(repr((self._version, self._source_stamp, key)).encode())
        return self._data_name(int(digest.hexdigest()[:NAME_DIGITS], 16))
