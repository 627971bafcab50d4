"""Curves of how well probabilities rank the rows of one class: ROC, precision and recall, lift."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from sklearn.metrics import precision_recall_curve, roc_curve

# Points of a curve that is drawn: more than a reader can distinguish.
MAX_POINTS = 200
# A lift from fewer rows than this says little; the lift curve begins here.
MIN_TOP_ROWS = 10
# Shares of the rows, the most probable first, for which a table shows the lift.
TOP_SHARES = (0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5)


class Curve(NamedTuple):
    """Points of a curve, from left to right."""

    x: np.ndarray
    y: np.ndarray


class Top(NamedTuple):
    """The rows with the largest probabilities of a class."""

    n_rows: int
    n_found: int  # rows of the class among them
    recall: float
    lift: float  # how many times as many as in as many rows drawn at random


def roc(truth: np.ndarray, score: np.ndarray) -> Curve:
    """Return the share of the class that is found against the share of false alarms."""
    false_alarms, found, _ = roc_curve(truth, score)
    return _thin(false_alarms, found)


def precision_recall(truth: np.ndarray, score: np.ndarray) -> Curve:
    """Return precision against recall, with recall rising."""
    precision, recall, _ = precision_recall_curve(truth, score)
    # The last point (recall 0, precision 1) is no threshold: scikit-learn adds it.
    return _thin(recall[-2::-1], precision[-2::-1])


def lift(truth: np.ndarray, score: np.ndarray) -> Curve:
    """Return the lift against the share of rows, the most probable first."""
    n_rows, found = np.arange(1, len(truth) + 1), _expected_found(truth, score)
    first = min(MIN_TOP_ROWS, len(truth)) - 1
    share = n_rows[first:] / len(truth)
    return _thin(share, found[first:] / (share * truth.sum()))


def top(truth: np.ndarray, score: np.ndarray, share: float) -> Top:
    """Return how many rows of the class are among the most probable share of all rows."""
    n_rows = max(1, round(share * len(truth)))
    found = float(_expected_found(truth, score)[n_rows - 1])
    recall = found / truth.sum()
    return Top(n_rows, round(found), recall, recall * len(truth) / n_rows)


def _expected_found(truth: np.ndarray, score: np.ndarray) -> np.ndarray:
    """Return how many rows of the class are among the first ones; equal scores in random order."""
    order = np.argsort(-score, kind="stable")
    _, place, count = np.unique(-score[order], return_inverse=True, return_counts=True)
    mean = np.bincount(place, weights=truth[order]) / count
    return np.cumsum(mean[place])


def _thin(x: np.ndarray, y: np.ndarray) -> Curve:
    """Keep points that can be told apart."""
    if len(x) > MAX_POINTS:
        # Points at equal steps along the curve, because ROC curves rise steeply at first.
        length = np.concatenate([[0], np.cumsum(np.abs(np.diff(x)) + np.abs(np.diff(y)))])
        steps = np.linspace(0, length[-1], MAX_POINTS)
        kept = np.unique(np.append(np.searchsorted(length, steps), [0, len(x) - 1]))
        kept = kept[kept < len(x)]
        x, y = x[kept], y[kept]
    return Curve(np.asarray(x, dtype=float), np.asarray(y, dtype=float))
