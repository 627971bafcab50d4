"""Outputs <w, x> of rows under a belief, and the product of their sites for the weights."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy import linalg, sparse

from .belief import Belief
from .points import CenteredRows, dense_or_sparse, entries, squared

# Keep sparse rows sparse if at most one entry in this many is nonzero.
ENTRIES_PER_NONZERO = 4
# Size of a part of dense rows: this many numbers (128 kB, which stay in the cache), or this many
# rows per weight if that is more.
PART_NUMBERS = 16_000
PART_ROWS_PER_WEIGHT = 2


def outputs(X, belief: Belief) -> tuple[np.ndarray, np.ndarray]:
    """Return mean and variance of <w, x> for every row, with the intercept if there is one."""
    if belief.is_full:
        means, variances = np.empty(X.shape[0]), np.empty(X.shape[0])
        for here, _, mean, variance in outputs_in_parts(X, belief):
            means[here], variances[here] = mean, variance
        return means, variances
    X = dense_or_sparse(X)
    return _dot(X, belief.mean()), _dot(squared(X), belief.covariance())


def part_buffer(belief: Belief) -> np.ndarray:
    """Return memory for two copies of a part of dense rows."""
    d = len(belief.shift)
    return np.empty((2, max(PART_NUMBERS // d, PART_ROWS_PER_WEIGHT * d), d))


def outputs_in_parts(
    X, belief: Belief, buffer: np.ndarray | None = None
) -> Iterator[tuple[slice, Any, np.ndarray, np.ndarray]]:
    """Yield parts of rows, as `multiply_sites` needs them, with mean and variance of outputs.

    Dense parts are in the buffer. The next part overwrites them.
    """
    root = linalg.lapack.dtrtri(belief.cholesky(lower=True), lower=1)[0]
    half = root @ belief.shift
    if is_sparse_enough(X):
        from ..._jit.linear import output_variances

        variance, intercept = np.empty(X.shape[0]), len(half) > X.shape[1]
        output_variances(*entries(X), root.T @ root, intercept, variance)
        yield slice(None), X, _dot(X, root.T @ half), variance
        return
    rows, halves = part_buffer(belief) if buffer is None else buffer
    size = len(rows)
    for start in range(0, X.shape[0], size):
        here = slice(start, start + size)
        part = X[here]
        n = part.shape[0]
        _fill(rows[:n, : X.shape[1]], part)
        rows[:n, X.shape[1] :] = 1.0
        halves[:n] = rows[:n]
        parts = linalg.blas.dtrmm(1.0, root, halves[:n].T, lower=1, overwrite_b=1)
        yield here, rows[:n], half @ parts, np.einsum("ij,ij->j", parts, parts)


def multiply_sites(product: Belief, rows, precision: np.ndarray, shift: np.ndarray) -> None:
    """Multiply a product by the sites of rows from `outputs_in_parts`.

    The product changes in place, and so do dense rows.
    """
    total, shifts = product
    if sparse.issparse(rows):
        from ..._jit.linear import add_products

        intercept = len(shifts) > rows.shape[1]
        add_products(*entries(rows), precision, intercept, total)
        shifts += np.append(shift @ rows, [shift.sum()] * intercept)
        return
    shifts += shift @ rows
    rows *= np.sqrt(precision)[:, None]
    total += rows.T @ rows


def is_sparse_enough(X) -> bool:
    """Tell whether loops over the nonzero entries of rows are faster than matrix products."""
    return sparse.issparse(X) and ENTRIES_PER_NONZERO * X.nnz <= X.shape[0] * X.shape[1]


def _fill(out: np.ndarray, part) -> None:
    """Copy rows of any kind to an array."""
    if isinstance(part, CenteredRows):
        np.subtract(part.X, part.center, out=out)
    else:
        out[:] = part.toarray() if sparse.issparse(part) else part


def _dot(X, weights: np.ndarray) -> np.ndarray:
    """Return the outputs of weights, with the intercept if there is one."""
    return X @ weights[: X.shape[1]] + weights[X.shape[1] :].sum()
