"""Points of training rows: dense or CSR, measured from a center."""

from __future__ import annotations

import numpy as np
from scipy import sparse


class CenteredRows:
    """Dense rows and a center, which is subtracted from a few rows at a time.

    A copy of all rows would take as much memory as they do.
    """

    def __init__(self, X: np.ndarray, center: np.ndarray):
        self.X, self.center = X, center

    @property
    def shape(self) -> tuple[int, ...]:
        """Number of rows and columns."""
        return self.X.shape

    def __getitem__(self, rows) -> CenteredRows:
        return CenteredRows(self.X[rows], self.center)

    def toarray(self) -> np.ndarray:
        """Return the differences from the center."""
        return self.X - self.center


def entries(X) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the arrays of a CSR matrix for compiled loops, with unsigned indices.

    A signed index may be negative and count from the end, so loops would have to test it.
    """
    indices, indptr = (a.view(f"u{a.itemsize}") for a in (X.indices, X.indptr))
    return X.data, indices, indptr


def places_in_columns(X, chosen: np.ndarray) -> np.ndarray:
    """Return the places in a CSR matrix of the entries whose columns are chosen, by a mask."""
    from ..._jit.columns import find_entries

    places = np.empty(X.nnz, dtype=np.int64)
    return places[: find_entries(entries(X)[1][: X.nnz], chosen, places)]


def centered(X, center: np.ndarray):
    """Return rows minus a center: a CSR matrix if they are sparse, otherwise `CenteredRows`.

    In a CSR matrix, a column with a center other than zero gets an entry in every row that differs
    from it. The center is zero unless most rows have an entry there, or share another value, so
    the matrix has at most about twice as many entries as before, and often fewer.
    """
    columns = np.flatnonzero(center)
    if not len(columns):
        return X
    if not sparse.issparse(X):
        return CenteredRows(X, center)
    from ..._jit.columns import subtract

    size = X.nnz + X.shape[0] * len(columns)
    kind = X.indices.dtype if size <= _max_index(X.indices.dtype) else np.dtype(np.int64)
    new = np.empty(size), np.empty(size, dtype=kind), np.zeros(X.shape[0] + 1, dtype=kind)
    n = subtract(*entries(X), columns.astype(np.uint64), center, *new)
    return sparse.csr_array((new[0][:n], new[1][:n], new[2]), shape=X.shape)


def _max_index(kind: np.dtype) -> int:
    return np.iinfo(kind).max


def dense(X) -> np.ndarray:
    """Return rows of any kind as an array."""
    return X if isinstance(X, np.ndarray) else X.toarray()


def dense_or_sparse(X):
    """Return rows that can be multiplied: an array or a CSR matrix."""
    return X.toarray() if isinstance(X, CenteredRows) else X


def count_nonzero(X) -> int:
    """Return the number of entries of rows of any kind that are not zero."""
    if isinstance(X, CenteredRows):
        return int(np.count_nonzero(X.center != X.X))
    return int(np.count_nonzero(X.data if sparse.issparse(X) else X))


def squared(X):
    """Return the squares of all entries, of rows that can be multiplied."""
    return X.power(2) if sparse.issparse(X) else X**2
