"""Calls to the workers of a Dask cluster."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from .._runtime.interrupt import end_if_pressed_twice
from .._runtime.share_done import advance

if TYPE_CHECKING:
    from distributed import Client, Future

# Look how many tasks are done after this many seconds, then after longer and longer pauses.
MIN_PAUSE, MAX_PAUSE = 0.002, 0.2


def connected(client: Client | None) -> Client:
    """Return a client of a cluster that has workers."""
    try:
        import distributed
    except ImportError as error:
        raise ImportError(
            "bayespoint.distributed needs Dask, which is not installed: "
            'pip install "bayespoint[distributed]".'
        ) from error
    if client is None:
        try:
            client = distributed.default_client()
        except ValueError:
            raise ValueError(
                "There is no connection to a Dask cluster. Create one first: "
                "client = dask.distributed.Client(address), or Client() for this machine."
            ) from None
    if client.asynchronous:
        raise ValueError("client should not be asynchronous, but is: Client(asynchronous=False).")
    if not client.nthreads():
        raise ValueError(
            "The Dask cluster has no workers. Add some, and client.wait_for_workers(1)."
        )
    return client


def memory_limits(client: Client) -> list[int]:
    """Return how many bytes each worker may use, for those that have a limit."""
    workers = client.scheduler_info(n_workers=-1)["workers"].values()
    return [worker["memory_limit"] for worker in workers if worker["memory_limit"]]


@contextmanager
def lost_scheduler_told(client: Client) -> Iterator[None]:
    """Say what to do if the scheduler is lost, instead of what became of some task."""
    try:
        yield
    except Exception as error:
        # The client may be connecting again already; tasks are also cancelled for other reasons.
        is_cancelled = isinstance(error, CancelledError) and "scheduler" in str(error)
        if getattr(client, "status", "running") == "running" and not is_cancelled:
            raise
        raise ConnectionError(
            "The scheduler of the cluster was lost during the fit, and what was learned with it. "
            "Start the cluster again, connect a new Client, and fit again."
        ) from error


def submit(client: Client, address: str, task, *arguments) -> Future:
    """Submit a task to a worker, or to another worker if that one is lost."""
    place = {"workers": [address], "allow_other_workers": True, "pure": False}
    return client.submit(task, *arguments, **place)


def await_all(
    futures: Sequence[Future], step: str, is_enough: Callable[[], bool] = lambda: False
) -> None:
    """Wait until tasks are done, and say which share of the step is done.

    Do not wait longer if one has failed, or if some are done and `is_enough` says so.
    """
    pause = MIN_PAUSE
    while (n_done := sum(future.done() for future in futures)) < len(futures):
        if any(future.status == "error" for future in futures):
            return
        if n_done and is_enough():
            return
        advance(n_done / len(futures), step)
        end_if_pressed_twice()
        time.sleep(pause)
        pause = min(2 * pause, MAX_PAUSE)


def gather(client: Client, futures: list[Future], step: str) -> list[Any]:
    """Return the values of tasks, and say which share of the step is done meanwhile."""
    await_all(futures, step)
    return client.gather(futures)


def slots(client: Client) -> list[str]:
    """Return the address of a worker for each thread of the cluster."""
    threads = client.nthreads()
    return [address for address in sorted(threads) for _ in range(threads[address])]


def here() -> str:
    """Return the address of the worker that runs this task."""
    from distributed import get_worker

    return get_worker().address
