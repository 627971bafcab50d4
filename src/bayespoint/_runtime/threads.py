"""Limit BLAS and OpenMP to one thread, even if several fits run at once; start our own threads."""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from itertools import count
from typing import Any

from joblib.parallel import get_active_backend
from threadpoolctl import ThreadpoolController

# What sets the number of threads of OpenBLAS in threadpoolctl 3.8, whoever asks.
_DIRECTLY = "_real_set_num_threads"
_lock = threading.Lock()
_users = 0
_controller: ThreadpoolController | None = None
_limits: _Limits | None = None


class _Limits:
    """One thread for each library, until their numbers are restored.

    Since version 3.8, threadpoolctl lets only the first thread that ever asked limit OpenBLAS.
    Fits in other threads need the limit as much, and `one_blas_thread` sees that they do not
    restore it under each other. So it is set directly.
    """

    def __init__(self, controller: ThreadpoolController):
        libraries = [lib for lib in controller.lib_controllers if hasattr(lib, _DIRECTLY)]
        self._before = [(getattr(lib, _DIRECTLY), lib.num_threads) for lib in libraries]
        self._limits = controller.limit(limits=1)  # also OpenMP, which k-means uses
        for set_number, _ in self._before:
            set_number(1)

    def restore_original_limits(self) -> None:
        self._limits.restore_original_limits()
        for set_number, before in self._before:
            set_number(before)


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Limit BLAS and OpenMP to one thread until the last block with this limit has ended.

    The limit belongs to the process. If two overlapping blocks each restored the limit that
    they found, the second would leave the limit of the first in place forever. Finding the
    libraries takes milliseconds, too long for short updates, so it is done once.
    """
    global _users, _controller, _limits
    with _lock:
        _users += 1
        if _users == 1:
            if _limits is not None:  # of a fit in another thread, before a fork
                _limits.restore_original_limits()
            _controller = _controller or ThreadpoolController()
            _limits = _Limits(_controller)
    try:
        yield
    finally:
        with _lock:
            _users -= 1
            if _users == 0 and _limits is not None:
                _limits.restore_original_limits()
                _limits = None


def _forget_other_threads() -> None:
    """Begin anew after a fork: the child has none of the threads that fitted meanwhile."""
    global _lock, _users
    _lock, _users = threading.Lock(), 0


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_other_threads)


def count_remote_jobs(n_jobs: int | None) -> int:
    """Return how many jobs joblib is set to run outside this process, 0 for none."""
    backend, default = get_active_backend(prefer="threads")
    if getattr(backend, "supports_sharedmem", False):
        return 0
    return backend.effective_n_jobs(default if n_jobs is None else n_jobs)


def count_threads(n_jobs: int | None) -> int:
    """Return how many threads of this machine `n_jobs` means, even if a cluster is active."""
    backend, default = get_active_backend(require="sharedmem")
    return backend.effective_n_jobs(default if n_jobs is None else n_jobs)


@contextmanager
def threads(n_jobs: int | None) -> Iterator[Callable]:
    """Provide a `map` that works in `n_jobs` threads, counted as joblib counts them.

    joblib's own threads check for results every 10 ms, too slow for calls of a few
    milliseconds.
    """
    n_threads = count_threads(n_jobs)
    if n_threads == 1:
        yield map
        return
    with ThreadPoolExecutor(n_threads) as pool:
        yield ThreadMap(pool, n_threads)


class ThreadMap:
    """A `map` that works in threads."""

    def __init__(self, pool: ThreadPoolExecutor, n_threads: int):
        self._pool, self._n_threads = pool, n_threads

    def __call__(self, function: Callable, items: Iterable) -> Iterator:
        """Yield results in order; `pool.map` would do all the work before the first is wanted."""
        waiting: deque[Future] = deque()
        try:
            for item in items:
                waiting.append(self._pool.submit(function, item))
                if len(waiting) > 2 * self._n_threads:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:  # after an error or Ctrl-C, do not begin what nobody wants any more
            for future in waiting:
                future.cancel()

    def run(self, function: Callable, items: Sequence) -> list:
        """Return all results; this thread works too, and each thread takes the next item."""
        results: list[Any] = [None] * len(items)
        errors: list[tuple[int, BaseException]] = []
        places, finished = count(), count()  # in CPython no two threads get the same number
        at_end = threading.Semaphore(0)

        def work() -> None:
            for place in places:
                if place >= len(items):
                    return
                try:
                    if not errors:
                        results[place] = function(items[place])
                except BaseException as error:
                    errors.append((place, error))
                if next(finished) == len(items) - 1:
                    at_end.release()

        for _ in range(min(self._n_threads, len(items)) - 1):
            self._pool.submit(work)
        try:
            work()
            if items:  # a thread that wakes up too late finds nothing to do: do not wait for it
                at_end.acquire()
        except BaseException as error:  # Ctrl-C between two items: the other threads end, too
            errors.append((len(items), error))
            raise
        if errors:
            raise min(errors, key=lambda found: found[0])[1]
        return results


def run_all(thread_map: Callable, function: Callable, items: Sequence) -> list:
    """Return the results of all items.

    For pieces of work below a millisecond: `thread_map` itself hands them over one by one.
    """
    if isinstance(thread_map, ThreadMap):
        return thread_map.run(function, items)
    return list(thread_map(function, items))
