"""A sum of kernels that look at a table in different ways: positions, ranks, categories."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.spatial.distance import cdist
from sklearn.metrics.pairwise import euclidean_distances

# A column with at most this many different values may hold categories coded as numbers.
MAX_CATEGORIES = 12
# Values that differ by less than this share of the smallest gap between two categories are the
# same category: a table may be in single precision in training, and in double precision later.
SAME_CATEGORY = 1e-3
# A column with at most this many values has no ranks to speak of.
MAX_VALUES_WITHOUT_RANKS = 2
# Ranks are interpolated between at most this many values of a column.
MAX_KNOTS = 256
# With more coordinates, squared distances come from a matrix product.
MAX_DIFFERENCE_COORDINATES = 16
# Coordinates up to here, from the mean: sums of their squares are far from overflow.
MAX_PRODUCT_REACH = 1e100


class Term(NamedTuple):
    """One kernel exp(-gamma d(x, y)): what it sees of a point, and how it measures distance."""

    view: str  # "position", "rank" or "category"
    measure: str  # "squared", "absolute" or "different"


TERMS = {
    "rbf": Term("position", "squared"),
    "laplacian": Term("position", "absolute"),
    "local": Term("position", "absolute"),
    "rank_rbf": Term("rank", "squared"),
    "rank_laplacian": Term("rank", "absolute"),
    "overlap": Term("category", "different"),
}


def views_of(names: list[str]) -> list[str]:
    """Return the views that terms have, each once."""
    return list(dict.fromkeys(TERMS[name].view for name in names))


@dataclass(frozen=True, eq=False, repr=False)
class Views:
    """What the terms of a mixture see of a point.

    Positions are the coordinates themselves. Ranks replace a coordinate by its rank among the
    training points, in units of the deviation of these ranks, so that no outlier is far away.
    Categories are the coordinates with few different values, of which only equal or different
    counts.

    Attributes
    ----------
    knots, ranks : list of ndarray
        For each coordinate some of its values in training, increasing, and their ranks; empty
        for a coordinate with at most two values, which keeps its position.
    categories : ndarray of int
        The coordinates with at most twelve different values.
    tolerances : ndarray
        For each of them, how far apart two values of the same category may be.
    scales : ndarray of shape (n_coordinates,)
        How much each coordinate matters: positions, ranks and differences are multiplied by it.
    """

    knots: list[np.ndarray]
    ranks: list[np.ndarray]
    categories: np.ndarray
    tolerances: np.ndarray
    scales: np.ndarray

    def __repr__(self) -> str:
        return f"Views(<{len(self.scales)} features>)"

    def see(self, view: str, X: np.ndarray) -> np.ndarray:
        """Return points as one kind of term sees them; categories are not scaled."""
        return self.scaled(view, self._look(view, X))

    def look(self, names: list[str], X: np.ndarray) -> dict[str, np.ndarray]:
        """Return points as the given terms see them, before columns are scaled."""
        return {view: self._look(view, X) for view in views_of(names)}

    def scaled(self, view: str, looked: np.ndarray) -> np.ndarray:
        """Return what `see` returns for a view that is not scaled yet."""
        return looked if view == "category" else looked * self.scales

    def _look(self, view: str, X: np.ndarray) -> np.ndarray:
        if view == "position":
            return X
        if view == "category":
            with np.errstate(over="ignore"):
                return X[:, self.categories] / self.tolerances
        found = X.copy()
        for j, (knots, ranks) in enumerate(zip(self.knots, self.ranks, strict=True)):
            if len(knots):
                found[:, j] = np.interp(X[:, j], knots, ranks)
        return found


@dataclass(frozen=True, eq=False, repr=False)
class Mixture:
    """The kernel sum_k weights_k exp(-gammas_k d_k(x, y)); the weights add up to one.

    Attributes
    ----------
    names : list of str
        The names of the terms, as in `TERMS`.
    weights, gammas : ndarray of shape (n_terms,)
        Their parameters.
    views : Views
        What they see of a point.
    """

    names: list[str]
    weights: np.ndarray
    gammas: np.ndarray
    views: Views

    def __repr__(self) -> str:
        return f"Mixture(<{self.describe()}>)"

    def describe(self) -> str:
        """Return the terms in words, the heaviest first; those below one percent are left out."""
        order = np.argsort(-self.weights, kind="stable")
        shares = [f"{self.weights[k]:.0%} {self.names[k]}" for k in order if self.weights[k] > 0.01]
        return f"mixture of {', '.join(shares).replace('%', ' %').replace('_', ' ')}"

    def matrix(self, X: np.ndarray, Y: np.ndarray) -> np.ndarray:
        """Return the kernel between the rows of two arrays."""
        shape = X.shape[0], Y.shape[0]
        return self.sum_of_terms(shape, lambda term: distance(term, self.views, X, Y))

    def sum_of_terms(
        self, shape: tuple[int, int], distances_of: Callable[[Term], np.ndarray]
    ) -> np.ndarray:
        """Return the kernel from the distances of its terms."""
        total = np.zeros(shape)
        distances: dict[Term, np.ndarray] = {}
        for name, weight, gamma in zip(self.names, self.weights, self.gammas, strict=True):
            term = TERMS[name]
            if term not in distances:
                distances = {term: distances_of(term)}  # hold one at a time
            total += weight * np.exp(-gamma * distances[term])
        return total


class SeenPoints:
    """Points as the terms of a mixture see them, for the kernel with few other points at a time."""

    def __init__(self, mixture: Mixture, X: np.ndarray):
        self._mixture = mixture
        self._seen = {view: mixture.views.see(view, X) for view in views_of(mixture.names)}
        self._n = len(X)

    def matrix(self, Y: np.ndarray) -> np.ndarray:
        """Return the kernel between these points and the rows of an array."""
        views = self._mixture.views

        def distances_of(term: Term) -> np.ndarray:
            return measure(term, views, self._seen[term.view], views.see(term.view, Y))

        return self._mixture.sum_of_terms((self._n, len(Y)), distances_of)


def distance(term: Term, views: Views, X: np.ndarray, Y: np.ndarray) -> np.ndarray:
    """Return the distances of a term between the rows of two arrays."""
    A = views.see(term.view, X)
    return measure(term, views, A, A if Y is X else views.see(term.view, Y))


def measure(term: Term, views: Views, A: np.ndarray, B: np.ndarray) -> np.ndarray:
    """Return the distances of a term between points that it sees."""
    if term.measure == "absolute":
        return cdist(A, B, "cityblock")
    if term.measure == "different":
        return _count_different(A, B, views.scales[views.categories])
    return _squared_distances(A, B)


def _squared_distances(A: np.ndarray, B: np.ndarray) -> np.ndarray:
    """Return squared distances; with many coordinates from a product, where it cannot overflow."""
    centered = product_coordinates(A, B)
    if centered is None:
        return cdist(A, B, "sqeuclidean")
    return euclidean_distances(*centered, squared=True)


def product_coordinates(A: np.ndarray, B: np.ndarray) -> tuple[np.ndarray, np.ndarray] | None:
    """Return coordinates from the mean of B if products should give squared distances, or None.

    Without the mean, the product does not lose the digits of points far from the origin.
    """
    if A.shape[1] <= MAX_DIFFERENCE_COORDINATES:
        return None
    with np.errstate(over="ignore"):
        origin = B.mean(axis=0)
        near = B - origin
        far = near if A is B else A - origin
        reach = max(np.abs(far).max(initial=0.0), np.abs(near).max(initial=0.0))
    return (far, near) if reach <= MAX_PRODUCT_REACH else None


def _count_different(A: np.ndarray, B: np.ndarray, scales: np.ndarray) -> np.ndarray:
    """Return in which columns two rows differ by more than one, as a sum of their scales.

    A product of indicators adds up the other columns.
    """
    left, right = indicators(A, B, scales)
    return np.maximum(scales.sum() - left @ right.T, 0.0)


def indicators(A: np.ndarray, B: np.ndarray, scales: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return which values the rows have, one column for each value in B; those of A are scaled."""
    left, right = [], []
    for a, b, scale in zip(A.T, B.T, scales, strict=True):
        values = np.unique(b)
        with np.errstate(over="ignore", invalid="ignore"):
            left.append(scale * (np.abs(a[:, None] - values) <= 1))
        right.append(b[:, None] == values)
    return np.hstack(left), np.hstack(right).astype(float)


def term_names(views: Views) -> list[str]:
    """Return the terms that see something of their own in these points."""
    has_ranks = any(len(knots) for knots in views.knots)
    missing = set() if has_ranks else {"rank"}
    missing |= set() if len(views.categories) else {"category"}
    return [name for name, term in TERMS.items() if term.view not in missing]


def fit_views(X: np.ndarray, weight: np.ndarray | None = None) -> Views:
    """Learn ranks and categories from training points; a whole weight counts as equal rows."""
    weight = np.ones(len(X)) if weight is None else weight
    knots, ranks, categories, tolerances = [], [], [], []
    for j, column in enumerate(X.T):
        values, place = np.unique(column, return_inverse=True)
        count = np.bincount(place, weights=weight)
        if 1 < len(values) <= MAX_CATEGORIES:
            categories.append(j)
            tolerances.append(max(SAME_CATEGORY * np.diff(values).min(), np.finfo(float).tiny))
        if len(values) <= MAX_VALUES_WITHOUT_RANKS:
            knots.append(np.empty(0))
            ranks.append(np.empty(0))
            continue
        share = count / count.sum()
        rank = np.cumsum(share) - share / 2
        rank -= rank @ share
        rank /= np.sqrt(rank**2 @ share)
        if len(values) > MAX_KNOTS:
            some = np.linspace(0, len(values) - 1, MAX_KNOTS).round().astype(int)
            values, rank = values[some], rank[some]
        knots.append(values.astype(float))
        ranks.append(rank)
    some = np.array(categories, dtype=np.int64)
    return Views(knots, ranks, some, np.array(tolerances, float), np.ones(X.shape[1]))
