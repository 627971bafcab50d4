"""The mixture of kernels, as `Mixture` computes it."""

from __future__ import annotations

import copy
from collections.abc import Callable

import numpy as np

from ...geometry.mixture import TERMS, Mixture, Term, Views
from .graph import Graph, Value, concat


class SharedPoints:
    """Points in a graph that several cells use; each is stored once, with its ranks."""

    def __init__(self, graph: Graph, views: Views, points: np.ndarray):
        ranked = [j for j, knots in enumerate(views.knots) if len(knots)]
        others = [j for j, knots in enumerate(views.knots) if not len(knots)]
        ranks = [np.interp(points[:, j], views.knots[j], views.ranks[j]) for j in ranked]
        self.n_points = len(points)
        self._views = views
        self._points = _stored(graph, points)
        self._ranks = graph.value(np.column_stack(ranks)) if ranked else None
        self._others, self._order = others, np.argsort(others + ranked).tolist()

    def __len__(self) -> int:
        return self.n_points

    def __getitem__(self, rows: np.ndarray) -> SharedPoints:
        """Return some of the points."""
        found = copy.copy(self)
        found.n_points = len(rows)
        found._points = self._points.op("Gather", rows, axis=0)
        if self._ranks is not None:
            found._ranks = self._ranks.op("Gather", rows, axis=0)
        return found

    def see(self, view: str) -> Value:
        """Return the points as one kind of term sees them."""
        if view != "rank" or self._ranks is None:
            return _see(self._views, view, self._points)
        parts = [self._points.columns(self._others)] if self._others else []
        return concat([*parts, self._ranks]).columns(self._order) * self._views.scales[None]


def _stored(graph: Graph, points: np.ndarray) -> Value:
    """Return points as a constant, in single precision if they are exact in it."""
    with np.errstate(over="ignore"):
        single = points.astype(np.float32)
    exact = np.array_equal(single, points)
    return graph.value(single).double() if exact else graph.value(points)


def mixture_matrix(mixture: Mixture, X: Value, support: np.ndarray | SharedPoints) -> Value:
    """Return the kernel between all rows and support vectors, without a constant."""
    if isinstance(support, np.ndarray):
        support = SharedPoints(X.graph, mixture.views, support)
    found: dict[Term, Value] = {}
    total = X.columns([0]) * np.zeros((1, len(support)))
    for name, weight, gamma in zip(mixture.names, mixture.weights, mixture.gammas, strict=True):
        term = TERMS[name]
        if term not in found:
            seen = support.see(term.view)
            rows, measure = _see(mixture.views, term.view, X), MEASURES[term.measure]
            scales = None
            if term.measure == "different":
                scales = mixture.views.scales[mixture.views.categories]
            found[term] = distances(rows, seen, len(support), measure, scales)
        total = total + (found[term] * -float(gamma)).exp() * float(weight)
    return total


def distances(
    X: Value,
    support: Value,
    n_support: int,
    measure: Callable[[Value], Value],
    scales: np.ndarray | None = None,
) -> Value:
    """Return the sum of scale * measure(x - y) over features, one feature at a time."""
    start = X.columns([0]) * np.zeros((1, n_support))
    arrays: list = [X.transpose(1, 0), support.transpose(1, 0)]

    def feature(x: Value, y: Value, *scale: Value) -> Value:
        found = measure(x.expand(1) - y)
        return found * scale[0] if scale else found

    if scales is not None:
        arrays.append(scales[:, None])
    return X.graph.sum_over(feature, start, *arrays)


MEASURES: dict[str, Callable[[Value], Value]] = {
    "squared": lambda off: off * off,
    "absolute": abs,
    "different": lambda off: (abs(off) > 1.0).double(),
}


def _see(views: Views, view: str, X: Value) -> Value:
    """Return points as one kind of term sees them, as `Views.see` does."""
    if view == "position":
        return X * views.scales[None]
    if view == "category":
        return X.columns(views.categories.tolist()) / views.tolerances[None]
    ranked = [
        _rank(X.columns([j]), knots, ranks) if len(knots) else X.columns([j])
        for j, (knots, ranks) in enumerate(zip(views.knots, views.ranks, strict=True))
    ]
    return concat(ranked) * views.scales[None]


def _rank(x: Value, knots: np.ndarray, ranks: np.ndarray) -> Value:
    """Interpolate between knots; constant outside of them."""
    width = np.diff(knots)
    inside = (x - knots[None, :-1]).at_least(0.0).at_most(width[None])
    return inside @ (np.diff(ranks) / width)[:, None] + float(ranks[0])
