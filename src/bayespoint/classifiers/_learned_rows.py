"""The rows that a kernel machine has learned: what it needs to learn more and to forget some."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils import _safe_indexing

from .._runtime.sample_weight import check_sample_weight
from ._training_rows import UsedRows, weigh_rows

# A machine keeps at most this many rows to learn more: beyond, "auto" is another solver.
MAX_LEARNED_ROWS = 10_000


@dataclass(frozen=True, eq=False)
class LearnedRows:
    """All rows that were given, in their order.

    Attributes
    ----------
    y : ndarray of shape (n_given,)
        Their labels.
    weight : ndarray of shape (n_given,) or None
        Their sample weights; None if nobody gave any.
    used : ndarray or None
        The rows with a positive weight; None for all.
    points : {ndarray, CSR matrix} of shape (n_used, n_features)
        These rows, as `columns_` maps them.
    """

    y: np.ndarray
    weight: np.ndarray | None
    used: np.ndarray | None
    points: Any

    @property
    def n_given(self) -> int:
        """Return the number of rows that were given."""
        return len(self.y)

    @property
    def used_rows(self) -> np.ndarray:
        """Return the numbers of the rows that have points."""
        return np.arange(self.n_given) if self.used is None else self.used

    def weigh(self, class_weight) -> UsedRows:
        """Return which rows are used, with which weights."""
        if self.weight is None and class_weight is None:
            return UsedRows()
        return weigh_rows(np.empty((self.n_given, 0)), self.y, self.weight, class_weight)

    def with_labels(self, y: np.ndarray, sample_weight) -> LearnedRows:
        """Return the rows with more labels, whose points are still missing."""
        weight = self.weight
        if sample_weight is not None or weight is not None:
            more = check_sample_weight(sample_weight, y, allow_all_zero=True)
            before = np.ones(self.n_given) if weight is None else weight
            weight = np.concatenate([before, more])
        return replace(self, y=np.concatenate([self.y, y]), weight=weight)

    def without(self, rows: np.ndarray) -> tuple[LearnedRows, np.ndarray]:
        """Return the other rows, and which of the points are removed."""
        kept = np.delete(np.arange(self.n_given), rows)
        stays = np.isin(self.used_rows, kept)
        used = None if self.used is None else np.searchsorted(kept, self.used[stays])
        weight = None if self.weight is None else self.weight[kept]
        points = self.points[np.flatnonzero(stays)]
        return LearnedRows(self.y[kept], weight, used, points), np.flatnonzero(~stays)


def copy_table(X):
    """Return a copy of a user's table, which the user cannot change any more."""
    return X.copy() if hasattr(X, "copy") else np.array(X)


def take_rows(X, rows: np.ndarray):
    """Return some rows of a table of any kind."""
    return X.tocsr()[rows] if sparse.issparse(X) else _safe_indexing(X, rows)


def stack_tables(tables: list):
    """Return one table; all of them have the kind of the first."""
    first = tables[0]
    if len(tables) == 1:
        return first
    if hasattr(first, "iloc"):
        return _stack_frames(tables)
    if sparse.issparse(first):
        return sparse.vstack([sparse.csr_array(table) for table in tables], format="csr")
    dense = [table.toarray() if sparse.issparse(table) else np.asarray(table) for table in tables]
    return np.concatenate(dense)


def _stack_frames(tables: list):
    """Return one data frame; categoricals keep the categories of all parts."""
    import pandas as pd

    names = tables[0].columns
    frames = [t if hasattr(t, "iloc") else pd.DataFrame(t, columns=names) for t in tables]
    whole = pd.concat([frame.set_axis(names, axis=1) for frame in frames], ignore_index=True)
    for j, name in enumerate(names):
        parts = [frame.iloc[:, j] for frame in frames]
        lost = not isinstance(whole.dtypes.iloc[j], pd.CategoricalDtype)
        if lost and all(isinstance(part.dtype, pd.CategoricalDtype) for part in parts):
            ordered = parts[0].dtype.ordered
            joined = pd.api.types.union_categoricals(parts, ignore_order=True)
            whole[name] = pd.Series(joined.set_ordered(ordered) if ordered else joined)
    return whole
