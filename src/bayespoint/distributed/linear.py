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


def fit_linear(
    model: LinearBayesPointClassifier, client: Client, X, y, sample_weight
) -> LinearBayesPointClassifier:
    """Fit a linear classifier to data on a cluster."""
    began = time.perf_counter()
    check_parameters(model)
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


def _describe(table: Table) -> tuple[np.ndarray, int, float]:
    """Return the labels that occur, the number of rows, and their weight."""
    return np.unique(table.labels), table.n_rows, table.total_weight
