"""Means and common covariance of classes, as sums that batches add to, and distances from them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import linalg, sparse

from ..solvers.weights.points import dense, dense_or_sparse, squared
from .novelty_scale import NoveltyScale

# Rows of a batch that moments and levels are computed from.
MAX_MOMENT_ROWS, MAX_LEVEL_ROWS = 20_000, 2000
# Levels of left-out rows that are kept.
MAX_LEVELS = 256
# Entries of dense rows that are held at once.
MAX_BLOCK_VALUES = 2**22


class ClassMoments(NamedTuple):
    """Total weight, sum and squares of the rows of each class, measured from a common center.

    Squares are those of all classes together: a matrix, or its diagonal.
    """

    totals: np.ndarray  # (n_classes,)
    sums: np.ndarray  # (n_classes, n_features)
    squares: np.ndarray  # (n_features, n_features) or (n_features,)

    @classmethod
    def of_rows(cls, X, target, weight, n_classes: int, full: bool) -> ClassMoments:
        """Return the moments of some rows, dense or sparse, measured from the center."""
        chosen = even_sample(X.shape[0], MAX_MOMENT_ROWS)
        total = np.bincount(target, weights=weight, minlength=n_classes)
        X, target, weight = dense_or_sparse(X[chosen]), target[chosen], weight[chosen]
        seen = np.bincount(target, weights=weight, minlength=n_classes)
        # A class may have rows that the sample misses; the others stand for all rows.
        weight = weight * (total.sum() / weight.sum())
        count = seen * (total.sum() / seen.sum())
        to_class = sparse.csr_array(
            (weight, (target, np.arange(len(target)))), shape=(n_classes, len(target))
        )
        sums = to_class @ X
        scaled = sparse.diags_array(weight) @ X if sparse.issparse(X) else X * weight[:, None]
        squares = dense(X.T @ scaled) if full else squared(X).T @ weight
        return cls(count, dense(sums), squares)

    def plus(self, other: ClassMoments) -> ClassMoments:
        """Return the moments of the rows of both."""
        return ClassMoments(*(a + b for a, b in zip(self, other, strict=True)))

    def times(self, factor: float) -> ClassMoments:
        """Return the moments of rows that count a factor as often."""
        return ClassMoments(*(factor * part for part in self))

    def from_other_center(self, shift: np.ndarray) -> ClassMoments:
        """Return the moments of the same rows, measured from a center that is lower by a shift."""
        total, n = self.sums.sum(axis=0), self.totals.sum()
        if self.squares.ndim == 2:
            cross = np.multiply.outer(total, shift)
            squares = self.squares + cross + cross.T + n * np.multiply.outer(shift, shift)
        else:
            squares = self.squares + 2 * total * shift + n * shift**2
        return ClassMoments(self.totals, self.sums + self.totals[:, None] * shift, squares)

    def means(self) -> np.ndarray:
        """Return the mean of each class that has rows."""
        known = self.totals > 0
        return self.sums[known] / self.totals[known, None]

    def spread(self, unit: np.ndarray) -> np.ndarray:
        """Return the sum of squares within classes, plus one row at a distance of one unit."""
        means, count = self.means(), self.totals[self.totals > 0]
        if self.squares.ndim == 2:
            return self.squares - (means * count[:, None]).T @ means + np.diag(unit**2)
        return np.maximum(self.squares - count @ means**2, 0.0) + unit**2


class ClassDistances:
    """Squared distances from the nearest class mean, in units of the spread within classes.

    Features of an infinite unit are ignored.
    """

    def __init__(self, moments: ClassMoments, unit: np.ndarray):
        self._used = np.flatnonzero(np.isfinite(unit))
        count, sums, squares = moments
        self._full = squares.ndim == 2
        kept = np.ix_(self._used, self._used) if self._full else self._used
        self._moments = ClassMoments(count, sums[:, self._used], squares[kept])
        self._means = self._moments.means()
        spread = self._moments.spread(unit[self._used])
        self._total = count.sum() + 1
        self._variances = None if self._full else spread
        if self._full:
            self._root = _inverse_root(spread)

    def strangeness(self, X) -> np.ndarray:
        """Return a number in [0, 1) for every row, measured from the center."""
        found = [self._nearest(part[:, self._used]) for part in _blocks(X)]
        return self._bounded(self._total * np.concatenate([np.empty(0), *found]))

    def left_out(self, X, target: np.ndarray, weight: np.ndarray) -> np.ndarray:
        """Return the same for rows that the moments contain, each without one copy of itself.

        Without a copy of weight w, the mean of a class of weight n moves away from the row by a
        factor a = n / (n - w), and the squares lose w a d d', for the difference d before.
        """
        places = np.cumsum(self._moments.totals > 0) - 1
        found, start = [np.empty(0)], 0
        for part in _blocks(X):
            points = dense(part[:, self._used])
            here = slice(start, start + len(points))
            start += len(points)
            found.append(self._left_out(points, places[target[here]], weight[here]))
        return self._bounded(np.concatenate(found))

    def _left_out(self, points, own: np.ndarray, weight: np.ndarray) -> np.ndarray:
        copy = np.minimum(weight, 1.0)
        count = self._moments.totals[self._moments.totals > 0][own]
        rest = np.maximum(count - copy, 0.0)
        alone = rest <= np.finfo(float).eps * count
        grown = count / np.where(alone, 1.0, rest)
        lost = np.where(alone, 0.0, copy * grown)[:, None]
        to_all = self._without(points, points - self._means[own], lost)
        mine = np.arange(len(own)), own
        # A class of one row is gone without it.
        to_all[mine] = np.where(alone, np.inf, grown**2 * to_all[mine])
        return (self._total - copy) * to_all.min(axis=1)

    def _without(self, points, off: np.ndarray, lost: np.ndarray) -> np.ndarray:
        """Return distances from all means if the spread loses some of off off' for each row."""
        least = np.finfo(float).eps
        found = np.empty((len(points), len(self._means)))
        if self._variances is not None:
            left = self._variances - lost * off**2
            inverse = 1 / np.maximum(left, least * self._variances)
            for c, mean in enumerate(self._means):
                found[:, c] = np.einsum("ij,ij->i", (points - mean) ** 2, inverse)
            return found
        own = off @ self._root.T
        left = np.maximum(1 - lost[:, 0] * np.einsum("ij,ij->i", own, own), least)
        for c, mean in enumerate(self._means):
            half = (points - mean) @ self._root.T
            shared = np.einsum("ij,ij->i", half, own)
            found[:, c] = np.einsum("ij,ij->i", half, half) + lost[:, 0] * shared**2 / left
        return found

    def _nearest(self, points) -> np.ndarray:
        """Return the squared distance from the nearest mean; rows may be sparse."""
        if self._variances is None or not sparse.issparse(points):
            points = dense(points)
            return np.min([self._from_mean(points, mean) for mean in self._means], axis=0)
        scaled = self._means / self._variances
        constant = np.sum(self._means * scaled, axis=1)
        of_rows = squared(points) @ (1 / self._variances)
        return np.maximum(of_rows + (constant - 2 * (points @ scaled.T)).min(axis=1), 0.0)

    def _from_mean(self, points: np.ndarray, mean: np.ndarray) -> np.ndarray:
        off = points - mean
        if self._variances is not None:
            return np.sum(off**2 / self._variances, axis=1)
        half = off @ self._root.T
        return np.einsum("ij,ij->i", half, half)

    def _bounded(self, squared: np.ndarray) -> np.ndarray:
        """Return the share of a squared distance in its sum with the expected one."""
        expected = max(len(self._used), 1)
        return 1 - expected / (expected + squared)


def even_sample(n_rows: int, n: int) -> np.ndarray:
    """Return at most n rows at equal distances."""
    return np.unique(np.linspace(0, n_rows - 1, min(n, n_rows)).round().astype(int))


def fewer_levels(scale: NoveltyScale) -> NoveltyScale:
    """Return a scale with at most `MAX_LEVELS` levels, the first and the last among them."""
    kept = even_sample(len(scale.levels), MAX_LEVELS)
    return NoveltyScale(scale.levels[kept], scale.shares[kept])


def mixed_scale(first: NoveltyScale, second: NoveltyScale, share: float) -> NoveltyScale:
    """Return the scale of the rows of two scales, of which the second has a given share."""
    levels = np.union1d(first.levels, second.levels)
    shares = (1 - share) * first.novelty(levels) + share * second.novelty(levels)
    return fewer_levels(NoveltyScale(levels, shares))


def _blocks(X):
    """Yield blocks of rows."""
    size = max(MAX_BLOCK_VALUES // max(X.shape[1], 1), 1)
    for start in range(0, X.shape[0], size):
        yield dense_or_sparse(X[start : start + size])


def _inverse_root(spread: np.ndarray) -> np.ndarray:
    """Return the inverse of the lower factor of a matrix, which may be empty."""
    if not len(spread):
        return spread  # old versions of scipy cannot solve nothing
    lower = linalg.cholesky(spread, lower=True)
    return linalg.solve_triangular(lower, np.eye(len(lower)), lower=True)
