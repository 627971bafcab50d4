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
# Coordinates of a mean size up to this, or down to its inverse, need no other unit.
MAX_SIZE = 1e4
# Codes of different categories differ by this, more than one.
SPACING = 2
# In the order that `_jit/mixture.py` numbers them.
DISTANCES = (
    ("position", "absolute"),
    ("position", "squared"),
    ("rank", "absolute"),
    ("rank", "squared"),
    ("category", "different"),
)


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
        self._constant, self._mixture = kernel.constant, kernel.mixture
        self._points = Y
        self.n_points, self.n_features = Y.shape
        views = self._mixture.views
        points = in_double(Y)
        position, rank = views.see("position", points), views.see("rank", points)
        # Differences do not change, and numbers near zero have more digits.
        self._origin = {"position": position.mean(axis=0), "rank": rank.mean(axis=0)}
        self._units = {
            "position": _unit(position - self._origin["position"]),
            "rank": _unit(rank - self._origin["rank"]),
        }
        self._has_ranks = np.array([len(knots) > 0 for knots in views.knots], dtype=bool)
        if set(self._units.values()) != {1.0}:  # then no coordinate is the same in both views
            self._has_ranks[:] = True
        self._codes = _Codes(views.see("category", points))
        self._scales = views.scales[views.categories].astype(np.float32)
        self._terms = self._find_terms()
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
        position, rank = (
            (views.see(view, X) - self._origin[view]) / self._units[view]
            for view in ("position", "rank")
        )
        parts = (
            position[:, ~self._has_ranks],
            position[:, self._has_ranks],
            rank[:, self._has_ranks],
            self._codes(views.see("category", X)),
        )
        limited = (np.clip(part, -MAX_COORDINATE, MAX_COORDINATE) for part in parts)
        return Seen(*(np.ascontiguousarray(part, dtype=np.float32) for part in limited))

    def panel(self, left: Seen, number: int, out: np.ndarray) -> None:
        """Write the kernel with panel `number` of the points on the right into `out`."""
        from .._jit.mixture import mix

        mix(left, self._right[number], self._scales, *self._terms, out)

    def _find_terms(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.float32]:
        """Return distances, gammas and weights of the terms, and the constant, for unit points."""
        mixture, length = self._mixture, 1 + self._constant
        terms = zip(mixture.names, mixture.gammas, strict=True)
        return (
            np.array([DISTANCES.index(TERMS[name]) for name in mixture.names]),
            np.array([self._in_units(*term) for term in terms]),
            (mixture.weights / length).astype(np.float32),
            np.float32(self._constant / length),
        )

    def _in_units(self, name: str, gamma: float) -> np.float32:
        """Return the coefficient of a distance that was measured in our units."""
        unit = self._units.get(TERMS[name].view, 1.0)
        return np.float32(gamma * unit * (unit if TERMS[name].measure == "squared" else 1.0))


class _Codes:
    """Small numbers for the categories of columns: single precision cannot tell values apart.

    Values that differ by at most one are the same category, as in `Views`. Columns have few
    values, so that all columns together are compared with one value of each at a time.
    """

    def __init__(self, points: np.ndarray):
        columns = [np.unique(column) for column in points.T]
        shape = max(map(len, columns), default=0), len(columns)
        self._values, self._codes = np.full(shape, np.nan), np.zeros(shape)
        for j, values in enumerate(columns):
            self._values[: len(values), j] = values
            new = np.diff(values, prepend=values[0]) > 1
            self._codes[: len(values), j] = SPACING * np.cumsum(new)

    def __call__(self, points: np.ndarray) -> np.ndarray:
        """Return the codes of points; values of other categories are the same new code."""
        found = np.full(points.shape, -float(SPACING))
        with np.errstate(over="ignore", invalid="ignore"):
            for values, codes in zip(self._values, self._codes, strict=True):
                np.copyto(found, codes, where=np.abs(points - values) <= 1)
        return found


def _unit(coordinates: np.ndarray) -> float:
    """Return one, or the size of the coordinates if it is far from one."""
    with np.errstate(over="ignore"):
        size = float(np.abs(coordinates).mean()) if coordinates.size else 1.0
    return size if 0 < size < np.inf and not 1 / MAX_SIZE < size < MAX_SIZE else 1.0
