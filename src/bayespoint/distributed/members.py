"""Perceptrons on a cluster: all rows on every worker, and a part of the members on each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from .calls import memory_limits
from .partitions import align_partitions

if TYPE_CHECKING:
    from distributed import Client

# Workers hold the rows, and copies of them in single precision for matrix products.
COPIES_OF_ROWS = 3
# Send data again if workers that held them were lost, at most this many times.
MAX_LOSSES = 10


def fit_members(model, client: Client, X, y, sample_weight):
    """Fit perceptrons to rows that are brought together, and let members learn on workers."""
    partitions = align_partitions(X, y, sample_weight)
    parts = [client.compute([_delayed(p[i]) for p in partitions]) for i in range(2)]
    _require_memory(client, parts[0])
    table, labels = (_stack(client.gather(some)) for some in parts)
    weight = None
    if sample_weight is not None:
        weight = _stack(client.gather(client.compute([_delayed(p[2]) for p in partitions])))
    return model._fit(table, labels, weight, elsewhere=ClusterMembers(client))


def _delayed(part) -> Any:
    from dask import delayed

    return part if hasattr(part, "dask") else delayed(part)


def _require_memory(client: Client, parts: list[Any]) -> None:
    """Raise an error if all rows together do not fit on the smallest worker."""
    from dask.sizeof import sizeof

    n_bytes = sum(client.gather([client.submit(sizeof, part, pure=False) for part in parts]))
    limits = memory_limits(client)
    if limits and COPIES_OF_ROWS * n_bytes > min(limits):
        raise ValueError(
            f"Perceptrons need all rows on every worker, about {COPIES_OF_ROWS * n_bytes >> 20} "
            f"MB, but the smallest worker may use {min(limits) >> 20} MB. Pass "
            'solver="nystroem" or "cells", which divide the rows, or use larger workers.'
        )


def _stack(parts: list[Any]) -> Any:
    """Return partitions one below another."""
    filled = [part for part in parts if part.shape[0]] or parts[:1]
    if sparse.issparse(filled[0]):
        return sparse.vstack(filled, "csr")
    if hasattr(filled[0], "iloc"):
        import pandas as pd

        return pd.concat(filled, ignore_index=True)
    return np.concatenate(filled)


class ClusterMembers:
    """Lets parts of the members learn on the workers of a cluster."""

    def __init__(self, client: Client):
        self.client = client
        self.n_jobs = sum(client.nthreads().values())

    def run(self, learn, solver, kernel, n_rows: int, parts: list[Any], seconds: float) -> list:
        """Return what `learn` returns for each part.

        Members depend only on their own permutation. If a worker is lost, its members begin
        anew, and end with the same hypotheses.
        """
        results: dict[int, Any] = {}
        for n_losses in range(MAX_LOSSES + 1):
            waiting = [i for i in range(len(parts)) if i not in results]
            try:
                rows = self.client.scatter(kernel, broadcast=True, hash=False)
                sent = self.client.scatter([parts[i] for i in waiting], hash=False)
            except OSError:  # a worker was lost meanwhile
                if n_losses == MAX_LOSSES:
                    raise
                self.client.wait_for_workers(1)
                continue
            given = solver, rows, n_rows
            futures = [
                self.client.submit(learn, *given, part, seconds, pure=False) for part in sent
            ]
            results.update(_learned(waiting, futures, may_lose=n_losses < MAX_LOSSES))
            if len(results) == len(parts):
                break
        return [results[i] for i in range(len(parts))]


def _learned(numbers: list[int], futures: list[Any], may_lose: bool) -> dict[int, Any]:
    """Return the results of parts whose data were not lost with a worker."""
    from distributed import CancelledError

    results = {}
    for number, future in zip(numbers, futures, strict=True):
        try:
            results[number] = future.result()
        except CancelledError:
            if not may_lose:
                raise
    return results
