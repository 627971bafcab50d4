"""Workers for `train`: processes of this machine, or a Dask cluster that is running."""

from __future__ import annotations

import importlib.metadata
import logging
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import typer

from .. import __version__
from ..distributed.calls import connected
from .limits import size_text
from .source import Plan
from .terminal import listed, note

if TYPE_CHECKING:
    from distributed import Client

# Wait this many seconds for an answer of a scheduler, and for workers to begin.
CONNECT_SECONDS = 10
START_SECONDS = 120
# A worker needs at least this much memory: the program and its libraries take half of it.
MIN_WORKER_BYTES = 512 * 2**20
# Ctrl-C is for the command, which decides what workers still have to do.
IGNORE_CTRL_C = "import signal; signal.signal(signal.SIGINT, signal.SIG_IGN)"
# Other versions of these on workers can make messages unreadable, or change the answer.
COMPARED_PACKAGES = ("python", "dask", "distributed", "numpy")


class ClusterChoice(NamedTuple):
    """Which workers the user wants."""

    n_workers: int | None = None
    scheduler: str | None = None


def check_cluster(choice: ClusterChoice, plan: Plan) -> Plan:
    """Refuse limits that cannot be kept; return the plan with the memory of this process."""
    if plan.max_memory is None:
        return plan
    if choice.n_workers is None:
        raise typer.BadParameter(
            "--max-memory cannot limit workers of another cluster. Start them with a limit: dask "
            "worker --memory-limit."
        )
    return replace(plan, max_memory=memory_for_each(choice.n_workers, plan.max_memory))


@contextmanager
def workers(choice: ClusterChoice, plan: Plan) -> Iterator[Client]:
    """Provide a client of workers, which are ended afterwards if they were started here."""
    _require_dask()
    with _started(choice.n_workers, plan) if choice.n_workers else _joined(choice) as client:
        try:
            yield connected(client)
        except _worker_losses() as error:
            raise ValueError(
                "Workers were lost again and again, probably because they had too little memory: "
                f"{' '.join(str(error).split())} Allow more with --max-memory, or start fewer "
                "workers."
            ) from None


def _require_dask() -> None:
    try:
        import distributed  # noqa: F401
    except ImportError as error:
        raise ImportError(
            "--workers and --scheduler need Dask, which is not installed: "
            'pip install "bayespoint[distributed]".'
        ) from error


def _worker_losses() -> type[Exception]:
    from distributed import KilledWorker

    return KilledWorker


@contextmanager
def _started(n_workers: int, plan: Plan) -> Iterator[Client]:
    """Start processes with one thread each."""
    from distributed import Client, LocalCluster

    limit = memory_for_each(n_workers, plan.max_memory)
    with (
        LocalCluster(
            n_workers=n_workers,
            threads_per_worker=1,
            processes=True,
            memory_limit=limit,
            dashboard_address=":0",
            silence_logs=logging.CRITICAL,
            preload=[IGNORE_CTRL_C],
        ) as cluster,
        Client(cluster, set_as_default=False) as client,
    ):
        client.wait_for_workers(n_workers, timeout=START_SECONDS)
        what = "worker" if n_workers == 1 else "workers"
        note(f"{n_workers} {what} started, with at most {size_text(limit)} of memory each")
        yield client


def memory_for_each(n_workers: int, max_memory: int | None) -> int:
    """Return an equal share of the memory for each worker; this process gets one, too."""
    import psutil
    from distributed.system import MEMORY_LIMIT

    total = max_memory or min(MEMORY_LIMIT, psutil.virtual_memory().available)
    each = int(total / (n_workers + 1))
    if each < MIN_WORKER_BYTES:
        allowed = "--max-memory is" if max_memory else "free are"
        raise ValueError(
            f"{n_workers} workers and this process need at least {size_text(MIN_WORKER_BYTES)} of "
            f"memory each, but {allowed} {size_text(total)}. Start fewer workers, or allow more."
        )
    return each


@contextmanager
def _joined(choice: ClusterChoice) -> Iterator[Client]:
    """Connect to a cluster that is running."""
    from distributed import Client

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # versions are compared below
            client = Client(choice.scheduler, timeout=CONNECT_SECONDS, set_as_default=False)
    except (OSError, ValueError, TypeError) as error:
        raise ValueError(
            f"There is no Dask scheduler at {choice.scheduler!r}: "
            f"{' '.join(str(error).split())}. Give its address, such as tcp://10.0.0.1:8786, or "
            "start workers here with --workers."
        ) from None
    with client:
        connected(client)
        _compare_versions(client)
        n_workers = len(client.nthreads())
        note(f"connected to {n_workers} {'worker' if n_workers == 1 else 'workers'}")
        yield client


def _compare_versions(client: Client) -> None:
    """Raise an error if workers have another bayespoint; note other differences."""
    try:
        found = set(client.run(importlib.metadata.version, "bayespoint").values())
    except importlib.metadata.PackageNotFoundError:
        raise ValueError(
            'Workers do not have bayespoint: pip install "bayespoint[distributed,files]" there.'
        ) from None
    here = importlib.metadata.version("bayespoint")
    if found != {here}:
        raise ValueError(
            f"Workers should have bayespoint {__version__}, as here, but some have "
            f"{listed(sorted(found - {here}))}. Install the same version everywhere."
        )
    versions: Any = client.get_versions()
    ours = versions["client"]["packages"]
    for name in COMPARED_PACKAGES:
        theirs = {worker["packages"].get(name) for worker in versions["workers"].values()}
        if theirs != {ours.get(name)}:
            note(
                f"workers have {name} {listed(sorted(map(str, theirs)))}, and this process has "
                f"{ours.get(name)}; if that fails, install the same versions"
            )
