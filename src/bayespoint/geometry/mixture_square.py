"""The kernel matrix of a mixture between all pairs of some points, in tiles that threads share."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .._runtime.threads import run_all
from .mixture import TERMS, Mixture, Term, Views, measure, product_coordinates

# Rows of a tile. The terms of a tile of a thousand columns stay in the processor's cache.
TILE_ROWS = 96


def mixture_square(mixture: Mixture, X: np.ndarray, thread_map: Callable = map) -> np.ndarray:
    """Return the kernel between all rows of an array; each pair is computed once.

    Parameters
    ----------
    mixture : Mixture
        The kernel.
    X : array of shape (n, n_features)
        Points.
    thread_map : callable, default=map
        A `map` that may use threads; the result does not depend on it.
    """
    n = len(X)
    looked = mixture.views.look(mixture.names, X)
    distances = all_distances(mixture.names, mixture.views, looked)
    matrix = np.empty((n, n))

    def fill(rows: slice) -> None:
        shape = rows.stop - rows.start, rows.stop
        here = mixture.sum_of_terms(shape, lambda term: distances[term](rows))
        here[:, rows] = (here[:, rows] + here[:, rows].T) / 2  # products round differently
        matrix[rows, : rows.stop] = here
        matrix[: rows.start, rows] = here[:, : rows.start].T

    tiles = [slice(start, min(start + TILE_ROWS, n)) for start in range(0, n, TILE_ROWS)]
    run_all(thread_map, fill, tiles[::-1])  # the longest first
    return matrix


def all_distances(
    names: list[str], views: Views, looked: dict[str, np.ndarray]
) -> dict[Term, Callable[[slice], np.ndarray]]:
    """Return a function for each kind of distance of points that `views.look` returned."""
    seen = {view: views.scaled(view, points) for view, points in looked.items()}
    terms = dict.fromkeys(TERMS[name] for name in names)
    return {term: distances_of(term, views, seen[term.view]) for term in terms}


def distances_of(term: Term, views: Views, seen: np.ndarray) -> Callable[[slice], np.ndarray]:
    """Return a function: from a tile to the distances of its rows to all rows up to its last."""
    if term.measure == "different":
        return _different(seen, views.scales[views.categories])
    if term.measure == "absolute":
        return _absolute(seen)
    centered = product_coordinates(seen, seen) if term.measure == "squared" else None
    if centered is None:
        return lambda rows: measure(term, views, seen[rows], seen[: rows.stop])
    near = centered[0]
    norms = np.einsum("ij,ij->i", near, near)

    def squared(rows: slice) -> np.ndarray:
        found = near[rows] @ near[: rows.stop].T
        found *= -2
        found += norms[rows, None]
        found += norms[: rows.stop]
        np.maximum(found, 0.0, out=found)
        np.fill_diagonal(found[:, rows], 0.0)
        return found

    return squared


def _different(seen: np.ndarray, scales: np.ndarray) -> Callable[[slice], np.ndarray]:
    """Return in which categories rows differ, as `distances_of` does."""
    from .._jit.mixture import add_different

    columns = np.ascontiguousarray(seen.T)
    left = np.ascontiguousarray(seen)

    def different(rows: slice) -> np.ndarray:
        found = np.zeros((rows.stop - rows.start, rows.stop))
        add_different(left[rows], columns[:, : rows.stop], scales, found)
        return found

    return different


def _absolute(seen: np.ndarray) -> Callable[[slice], np.ndarray]:
    """Return absolute distances as `distances_of` does.

    A fit compiles loops anyway. Predictions use scipy's, because compiled ones take longer to load
    than most of them take.
    """
    from .._jit.absolute_distances import absolute_distances

    columns = np.ascontiguousarray(seen.T)
    left = np.ascontiguousarray(seen)

    def absolute(rows: slice) -> np.ndarray:
        found = np.empty((rows.stop - rows.start, rows.stop))
        absolute_distances(left[rows], columns, found)
        return found

    return absolute
