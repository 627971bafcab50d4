"""Batches of useful rows that differ from each other."""

from __future__ import annotations

import numpy as np
from sklearn.cluster import KMeans
from sklearn.utils import _safe_indexing

from ..classifiers._tables import read_training_table
from ..classifiers.bayes_point import BayesPointClassifier


def spread_out(X, candidates, n: int, rng) -> np.ndarray:
    """Return n of the candidates: the most useful one of each of n clusters of them.

    Candidates are sorted, the most useful first.
    """
    points = as_points(_safe_indexing(X, candidates))
    rank = 1 - np.arange(len(candidates)) / len(candidates)
    n_different = min(n, len(np.unique(points, axis=0)))
    found = KMeans(n_different, n_init=1, random_state=rng).fit(points, sample_weight=rank)
    # The first of each cluster, then the most useful of the rest if there are equal rows.
    first = np.sort(np.unique(found.labels_, return_index=True)[1])
    rest = np.setdiff1d(np.arange(len(candidates)), first)
    return candidates[np.sort(np.append(first, rest[: n - len(first)]))]


def as_points(X) -> np.ndarray:
    """Return the rows of any table as standardized points."""
    points, _ = read_training_table(BayesPointClassifier(), X, np.zeros(np.shape(X)[0]))
    return points.toarray() if hasattr(points, "toarray") else points
