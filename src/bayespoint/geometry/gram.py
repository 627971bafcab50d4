"""The Gram matrix of the training points: scaled to unit length, softened and factored."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import linalg

from .._runtime.lapack import factor_upper

# Entries of a kernel matrix have an error of a few units in the last place. So a remainder
# below this share of a squared length is rounding, not geometry.
ROUNDING = 4 * np.finfo(float).eps
# Kernel matrices may come from single precision: entries that should be equal then differ
# by about 1e-7 of the lengths of their points. Symmetric entries may differ by this share.
MAX_ASYMMETRY = 1e-6
# They may also differ by this share of the largest entry. The kernel of a linear program may
# be zero on the diagonal, so that the lengths of points say nothing about rounding.
MAX_ASYMMETRY_OF_LARGEST = 1e-8
# In single precision, eigenvalues that should be zero are negative, down to minus this.
MAX_EIGENVALUE_NOISE = 1e-5
# Points per block of a matrix that is compared with its transpose: it stays in the cache.
_BLOCK_POINTS = 256


class Gram(NamedTuple):
    """Training points as unit vectors of feature space.

    `matrix` holds their inner products (unit diagonal, softness included). `factor` holds
    the coordinates of each point in an orthonormal basis of their span, so that
    matrix = factor @ factor.T. The basis is the Gram-Schmidt basis of the points
    `pivots`; `factor[pivots]` is lower triangular. With weights, a row is the mean of equal
    softened points, which is shorter than each of them.
    """

    matrix: np.ndarray
    factor: np.ndarray
    extent: np.ndarray  # the number of coordinates of each point before the zeros begin
    pivots: np.ndarray
    lengths: np.ndarray
    softness: float

    @property
    def rank(self) -> int:
        """Return the dimension of the span of the training points."""
        return self.factor.shape[1]

    def dual(self, vectors: np.ndarray) -> np.ndarray:
        """Return coefficients on the unit points for vectors given in coordinates."""
        vectors = np.asarray(vectors)
        coefficients = np.zeros((*vectors.shape[:-1], self.matrix.shape[0]))
        triangle = self.factor[self.pivots]
        coefficients[..., self.pivots] = linalg.solve_triangular(
            triangle, vectors.T, lower=True, trans="T"
        ).T
        return coefficients


def unit_gram(
    kernel_matrix: np.ndarray,
    softness: float,
    names: np.ndarray | None = None,
    weight: np.ndarray | None = None,
) -> Gram:
    """Scale a kernel matrix to unit diagonal, add softness, and factor it.

    Raises `IndefiniteKernelError` if the matrix is not a Gram matrix: if no points in any
    feature space have these inner products. Points at the origin of feature space keep zero
    inner products with all points. Error messages call points by their `names`.

    Notes
    -----
    The factor is a Cholesky decomposition with diagonal pivoting, O(m r^2) for rank r.
    """
    matrix, lengths = unit_matrix(kernel_matrix, names)
    soften(matrix, softness, weight, out=matrix)
    factor, pivots = _pivoted_cholesky(matrix, softness)
    extent = np.full(len(matrix), factor.shape[1])
    extent[pivots] = np.arange(1, factor.shape[1] + 1)
    return Gram(matrix, factor, extent, pivots, lengths * np.sqrt(1 + softness), softness)


def unit_matrix(
    kernel_matrix: np.ndarray,
    names: np.ndarray | None = None,
    overwrite: bool = False,
    is_symmetric: bool = False,
) -> tuple[np.ndarray, np.ndarray]:
    """Scale a kernel matrix to unit diagonal; return it with the lengths of the points.

    `overwrite` may save a matrix in C's order: fresh memory takes longer than the products. With
    `is_symmetric` it is known to be symmetric up to rounding, and nothing is averaged.
    """
    kernel_matrix = np.asarray(kernel_matrix, dtype=np.float64)
    if not np.isfinite(kernel_matrix).all():
        raise ValueError(
            "The kernel should give finite numbers for the training points, but some are NaN "
            "or infinite. Scale the features to moderate values, or lower gamma or degree."
        )
    names = np.arange(len(kernel_matrix)) if names is None else names
    check_squared_lengths(np.diagonal(kernel_matrix), names)
    lengths = np.sqrt(np.diagonal(kernel_matrix))
    at_origin = np.flatnonzero(lengths == 0)
    if at_origin.size and np.any(kernel_matrix[at_origin]):
        raise IndefiniteKernelError(
            f"The kernel puts training points {names[at_origin[:10]].tolist()} at the origin, "
            "k(x, x) = 0, but gives some k(x, x') that are not zero, which is impossible for "
            "inner products. Choose another kernel, or for sigmoid and poly a larger coef0."
        )
    scale = 1 / np.where(lengths > 0, lengths, 1.0)
    in_place = overwrite and kernel_matrix.flags.c_contiguous
    matrix = np.multiply(kernel_matrix, scale, out=kernel_matrix if in_place else None, order="C")
    matrix *= scale[:, None]
    np.fill_diagonal(matrix, (lengths > 0).astype(float))
    if not is_symmetric:
        _symmetrize(matrix, names)
    return matrix, lengths


def soften(
    unit: np.ndarray,
    softness: float,
    weight: np.ndarray | None = None,
    out: np.ndarray | None = None,
) -> np.ndarray:
    """Add softness to the diagonal of a unit Gram matrix and scale it to one again.

    Softness lambda adds lambda k(x_i, x_i) to the diagonal (000, eq. 27): scaled to
    unit length the matrix is (K + lambda I) / (1 + lambda). With weights, a row is the mean
    of its copies, in which the noise of softness is divided by their number.
    """
    diagonal = np.diagonal(unit).copy()
    if weight is not None:
        diagonal *= 1 + noise_share(softness) * (1 / weight - 1)
    matrix = np.divide(unit, 1 + softness, out=out)
    np.fill_diagonal(matrix, diagonal)
    return matrix


def noise_share(softness: float) -> float:
    """Return the variance of noise on the output of a softened point of unit length."""
    return softness / (1 + softness)


def check_squared_lengths(squared: np.ndarray, names: np.ndarray | None = None) -> None:
    """Raise if k(x, x) of a point is negative; `names` are given for training points."""
    if not np.any(squared < 0):
        return
    worst = int(np.nanargmin(squared))
    point = f"row {worst}" if names is None else f"training point {names[worst]}"
    raise IndefiniteKernelError(
        f"The kernel gives k(x, x) = {squared[worst]:.3g} for {point}, but the squared length of "
        "a point cannot be negative. Choose another kernel, or for sigmoid and poly a larger "
        "coef0."
    )


def check_symmetric(matrix: np.ndarray) -> None:
    """Raise if a kernel matrix, positive or not, is not symmetric up to rounding."""
    lengths = np.sqrt(np.abs(np.diagonal(matrix)))
    lengths = np.where(lengths > 0, lengths, 1.0)
    rounding = MAX_ASYMMETRY_OF_LARGEST * max(matrix.max(initial=0.0), -matrix.min(initial=0.0))
    names = np.arange(len(matrix))
    for rows, columns in _pairs_of_blocks(len(matrix)):
        difference = matrix[rows, columns] - matrix[columns, rows].T
        scale = np.outer(lengths[rows], lengths[columns])
        allowed = np.maximum(MAX_ASYMMETRY, rounding / scale)
        _refuse_asymmetry(difference / scale, allowed, names[rows], names[columns])


def is_definite(matrix: np.ndarray) -> bool:
    """Tell whether a unit matrix can be a Gram matrix, up to noise."""
    shifted = matrix.copy()
    shifted.flat[:: len(matrix) + 1] += MAX_EIGENVALUE_NOISE
    return factor_upper(shifted.T)


def _symmetrize(matrix: np.ndarray, names: np.ndarray) -> None:
    """Average entries that should be equal."""
    for rows, columns in _pairs_of_blocks(len(matrix)):
        one, other = matrix[rows, columns], matrix[columns, rows].T
        _refuse_asymmetry(one - other, MAX_ASYMMETRY, names[rows], names[columns])
        mean = (one + other) / 2
        matrix[rows, columns] = mean
        matrix[columns, rows] = mean.T


def _pairs_of_blocks(m: int) -> list[tuple[slice, slice]]:
    """Return blocks of the upper triangle, small enough to stay in the cache."""
    blocks = [slice(i, i + _BLOCK_POINTS) for i in range(0, m, _BLOCK_POINTS)]
    return [(rows, columns) for i, rows in enumerate(blocks) for columns in blocks[i:]]


def _refuse_asymmetry(difference: np.ndarray, allowed, row_names, column_names) -> None:
    """Raise if a block differs from its mirror image by more than allowed."""
    difference = np.abs(difference)
    if np.any(difference > allowed):
        i, j = np.unravel_index(np.argmax(difference - allowed), difference.shape)
        one, other = row_names[i], column_names[j]
        raise ValueError(
            f"A kernel matrix should be symmetric, but its entries at ({one}, {other}) and "
            f"({other}, {one}) differ by {difference[i, j]:.3g} (relative to the diagonal). Pass "
            "(K + K.T) / 2 if that is what you mean."
        )


def _pivoted_cholesky(matrix: np.ndarray, softness: float) -> tuple[np.ndarray, np.ndarray]:
    """Return F and the pivots with F F^T = matrix and F[pivots] lower triangular.

    The remainder of a Gram matrix after the pivots is as small as its rounding errors. If it is
    larger, either small pivots amplified the noise of a matrix from lower precision, or this
    is not a Gram matrix.
    """
    m = matrix.shape[0]
    tolerance = m * ROUNDING
    upper, order, rank, _ = linalg.lapack.dpstrf(matrix.T, lower=0, tol=tolerance)
    lower, order = upper.T, order - 1
    for i in range(rank):
        lower[i, i + 1 :] = 0.0
    factor = np.empty((m, rank))
    factor[order] = lower[:, :rank]
    rest = order[rank:]
    left = matrix[np.ix_(rest, rest)] - factor[rest] @ factor[rest].T
    if np.abs(left).max(initial=0.0) <= 4 * tolerance:
        return factor, order[:rank]
    _check_definite(matrix, softness)
    return _spectral_factor(matrix, tolerance)


def _spectral_factor(matrix: np.ndarray, tolerance: float) -> tuple[np.ndarray, np.ndarray]:
    """Do the same as `_pivoted_cholesky` by eigenvectors: slower, but without amplified noise."""
    values, vectors = linalg.eigh(matrix)
    kept = values > max(tolerance, -2 * values[0])
    roots = np.sqrt(values[kept])[:, None] * vectors[:, kept].T
    upper, order = linalg.qr(roots, mode="r", pivoting=True)
    factor = np.empty((len(matrix), len(roots)))
    factor[order] = upper.T * np.sign(np.diagonal(upper))
    return factor, order[: len(roots)]


class IndefiniteKernelError(ValueError):
    """The kernel matrix has clearly negative eigenvalues."""

    needed_softness: float | None = None


def _check_definite(matrix: np.ndarray, softness: float) -> None:
    """Raise if the smallest eigenvalue is clearly negative."""
    smallest = float(linalg.eigvalsh(matrix, subset_by_index=[0, 0])[0])
    if smallest > -MAX_EIGENVALUE_NOISE:
        return
    of_kernel = smallest * (1 + softness) - softness
    error = IndefiniteKernelError(
        f"The kernel matrix is not positive semi-definite: its smallest eigenvalue is "
        f"{of_kernel:.3g} (for unit diagonal), so there is no feature space and no version "
        f"space. Choose another kernel or other kernel parameters, or pass "
        f"softness={-1.1 * of_kernel:.2g} or more, which is added to the diagonal."
    )
    error.needed_softness = -1.1 * of_kernel
    raise error
