"""The score of a mixture on some labeled points, and its gradient."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .._runtime.threads import run_all
from ..geometry.mixture import TERMS, Term, Views, term_names
from ..geometry.mixture_square import all_distances
from .pair_score import PairScore
from .power_link import PowerLink

# Smaller mean distances would make gamma overflow.
MIN_MEAN_DISTANCE = 1e-290
# With a total weight below that of two rows there are no others to speak of.
MIN_SHARE_OF_OTHERS = 0.5


class MixtureScore:
    """The log probability of left-out points, by constant, weights and gammas of a mixture.

    Parameters
    ----------
    looked : dict
        The points, from `views.look`.
    target, weight : array of shape (n_samples,)
        Their classes and weights.
    views : Views
        What the terms see, with scales.
    n_classes, thread_map, is_shared
        As for `PairScore`.

    Attributes
    ----------
    names : list of str
        The terms.
    units : ndarray
        The mean distance of two points for each term, what `distances` are in units of.
    distances : ndarray of shape (n_terms, n_pairs)
        The distances of all pairs.
    points : PairScore
        The points.
    """

    def __init__(
        self,
        looked: dict[str, np.ndarray],
        target,
        weight,
        views: Views,
        n_classes: int,
        thread_map: Callable = map,
        is_shared: bool = True,
    ):
        self.names = term_names(views)
        self.points = PairScore(target, weight, n_classes, thread_map, is_shared)
        self.distances = np.empty((len(self.names), len(self.points.places)))
        self.units = np.empty(len(self.names))
        total = weight.sum()
        share = weight / total
        # Without the distance of a point to itself: one of `total` copies.
        others = max(1 - 1 / total, MIN_SHARE_OF_OTHERS)

        distances = all_distances(self.names, views, looked)

        def measure(term: Term) -> None:
            found = distances[term](slice(0, len(target)))
            unit = float(share @ found @ share) / others
            unit = _moderate(unit) if unit > 0 else 1.0
            pairs = found.take(self.points.places)
            for k, name in enumerate(self.names):
                if TERMS[name] == term:
                    np.divide(pairs, unit, out=self.distances[k])
                    self.units[k] = unit

        run_all(self.points.thread_map, measure, list(distances))

    def evaluate(
        self, constant: float, weights: np.ndarray, gammas: np.ndarray, link: PowerLink
    ) -> tuple[float, np.ndarray]:
        """Return the score, and its gradient by all logarithms: also of power and floor."""
        from .._jit.terms import fill_terms, sum_over_terms

        points, distances = self.points, self.distances
        terms, pairs = np.empty(distances.shape), np.empty(len(points.first))
        given = distances, np.arange(len(distances)), gammas, weights, constant

        def fill(block: slice) -> None:
            fill_terms(*given, block.start, block.stop, terms, pairs)

        run_all(points.thread_map, fill, points.blocks)

        def by_parameter(block: slice, by_pair: np.ndarray) -> np.ndarray:
            return sum_over_terms(terms, distances, block.start, by_pair)

        value, slopes = points.evaluate(pairs, constant + weights.sum(), link, by_parameter)
        total = slopes.over_pairs
        by_weight, by_gamma = total[1:].reshape(2, -1)
        gradient = [
            [constant * (total[0] + slopes.on_diagonal)],
            by_weight + weights * slopes.on_diagonal,
            -gammas * by_gamma,
            [slopes.link.log_power, slopes.link.log_floor],
        ]
        return value, np.concatenate(gradient)


def _moderate(unit: float) -> float:
    """Return a mean distance, or raise an error if it is too large or small for gamma."""
    if MIN_MEAN_DISTANCE <= unit < np.inf:
        return unit
    raise ValueError(
        'kernel="auto" needs training points at moderate distances from each other, but the mean '
        f"distance is {unit:.3g}. Pass standardize=True, or scale the features."
    )
