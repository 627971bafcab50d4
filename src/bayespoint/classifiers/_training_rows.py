"""Rows of the training table: drop those of weight zero, and number results as the user does."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import sparse
from sklearn.utils import _safe_indexing
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_consistent_length, column_or_1d

from .._runtime.sample_weight import combined_weight
from ._labels import require_labels


class UsedRows(NamedTuple):
    """The rows that have a positive weight. Others are removed before anything sees them."""

    used: np.ndarray | None = None  # indices of rows with a positive weight; None for all rows
    weight: np.ndarray | None = None  # their sample weights; None if all are one
    n_removed: int = 0
    # Sample weights times class weights, for the likelihood alone. Parameters are chosen without
    # class weights: left-out points that have copies would choose to learn by heart.
    of_likelihood: np.ndarray | None = None

    def take(self, values):
        """Return the used rows of a table, or the used labels."""
        if self.used is None:
            return values
        if sparse.issparse(values):
            return values.tocsr()[self.used]
        return _safe_indexing(values, self.used)

    def numbers(self, rows: np.ndarray) -> np.ndarray:
        """Return the numbers that used rows have in the user's table."""
        return rows if self.used is None else self.used[rows]

    def take_square(self, matrix: np.ndarray) -> np.ndarray:
        """Return the used rows and columns of a precomputed kernel."""
        return matrix if self.used is None else matrix[np.ix_(self.used, self.used)]


def weigh_rows(X, y, sample_weight, class_weight) -> UsedRows:
    """Return the rows to use, from the weights of samples and classes."""
    require_labels(y)
    if y is None or (sample_weight is None and class_weight is None):
        return UsedRows()
    y = column_or_1d(y)
    check_consistent_length(X, y)
    check_classification_targets(y)
    weight = combined_weight(sample_weight, class_weight, X, y)
    used = np.flatnonzero(weight)
    n_removed = len(y) - len(used)
    of_samples, of_likelihood = (
        None if np.all(found[used] == 1) else found[used]
        for found in (combined_weight(sample_weight, None, X, y), weight)
    )
    return UsedRows(used if n_removed else None, of_samples, n_removed, of_likelihood)
