"""The mixture of kernels between many points, in single precision."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .kernels import Kernel
from .mixture import TERMS, Views
from .points import in_double
from .unit_kernel import panels

# Coordinates are cut off here: their squares are finite in single precision.
MAX_COORDINATE = 1e15


class Seen(NamedTuple):
    """Points as the terms of a mixture see them, one in each row or, transposed, each column."""

    plain: np.ndarray  # coordinates without ranks: position and rank are the same
    position: np.ndarray  # the other coordinates
    rank: np.ndarray  # their ranks
    category: np.ndarray

    @property
    def n_bytes(self) -> int:
        """Return the memory of the points."""
        return sum(part.nbytes for part in self)

    def transposed(self) -> Seen:
        """Return the points in columns."""
        return Seen(*(np.ascontiguousarray(part.T) for part in self))


class MixtureKernel:
    """k(x, y) / (|x| |y|) of a mixture, in single precision; methods as in `ProductKernel`.

    Distances are sums of differences, so that near points lose no digits, and all terms share
    them. It takes about d differences and six exponentials for a pair of points.

    Parameters
    ----------
    kernel : Kernel
        A kernel with a mixture.
    Y : array of shape (n, n_features)
        Points for the right-hand side.
    """

    def __init__(self, kernel: Kernel, Y: np.ndarray):
        assert kernel.mixture is not None
        self._kernel, self._mixture = kernel, kernel.mixture
        self._points = Y
        self.n_points, self.n_features = Y.shape
        views = self._mixture.views
        self._has_ranks = np.array([len(knots) > 0 for knots in views.knots], dtype=bool)
        self._scales = views.scales[views.categories].astype(np.float32)
        self._origin = in_double(Y).mean(axis=0) * views.scales
        self._right = [self.left(Y[here]).transposed() for here in panels(self.n_points)]

    @property
    def n_bytes(self) -> int:
        """Return the memory of the points on the right-hand side."""
        return sum(right.n_bytes for right in self._right)

    def rows(self, rows: np.ndarray) -> Seen:
        """Prepare some of the points on the right-hand side for the left-hand side."""
        return self.left(self._points[rows])

    def left(self, X: np.ndarray) -> Seen:
        """Prepare other points for the left-hand side."""
        X = in_double(X)
        views: Views = self._mixture.views
        # Differences do not change, and numbers near zero have more digits.
        position = views.see("position", X) - self._origin
        rank = views.see("rank", X)
        parts = (
            position[:, ~self._has_ranks],
            position[:, self._has_ranks],
            rank[:, self._has_ranks],
            views.see("category", X),
        )
        limited = (np.clip(part, -MAX_COORDINATE, MAX_COORDINATE) for part in parts)
        return Seen(*(np.ascontiguousarray(part, dtype=np.float32) for part in limited))

    def panel(self, left: Seen, number: int, out: np.ndarray) -> None:
        """Write the kernel with panel `number` of the points on the right into `out`."""
        distances = self._distances(left, self._right[number], out.shape)
        terms = zip(self._mixture.names, self._mixture.weights, self._mixture.gammas, strict=True)
        length = 1 + self._kernel.constant
        out[:] = self._kernel.constant / length
        part = np.empty_like(out)
        for name, weight, gamma in terms:
            np.multiply(distances[TERMS[name]], np.float32(-gamma), out=part)
            np.exp(part, out=part)
            part *= np.float32(weight / length)
            out += part

    def _distances(self, left: Seen, right: Seen, shape: tuple[int, ...]) -> dict:
        """Return the distances of all kinds of terms."""
        from .._jit.mixture import add_different, add_distances

        absolute, squared = (np.zeros(shape, dtype=np.float32) for _ in range(2))
        add_distances(left.plain, right.plain, absolute, squared)
        rank_absolute, rank_squared = absolute.copy(), squared.copy()
        add_distances(left.position, right.position, absolute, squared)
        add_distances(left.rank, right.rank, rank_absolute, rank_squared)
        different = np.zeros(shape, dtype=np.float32)
        add_different(left.category, right.category, self._scales, different)
        return {
            ("position", "absolute"): absolute,
            ("position", "squared"): squared,
            ("rank", "absolute"): rank_absolute,
            ("rank", "squared"): rank_squared,
            ("category", "different"): different,
        }
