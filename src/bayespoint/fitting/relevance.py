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
        self.diagonal = fitted.constant + fitted.mixture.weights.sum()
        self.points = PairScore(target, weight, n_classes)
        first, second = self.points.first, self.points.second
        self.differences: dict[Term, np.ndarray] = {}
        for term in sorted({TERMS[name] for name in fitted.mixture.names}):
            if term.measure == "squared":  # after the absolute ones
                absolute = self.differences[Term(term.view, "absolute")]
                self.differences[term] = absolute * absolute
                continue
            seen = fitted.mixture.views.see(term.view, X)
            if term.measure == "different":
                far = np.abs(seen[first] - seen[second]) > 1  # categories differ by more than one
                scales = fitted.mixture.views.scales[fitted.mixture.views.categories]
                self.differences[term] = far * scales.astype(np.float32)
            else:
                near = (seen - seen.mean(axis=0)).astype(np.float32)
                apart = near[first]
                apart -= near[second]
                self.differences[term] = np.abs(apart, out=apart)

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
        mixture, scales = self.fitted.mixture, np.exp(logs)[self.groups]
        powers, parts = self._parts(scales)

        def sum_up(pairs: slice, by_pair: np.ndarray) -> np.ndarray:
            by_distance: dict[Term, np.ndarray] = {}
            for name, gamma, part in zip(mixture.names, mixture.gammas, parts, strict=True):
                term, here = TERMS[name], -gamma * part[pairs]
                by_distance[term] = by_distance[term] + here if term in by_distance else here
            by_scale = np.zeros(len(scales))
            for term, slope in by_distance.items():
                double = 2.0 if term.measure == "squared" else 1.0
                slope = (slope * by_pair).astype(np.float32)
                by_feature = double * powers[term] * (slope @ self.differences[term][pairs])
                by_scale[self._features(term)] += by_feature
            return by_scale

        value, slopes = self.points.evaluate(*self._kernel(parts), sum_up)
        return value, np.bincount(self.groups, weights=slopes.over_pairs)

    def value(self, logs: np.ndarray) -> float:
        """Return the log probability of left-out points."""
        _, parts = self._parts(np.exp(logs)[self.groups])
        return self.points.value(*self._kernel(parts))

    def _parts(self, scales: np.ndarray) -> tuple[dict[Term, np.ndarray], list[np.ndarray]]:
        """Return what differences are multiplied by, and each term for all pairs."""
        mixture = self.fitted.mixture
        powers = {term: self._powers(term, scales) for term in self.differences}
        distances = {term: d @ powers[term] for term, d in self.differences.items()}
        parts = [
            weight * np.exp(-gamma * distances[TERMS[name]])
            for name, weight, gamma in zip(
                mixture.names, mixture.weights, mixture.gammas, strict=True
            )
        ]
        return powers, parts

    def _kernel(self, parts: list[np.ndarray]) -> tuple[np.ndarray, float, PowerLink]:
        """Return the kernel of all pairs, its diagonal, and the link."""
        return np.add.reduce(parts) + self.fitted.constant, self.diagonal, self.fitted.link

    def _features(self, term: Term) -> np.ndarray:
        """Return the features that a term sees."""
        if term.view == "category":
            return self.fitted.mixture.views.categories
        return np.arange(len(self.groups))

    def _powers(self, term: Term, scales: np.ndarray) -> np.ndarray:
        """Return what the differences of a term are multiplied by."""
        seen = scales[self._features(term)]
        return (seen**2 if term.measure == "squared" else seen).astype(np.float32)
