"""The mixture of kernels, as `Mixture` computes it."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ...geometry.mixture import TERMS, Mixture, Term, Views
from .graph import Value, concat


def mixture_matrix(mixture: Mixture, X: Value, support: np.ndarray) -> Value:
    """Return the kernel between all rows and support vectors, without a constant."""
    found: dict[Term, Value] = {}
    total = X.columns([0]) * np.zeros((1, len(support)))
    for name, weight, gamma in zip(mixture.names, mixture.weights, mixture.gammas, strict=True):
        term = TERMS[name]
        if term not in found:
            seen = mixture.views.see(term.view, support)
            rows, measure = _see(mixture.views, term.view, X), MEASURES[term.measure]
            scales = None
            if term.measure == "different":
                scales = mixture.views.scales[mixture.views.categories]
            found[term] = distances(rows, seen, measure, scales)
        total = total + (found[term] * -float(gamma)).exp() * float(weight)
    return total


def distances(
    X: Value,
    support: np.ndarray,
    measure: Callable[[Value], Value],
    scales: np.ndarray | None = None,
) -> Value:
    """Return the sum of scale * measure(x - y) over features, one feature at a time."""
    start = X.columns([0]) * np.zeros((1, len(support)))
    arrays = [X.transpose(1, 0), np.ascontiguousarray(support.T)]

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
