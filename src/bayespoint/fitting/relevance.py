"""How much each column matters: a scale for each, learned on one half and judged on the other."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy import optimize
from scipy.spatial.distance import cdist

from .._runtime.threads import run_all
from ..geometry.mixture import TERMS, Mixture, Term
from .pair_score import DIGITS, MIN_PROGRESS, PairScore
from .power_link import PowerLink

# With fewer points in each half nothing is learned.
MIN_HALF_POINTS = 20
# With fewer, threads would wait for Python's lock longer than they work.
MIN_HALF_POINTS_IN_THREADS = 100
# Each half has an eighth of the points, but at least and at most so many. It has fewer if
# features times squared points would be more than DIFFERENCES_PER_POINT for each training point,
# which are at least and at most so many.
HALF_POINTS = (150, 500)
DIFFERENCES_PER_POINT = 2000
DIFFERENCES = (2_000_000, 16_000_000)
# In halves of neighbors this share of the points are neighbors of a few random points.
NEIGHBOR_SHARE, NEIGHBORS = 0.8, 100
# Evaluations of the score of a half and its gradient.
MAX_EVALUATIONS = 8
# Of positions and ranks, in the order in which they are held.
MEASURES = "absolute", "squared"
# The prior of the logarithm of a scale has mean zero and this deviation.
LOG_SCALE_DEVIATION = 0.7
# Shares of the learned logarithms that are judged on the other half. A larger share than the
# best so far must gain at least this much log probability.
SHARES = (0.25, 0.5, 0.75, 1.0)
MIN_GAIN = 1.0


class Fitted(NamedTuple):
    """What was chosen before: the terms in units of the noise, and the link."""

    mixture: Mixture  # with weights in units of the noise
    constant: float
    link: PowerLink


def learn_scales(
    X: np.ndarray,
    target: np.ndarray,
    weight: np.ndarray,
    groups: np.ndarray,
    fitted: Fitted,
    number: int = 0,
    thread_map: Callable = map,
) -> np.ndarray:
    """Return a scale for each feature, mean one; all are one if none can be trusted.

    Parameters
    ----------
    X : array of shape (n_samples, n_features)
        Different training points.
    target, weight : array of shape (n_samples,)
        Their classes and weights.
    groups : array of shape (n_features,)
        The column that each feature belongs to; features of a column share their scale.
    fitted : Fitted
        The mixture without scales.
    number : int, default=0
        Other numbers learn from other points. Even and odd numbers take turns: halves of random
        points see the whole table; halves of neighbors see it as dense as it is.
    thread_map : callable, default=map
        A `map` that may use threads; the result does not depend on it.

    Notes
    -----
    The left-out points of the half that the scales were learned on say nothing about them: with a
    scale for each column they can be predicted by heart. So the other half decides what share of
    the logarithms to keep.
    """
    n_features = X.shape[1]
    size = _half_points(*X.shape)
    halves = _neighbors(X, size, number) if number % 2 else _halves(target, size, number)
    if len(halves[1]) < MIN_HALF_POINTS:
        return np.ones(n_features)
    thread_map = thread_map if len(halves[1]) >= MIN_HALF_POINTS_IN_THREADS else map

    def learn(half: np.ndarray) -> tuple[HalfScore, np.ndarray]:
        given = X[half], target[half], weight[half], target.max() + 1
        score = HalfScore(*given, groups, fitted)
        return score, score.climb()

    def judge(trial: tuple[HalfScore, np.ndarray]) -> float:
        return trial[0].value(trial[1])

    (one, logs), (other, other_logs) = run_all(thread_map, learn, halves)
    trials = [(other, share * logs) for share in SHARES]
    trials += [(one, share * other_logs) for share in SHARES]
    values = np.sum(np.reshape(run_all(thread_map, judge, trials), (2, -1)), axis=0)
    best, highest = 0.0, one.unscaled + other.unscaled
    for share, found in zip(SHARES, values, strict=True):
        if found > highest + MIN_GAIN:
            best, highest = share, found
    scales = np.exp((best * (logs + other_logs) / 2).round(DIGITS))[groups]
    return scales / scales.mean()


def _half_points(n_points: int, n_features: int) -> int:
    """Return how many points are worth their time and memory in each half."""
    differences = np.clip(DIFFERENCES_PER_POINT * n_points, *DIFFERENCES)
    affordable = int((differences / n_features) ** 0.5)
    return min(int(np.clip(n_points // 8, *HALF_POINTS)), affordable)


def _neighbors(X: np.ndarray, size: int, number: int) -> tuple[np.ndarray, np.ndarray]:
    """Return two halves of neighborhoods around random points, filled up with random points."""
    rng = np.random.default_rng([len(X), number])
    order = rng.permutation(len(X))
    n_centers = max(round(NEIGHBOR_SHARE * size / NEIGHBORS), 1)
    is_free = np.ones(len(X), dtype=bool)
    halves = []
    for centers in (order[:n_centers], order[n_centers : 2 * n_centers]):
        near = np.argsort(cdist(X[centers], X, "cityblock"), axis=1, kind="stable")[:, :NEIGHBORS]
        free = [rows[is_free[rows]] for rows in (np.unique(near), order[::-1])]
        half = np.concatenate([free[0], np.setdiff1d(free[1], free[0], assume_unique=True)])[:size]
        is_free[half] = False
        halves.append(np.sort(half))
    return halves[0], halves[1]


def _halves(target: np.ndarray, size: int, number: int) -> tuple[np.ndarray, np.ndarray]:
    """Return two random halves with the same share of each class.

    They depend neither on the user's seed nor on the order of the classes.
    """
    seed = [len(target), number] if number else len(target)
    order = np.random.default_rng(seed).permutation(len(target))[: 2 * size]
    odd = np.zeros(len(order), dtype=bool)
    for c in np.unique(target[order]):
        odd[np.flatnonzero(target[order] == c)[1::2]] = True
    return np.sort(order[~odd]), np.sort(order[odd])


class HalfScore:
    """The log probability of left-out points of one half, as a function of the log scales."""

    unscaled: float  # the score without scales, once `climb` knows it

    def __init__(self, X, target, weight, n_classes: int, groups, fitted: Fitted):
        self.fitted, self.groups = fitted, groups
        mixture = fitted.mixture
        self.diagonal = fitted.constant + mixture.weights.sum()
        self.points = PairScore(target, weight, n_classes, is_shared=False)
        terms = [TERMS[name] for name in mixture.names]
        # Points as columns, from their mean: single precision is enough for differences.
        self.seen: dict[str, np.ndarray] = {}
        for view in dict.fromkeys(term.view for term in terms if term.measure != "different"):
            points = mixture.views.see(view, X)
            self.seen[view] = np.ascontiguousarray((points - points.mean(axis=0)).T, np.float32)
        self.terms = [Term(view, measure) for view in self.seen for measure in MEASURES]
        self.is_far = None
        if any(term.measure == "different" for term in terms):
            codes = mixture.views.see("category", X)
            first, second = self.points.first, self.points.second
            far = np.abs(codes[first] - codes[second]) > 1  # categories differ by more than one
            self.is_far = far * mixture.views.scales[mixture.views.categories].astype(np.float32)
            self.terms.append(Term("category", "different"))
        self.which = np.array([self.terms.index(term) for term in terms])

    def climb(self) -> np.ndarray:
        """Return the log scales of all columns that predict this half best.

        Where this begins, without scales, is the score `unscaled`.
        """

        def loss(logs):
            value, slope = self.evaluate(logs)
            if not logs.any():
                self.unscaled = value
            off = logs / LOG_SCALE_DEVIATION
            return 0.5 * off @ off - value, off / LOG_SCALE_DEVIATION - slope

        options = {"maxfun": MAX_EVALUATIONS, "maxiter": MAX_EVALUATIONS, "ftol": MIN_PROGRESS}
        begin = np.zeros(self.groups.max() + 1)
        return optimize.minimize(loss, begin, jac=True, method="L-BFGS-B", options=options).x

    def evaluate(self, logs: np.ndarray) -> tuple[float, np.ndarray]:
        """Return the log probability of left-out points, and its gradient."""
        from .._jit.pair_distances import sum_over_pairs
        from .._jit.terms import slopes_of_distances

        scales = np.exp(logs)[self.groups]
        scaled, terms, kernel = self._kernel(scales)
        gammas = self.fitted.mixture.gammas

        def sum_up(pairs: slice, by_pair: np.ndarray) -> np.ndarray:
            first, last = self.points.first[[pairs.start, pairs.stop - 1]]
            slopes = slopes_of_distances(
                terms, self.which, gammas, pairs.start, by_pair, len(self.terms)
            )
            by_scale = np.zeros(len(scales))
            for k, points in enumerate(scaled):
                given = first, last + 1, slopes[2 * k], slopes[2 * k + 1]
                by_absolute, by_squared = sum_over_pairs(points, *given)
                by_scale += by_absolute + 2 * by_squared
            if self.is_far is not None:
                categories = self.fitted.mixture.views.categories
                by_scale[categories] += scales[categories] * (slopes[-1] @ self.is_far[pairs])
            return by_scale

        value, slopes = self.points.evaluate(*kernel, sum_up)
        return value, np.bincount(self.groups, weights=slopes.over_pairs)

    def value(self, logs: np.ndarray) -> float:
        """Return the log probability of left-out points."""
        return self.points.value(*self._kernel(np.exp(logs)[self.groups])[-1])

    def _kernel(
        self, scales: np.ndarray
    ) -> tuple[list[np.ndarray], np.ndarray, tuple[np.ndarray, float, PowerLink]]:
        """Return points with scaled columns for each view, each term for all pairs, and the kernel.

        The kernel is that of all pairs, its diagonal, and the link.
        """
        from .._jit.pair_distances import pair_distances
        from .._jit.terms import fill_terms

        mixture, constant = self.fitted.mixture, self.fitted.constant
        distances = np.empty((len(self.terms), len(self.points.first)), dtype=np.float32)
        scaled = [seen * scales.astype(np.float32)[:, None] for seen in self.seen.values()]
        for k, points in enumerate(scaled):
            pair_distances(points, distances[2 * k], distances[2 * k + 1])
        if self.is_far is not None:
            here = scales[mixture.views.categories].astype(np.float32)
            np.matmul(self.is_far, here, out=distances[-1])
        terms = np.empty((len(self.which), distances.shape[1]))
        pairs = np.empty(distances.shape[1])
        given = distances, self.which, mixture.gammas, mixture.weights, constant
        fill_terms(*given, 0, len(pairs), terms, pairs)
        return scaled, terms, (pairs, self.diagonal, self.fitted.link)
