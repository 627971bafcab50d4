"""One thread for matrix algebra, however many fits run at once."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from threadpoolctl import threadpool_limits

_lock = threading.Lock()
_users = 0
_limits: threadpool_limits | None = None


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Limit BLAS to one thread until the last of all users has left.

    The limit belongs to the process: if each of two overlapping users restored what it
    found, the second one would restore the limit of the first, for good.
    """
    global _users, _limits
    with _lock:
        _users += 1
        if _users == 1:
            _limits = threadpool_limits(limits=1, user_api="blas")
    try:
        yield
    finally:
        with _lock:
            _users -= 1
            if _users == 0 and _limits is not None:
                _limits.restore_original_limits()
                _limits = None
