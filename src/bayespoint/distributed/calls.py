"""Calls to the workers of a Dask cluster."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from distributed import Client, Future


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


def submit(client: Client, address: str, task, *arguments) -> Future:
    """Submit a task to a worker, or to another worker if that one is lost."""
    place = {"workers": [address], "allow_other_workers": True, "pure": False}
    return client.submit(task, *arguments, **place)


def slots(client: Client) -> list[str]:
    """Return the address of a worker for each thread of the cluster."""
    threads = client.nthreads()
    return [address for address in sorted(threads) for _ in range(threads[address])]


def here() -> str:
    """Return the address of the worker that runs this task."""
    from distributed import get_worker

    return get_worker().address
