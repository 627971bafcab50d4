"""Points as arrays: valid sparse matrices, double precision, squared lengths."""

from __future__ import annotations

import numpy as np
from scipy import sparse
from sklearn.utils.extmath import row_norms


def canonical(X):
    """Check the indices of a CSR matrix and add up its duplicate entries.

    SciPy does not check the indices, and with wrong indices compiled loops would write
    outside their arrays.
    """
    if not sparse.issparse(X):
        return X
    columns = X.indices[: X.indptr[-1]]
    # One pass for both limits: as an unsigned integer, a negative index is large.
    inside = np.max(columns.view(f"u{columns.itemsize}"), initial=0) < max(X.shape[1], 1)
    if not inside or np.any(X.indptr[1:] < X.indptr[:-1]):
        raise ValueError(
            f"X is not a valid sparse matrix: its columns should be 0 to {X.shape[1] - 1}, and its "
            f"rows in order, but it has columns {columns.min()} to {columns.max()}, and rows that "
            f"begin at entries {X.indptr[:3]} ... {X.indptr[-2:]}."
        )
    if not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    return X


def in_double(X):
    """Return points in double precision, copied only if necessary."""
    return X if X.dtype == np.float64 else X.astype(np.float64)


def stack_points(points, more):
    """Return points with more rows, sparse if the first are."""
    if sparse.issparse(points):
        return sparse.vstack([points, sparse.csr_array(more)], format="csr")
    more = more.toarray() if sparse.issparse(more) else more
    return np.concatenate([points, more])


def squared_norms(X, origin) -> np.ndarray:
    """Return |x - origin|^2 for every row."""
    if not np.any(origin):
        return row_norms(X, squared=True).astype(np.float64)
    if not sparse.issparse(X):
        return row_norms(X - origin, squared=True)
    return np.maximum(row_norms(X, squared=True) - 2 * (X @ origin) + origin @ origin, 0.0)
