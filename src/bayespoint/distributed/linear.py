"""Fit the linear classifier on a Dask cluster."""

from __future__ import annotations

import time
from functools import reduce
from typing import TYPE_CHECKING

import numpy as np

from ..classifiers._training_data import require_all_classes
from ..classifiers.linear import LinearBayesPointClassifier, check_parameters, learn_rows
from ..fitting.weights_fit import Table
from ..solvers.weights.column_sums import ColumnSums, Votes
from ..solvers.weights.model import LinearModel
from .cluster import ClusterRows
from .partitions import align_partitions, label_partitions

if TYPE_CHECKING:
    from distributed import Client, Future


def fit(
    model: LinearBayesPointClassifier, X, y, sample_weight=None, *, client: Client | None = None
) -> LinearBayesPointClassifier:
    """Fit a linear classifier to data on a Dask cluster, without gathering them.

    Parameters
    ----------
    model : LinearBayesPointClassifier
        Fitted in place. Afterwards everything works without Dask. Its `max_time` is looked at
        between sweeps.
    X : dask array, dask dataframe, or list of delayed partitions
        Training points. A partition is an array, a data frame or a CSR matrix.
    y : dask array, dask series, or list of delayed partitions
        Their classes, in the same number of partitions; or an array.
    sample_weight : like y, default=None
        How often each point counts.
    client : distributed.Client, default=None
        The cluster to use; by default the one connected to last.

    Returns
    -------
    LinearBayesPointClassifier
        The model.

    Notes
    -----
    The posterior is the same as after `model.fit` on all rows, within `tol`. It is a product of
    factors, one for each thread of the cluster. In a sweep, each worker refines its factor row
    by row, given the product of the other factors. Only factors travel: 8 d^2 bytes for d
    weights with a full covariance, 16 d if it is factorized. With more threads, independent
    weights need smaller steps and so more sweeps.

    If a worker is lost, Dask loads its partitions again. The sites of their rows are recovered
    from the posterior (two classes, full covariance), or learned again in a few sweeps. Dask
    must be able to load partitions again: read them from files or compute them, do not scatter
    them.

    Examples
    --------
    >>> from dask.distributed import Client  # doctest: +SKIP
    >>> client = Client()  # or the address of a cluster  # doctest: +SKIP
    >>> model = LinearBayesPointClassifier()
    >>> distributed.fit(model, X, y)  # X, y: dask arrays  # doctest: +SKIP
    >>> X.map_blocks(model.predict, drop_axis=1, dtype=int)  # doctest: +SKIP
    """
    began = time.perf_counter()
    check_parameters(model)
    client = _connected(client)
    labeled = label_partitions(client, model, align_partitions(X, y, sample_weight))
    return learn_rows(model, _ClusterTable(client, model, labeled), began)


class _ClusterTable:
    """Labeled training rows on a cluster; see `TrainingRows`."""

    def __init__(self, client: Client, model: LinearBayesPointClassifier, labeled: list[Future]):
        self.client, self.labeled = client, labeled
        self.n_features = model.n_features_in_
        labels, n_rows, weights = zip(*self._ask(_describe), strict=True)
        require_all_classes(np.concatenate(labels), model.classes_)
        self.n_rows, self.total_weight = sum(n_rows), sum(weights)

    def column_votes(self) -> Votes:
        """Return the most common value of each column."""
        return reduce(Votes.plus, self._ask(Table.column_votes))

    def column_sums(self, reference: np.ndarray) -> ColumnSums:
        """Return the sums of the differences of columns from a reference."""
        return reduce(ColumnSums.plus, self._ask(Table.column_sums, reference=reference))

    def with_sites(self, model: LinearModel, n: int) -> ClusterRows:
        """Return n of the rows with their sites. All rows can be requested only once."""
        if n < self.n_rows:
            return ClusterRows.on_one_worker(self.client, model, self.labeled, n / self.n_rows)
        rows = ClusterRows.on_all_workers(self.client, model, self.labeled)
        # The rows are in memory now; if they are lost, Dask loads the partitions again.
        self.labeled.clear()
        return rows

    def _ask(self, task, **options) -> list:
        """Run a task on each partition, and return its values."""
        return self.client.gather(self.client.map(task, self.labeled, pure=False, **options))


def _connected(client: Client | None) -> Client:
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


def _describe(table: Table) -> tuple[np.ndarray, int, float]:
    """Return the labels that occur, the number of rows, and their weight."""
    return np.unique(table.labels), table.n_rows, table.total_weight
