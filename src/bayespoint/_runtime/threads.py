"""One thread for matrix algebra, however many fits run at once; and threads of our own."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

from joblib.parallel import get_active_backend
from threadpoolctl import ThreadpoolController

_lock = threading.Lock()
_users = 0
_controller: ThreadpoolController | None = None
_limits = None


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Limit BLAS to one thread until the last of all users has left.

    The limit belongs to the process: if each of two overlapping users restored what it
    found, the second one would restore the limit of the first, for good. To look for the
    libraries takes milliseconds, which short updates would notice: once is enough.
    """
    global _users, _controller, _limits
    with _lock:
        _users += 1
        if _users == 1:
            _controller = _controller or ThreadpoolController()
            _limits = _controller.limit(limits=1, user_api="blas")
    try:
        yield
    finally:
        with _lock:
            _users -= 1
            if _users == 0 and _limits is not None:
                _limits.restore_original_limits()
                _limits = None


def elsewhere(n_jobs: int | None) -> int:
    """Return how many jobs the user wants joblib to run outside of this process, 0 for none."""
    backend, default = get_active_backend(prefer="threads")
    if getattr(backend, "supports_sharedmem", False):
        return 0
    return backend.effective_n_jobs(default if n_jobs is None else n_jobs)


@contextmanager
def threads(n_jobs: int | None) -> Iterator[Callable]:
    """Give a `map` that works in so many threads, in joblib's way of counting them.

    joblib's own threads look every 10 ms whether they are done, too slow for calls of a
    few milliseconds.
    """
    # Threads of this machine, whatever cluster is active.
    backend, default = get_active_backend(require="sharedmem")
    n_threads = backend.effective_n_jobs(default if n_jobs is None else n_jobs)
    if n_threads == 1:
        yield map
        return
    with ThreadPoolExecutor(n_threads) as pool:

        def windowed_map(function, items):
            # `pool.map` would do all the work before anybody wants the results.
            waiting = deque()
            for item in items:
                waiting.append(pool.submit(function, item))
                if len(waiting) > 2 * n_threads:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()

        yield windowed_map
