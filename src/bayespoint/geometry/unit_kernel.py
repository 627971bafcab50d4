"""The kernel between unit-length points: a matrix product and a map of its entries."""

from __future__ import annotations

from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from .kernels import MAX_SQUARED_WIDTHS, NOT_FINITE_MESSAGE, Kernel, unnormalized_lengths
from .points import in_double, squared_norms

# Points on the right-hand side of one matrix product. With this number the product stays in
# the processor's cache while its entries are mapped; a larger number is no faster.
PANEL_POINTS = 1024
# A feature is thin if it is nonzero at less than this share of the points: then it costs less
# in a sparse product than in a dense one (docs/notes/perceptrons.md).
MAX_THIN_SHARE = 0.7
# A sparse product pays if it saves at least as much work as this many dense features, and beside
# it a dense product of at least as many.
MIN_FEATURES_SAVED = 40
# Thin features in a group, whose values at a block of points stay in the fastest cache.
GROUP_FEATURES = 128
# Groups are larger if a point has fewer nonzero features than this in a group.
MIN_NONZERO_IN_GROUP = 16
# Squares below this may vanish in single precision, and squares above its inverse may overflow.
MIN_SINGLE_SQUARE = 1e-30
PRODUCT_KERNELS = ("linear", "poly", "rbf", "sigmoid")


class Side(NamedTuple):
    """Points prepared for one side of the product."""

    dense: np.ndarray  # features that are not thin, and extra features
    thin: Any  # thin features: `Groups` on the right; dense, transposed, on the left
    scale: np.ndarray | None  # multiplies values after the map
    offset: np.ndarray | None  # the outer product of both sides is then added: the constant


class Groups(NamedTuple):
    """Thin features of some points, in groups of features; each is a sparse matrix in CSR form."""

    starts: np.ndarray  # of each point in each group
    indices: np.ndarray
    data: np.ndarray


class ProductKernel:
    """k(x, y) / (|x| |y|) in single precision, for kernels that are functions of <x, y>.

    Every such kernel is a map of one matrix product: lengths and constants go into the
    factors. Thin features, which are mostly zero, are multiplied as a sparse matrix. The
    value is always between -1 and 1, so single precision cannot overflow, whatever the
    degree of a polynomial.

    Parameters
    ----------
    kernel : Kernel
        A kernel for which `is_product_kernel` is true.
    Y : {array, sparse matrix} of shape (n, n_features)
        Points for the right-hand side of all products.
    """

    def __init__(self, kernel: Kernel, Y):
        self._kernel = kernel
        self._points = Y
        self.n_points = Y.shape[0]
        count = _count_nonzero(Y, _origin(kernel))
        self._dense, self._thin = _split_features(count, Y.shape)
        n_extra = _features(kernel, in_double(Y[:1]), left=False)[1].shape[1]
        self.n_dense, self.n_thin = len(self._dense), len(self._thin)
        # A dense product of the extra features alone is not worth a pass over the results.
        self._all_thin = self.n_dense == 0 and self.n_thin > 0
        self._borders = _borders(count[self._thin], Y.shape[0])
        if self._all_thin:
            self.n_thin += n_extra
            self._borders[-1] += n_extra
        else:
            self.n_dense += n_extra
        self.n_features = self.n_dense + self.n_thin
        self._right = [self._side(Y[here], left=False) for here in panels(self.n_points)]

    @property
    def n_bytes(self) -> int:
        """Return the memory of the points on the right-hand side."""
        return sum(s.dense.nbytes + sum(part.nbytes for part in s.thin) for s in self._right)

    def rows(self, rows: np.ndarray) -> Side:
        """Prepare some of the points on the right-hand side for the left-hand side."""
        return self.left(self._points[rows])

    def left(self, X) -> Side:
        """Prepare other points for the left-hand side."""
        if sparse.issparse(self._points):
            X = sparse.csr_array(X)
        elif sparse.issparse(X):
            X = X.toarray()
        return self._side(X, left=True)

    def panel(self, left: Side, number: int, out: np.ndarray) -> None:
        """Write the kernel with panel `number` of the points on the right into `out`."""
        right = self._right[number]
        if self.n_dense:
            np.matmul(left.dense, right.dense.T, out=out)
        else:
            out[:] = 0.0
        if self.n_thin:
            from .._jit.sparse_product import add_product

            starts, indices, data = right.thin
            add_product(left.thin, starts, indices, data, out)
        _map(self._kernel, out)
        if left.scale is not None:
            out *= left.scale[:, None]
            out *= right.scale
        if left.offset is not None and right.offset is not None:
            out += np.multiply.outer(left.offset, right.offset)
        # The sum is not finite if any entry is not.
        if not np.isfinite(out.sum()):
            raise ValueError(NOT_FINITE_MESSAGE)

    def _side(self, X, left: bool) -> Side:
        X = in_double(X)
        features, extra, scale = _features(self._kernel, X, left)
        scale, offset = _constant_term(self._kernel, X, scale)
        dense, thin = features[:, self._dense], features[:, self._thin]
        if sparse.issparse(features):
            dense, thin = dense.toarray(), thin.toarray() if left else thin
        if self._all_thin:
            thin = (sparse if sparse.issparse(thin) else np).hstack([thin, extra])
        else:
            dense = np.hstack([dense, extra])
        thin = _columns(thin) if left else _groups(thin, self._borders)
        return Side(_single(dense), thin, _single(scale), _single(offset))


class AnyKernel:
    """k(x, y) / (|x| |y|) for every other kernel, in double precision.

    It has the same methods as `ProductKernel`. For a precomputed kernel, points are rows of
    the kernel matrix, and their lengths are given.
    """

    n_bytes = 0  # it does not copy the points

    def __init__(self, kernel: Kernel, Y, lengths: np.ndarray):
        self._kernel = kernel
        self._points = Y
        self._lengths = lengths
        self.n_points, self.n_features = Y.shape

    def rows(self, rows: np.ndarray) -> tuple[Any, np.ndarray]:
        """Prepare some of the points for the left-hand side."""
        return self._points[rows], self._lengths[rows]

    def panel(self, left, number: int, out: np.ndarray) -> None:
        """Write the kernel with panel `number` of the points on the right into `out`."""
        points, lengths = left
        here = panels(self.n_points)[number]
        if self._kernel.name == "precomputed":
            values = in_double(points[:, here]) + self._kernel.constant
        else:
            values = self._kernel(in_double(points), in_double(self._points[here]))
        out[:] = values / np.multiply.outer(lengths, self._lengths[here])


def lengths_in_blocks(kernel: Kernel, X) -> np.ndarray:
    """Return the lengths of points in feature space, computed in panels to save memory."""
    return np.concatenate([kernel.lengths(in_double(X[here])) for here in panels(X.shape[0])])


def panels(n_points: int) -> list[slice]:
    """Return the points of each panel."""
    return [slice(i, min(i + PANEL_POINTS, n_points)) for i in range(0, n_points, PANEL_POINTS)]


def is_product_kernel(kernel: Kernel, X) -> bool:
    """Tell whether products in single precision are exact enough for these points.

    The exponent of rbf is a difference of squares, which loses its digits if the squares are
    large. So does the linear kernel of sparse points, which cannot be moved to the origin.
    """
    if kernel.name == "rbf":
        return kernel.gamma * _squares(X, kernel.origin)[1] <= MAX_SQUARED_WIDTHS
    if kernel.name == "linear" and sparse.issparse(X) and np.any(kernel.origin):
        largest = _squares(X, 0.0)[1] + np.sum(np.square(kernel.origin))
        return bool(largest <= MAX_SQUARED_WIDTHS * kernel.constant)
    if kernel.name == "sigmoid":
        least, largest = _squares(X, 0.0)
        return (
            kernel.gamma * least >= MIN_SINGLE_SQUARE
            and kernel.gamma * largest <= 1 / MIN_SINGLE_SQUARE
        )
    return kernel.name in PRODUCT_KERNELS


def _squares(X, origin) -> tuple[float, float]:
    """Return the least positive and the largest squared distance from the origin."""
    squares = [squared_norms(in_double(X[here]), origin) for here in panels(X.shape[0])]
    least = min(s[s > 0].min(initial=np.inf) for s in squares)
    return float(least), float(max(s.max() for s in squares))


def _features(kernel: Kernel, X, left: bool) -> tuple[Any, np.ndarray, np.ndarray]:
    """Return features, extra features, and the scale of each point.

    The kernel of unit points is the map of the products of all features, times the scales of
    both points.
    """
    n = X.shape[0]
    one = np.ones(n)
    origin = _origin(kernel)
    if not sparse.issparse(X) and np.any(origin):
        X = X - origin
        origin = 0.0
    if kernel.name == "rbf":
        exponent = -kernel.gamma * squared_norms(X, 0.0)
        extra = [exponent, one] if left else [one, exponent]
        return X * np.sqrt(2 * kernel.gamma), np.column_stack(extra), one
    if kernel.name == "linear":
        scale = 1 / unnormalized_lengths(kernel._replace(origin=origin), X)
        if not np.any(origin):
            return _scaled(X, scale), np.empty((n, 0)), one
        shift = (origin @ origin / 2 - X @ origin) * scale
        extra = [shift, scale] if left else [scale, shift]
        return _scaled(X, scale), np.column_stack(extra), one
    root = np.sqrt(kernel.gamma)
    if kernel.name == "poly":
        # Compute (a / b)^d, because a^d and b^d may overflow.
        length = np.sqrt(np.abs(kernel.gamma * squared_norms(X, 0.0) + kernel.coef0))
        scale = np.divide(1.0, length, out=np.zeros(n), where=length > 0)
        offset = np.sqrt(abs(kernel.coef0)) * scale
        if left and kernel.coef0 < 0:
            offset = -offset
        return _scaled(X, root * scale), offset[:, None], one
    offset = np.full(n, kernel.coef0) if left else one
    return X * root, offset[:, None], 1 / unnormalized_lengths(kernel, X)


def _constant_term(kernel: Kernel, X, scale):
    """Return factors and offsets that add the constant to the kernel of unit points.

    With l^2 = p^2 + constant, (k + constant) / (l l') = (p / l) (p' / l') k / (p p')
    + constant / (l l'); p is 1 for a normalized kernel.
    """
    if not kernel.constant:
        return (scale, None) if kernel.name == "sigmoid" else (None, None)
    lengths = kernel.lengths(X)
    before = 1.0 if kernel.normalize else unnormalized_lengths(kernel, X)
    return scale * before / lengths, np.sqrt(kernel.constant) / lengths


def _map(kernel: Kernel, values: np.ndarray) -> None:
    """Turn products into values of the kernel, in place."""
    if kernel.name == "rbf":
        np.minimum(values, 0.0, out=values)
        np.exp(values, out=values)
    elif kernel.name == "sigmoid":
        np.tanh(values, out=values)
    elif kernel.name == "poly":
        _power(values, kernel.degree)


def _power(values: np.ndarray, degree: float) -> None:
    """Raise to a power in place; a whole number takes only multiplications."""
    if degree != int(degree) or degree < 1:
        with np.errstate(invalid="ignore"):
            np.power(values, degree, out=values)
        return
    base = values.copy()
    for digit in bin(int(degree))[3:]:
        values *= values
        if digit == "1":
            values *= base


def _origin(kernel: Kernel):
    """Return the point from which the features are measured."""
    return kernel.origin if kernel.name in ("linear", "rbf") else 0.0


def _scaled(X, scale: np.ndarray):
    """Multiply every row by its scale."""
    return sparse.diags_array(scale) @ X if sparse.issparse(X) else X * scale[:, None]


def _single(values):
    """Return an array in single precision, contiguous."""
    return None if values is None else np.ascontiguousarray(values, dtype=np.float32)


def _count_nonzero(Y, origin) -> np.ndarray:
    """Return at how many points each feature differs from the origin."""
    if sparse.issparse(Y):
        return np.bincount(Y.indices, minlength=Y.shape[1])
    return np.sum([np.sum(Y[here] != origin, axis=0) for here in panels(len(Y))], axis=0)


def _split_features(count: np.ndarray, shape: tuple[int, int]) -> tuple[np.ndarray, np.ndarray]:
    """Return features for the dense and the sparse product, without features that are zero."""
    used = np.flatnonzero(count)
    is_thin = count[used] < MAX_THIN_SHARE * shape[0]
    saved = is_thin.sum() - count[used][is_thin].sum() / (MAX_THIN_SHARE * shape[0])
    if saved < MIN_FEATURES_SAVED:
        is_thin[:] = False
    elif np.sum(~is_thin) < MIN_FEATURES_SAVED:
        is_thin[:] = True
    return used[~is_thin], used[is_thin]


def _borders(count: np.ndarray, n_points: int) -> np.ndarray:
    """Return where groups of thin features begin, and the end of the last one."""
    most = max(int(count.sum() / n_points / MIN_NONZERO_IN_GROUP), 1)
    n_groups = min(-(-len(count) // GROUP_FEATURES), most)
    return np.linspace(0, len(count), n_groups + 1).astype(int)


def _groups(features, borders: np.ndarray) -> Groups:
    """Return the points as sparse matrices, one for each group of features."""
    features = sparse.csc_array(features, dtype=np.float32)
    parts = [features[:, a:b].tocsr() for a, b in pairwise(borders)]
    before = np.cumsum([0] + [part.nnz for part in parts])
    starts = [part.indptr + n for part, n in zip(parts, before[:-1], strict=True)]
    indices = [part.indices + a for part, a in zip(parts, borders[:-1], strict=True)]
    return Groups(
        np.array(starts, dtype=np.int64).reshape(len(parts), features.shape[0] + 1),
        np.concatenate([np.empty(0, dtype=np.int32), *indices], dtype=np.int32),
        np.concatenate([np.empty(0, dtype=np.float32), *(part.data for part in parts)]),
    )


def _columns(features: np.ndarray) -> np.ndarray:
    """Return the features in rows that begin with a cache line, with points in columns.

    Zeros fill up the rows to a number of points that `add_product` can take.
    """
    from .._jit.sparse_product import LANES

    n, width = features.shape[1], -(-len(features) // LANES) * LANES
    memory = np.zeros(n * width + LANES, dtype=np.float32)
    first = -(memory.ctypes.data // 4) % LANES
    columns = memory[first : first + n * width].reshape(n, width)
    columns[:, : len(features)] = features.T
    return columns
