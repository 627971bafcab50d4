"""The score of a kernel on labeled points: the log probability of left-out points, by pairs."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from scipy.spatial.distance import squareform

from ..solvers.definite_inverse import MIN_POINTS_IN_THREADS, tiles_of
from ..solvers.regression import LeftOut, leave_one_out, pairs_of
from .power_link import Outcomes, PowerLink, Slopes, class_outputs, known_outcomes, likelihood

# Stop climbing when the score changes by less than this share of it.
MIN_PROGRESS = 1e-4
# Digits of the logarithms that are kept, so that rounding errors do not show in the answer.
DIGITS = 3


class PairSlopes(NamedTuple):
    """Derivatives of the score."""

    over_pairs: np.ndarray  # what `sum_up` made of the derivatives by pairs, for all pairs
    on_diagonal: float  # the sum over all points
    link: Slopes


class PairScore:
    """Label regression on a kernel matrix that is given by its pairs and its diagonal.

    A matrix of points is symmetric, and its diagonal is one number: the rest is a vector with an
    entry for each pair of points, half as long as the matrix.

    Parameters
    ----------
    target, weight : array of shape (n_samples,)
        Classes and weights of the points.
    n_classes : int
        Number of classes, also of those that these points do not have.
    thread_map : callable, default=map
        A `map` that may use threads; the result does not depend on it.
    is_shared : bool, default=True
        Whether threads share the work on these points, if they are many. Otherwise all is done at
        once, which takes fewer calls; the last digits differ.
    """

    def __init__(
        self,
        target: np.ndarray,
        weight: np.ndarray,
        n_classes: int,
        thread_map: Callable = map,
        is_shared: bool = True,
    ):
        self.weight = weight
        self.known: Outcomes = known_outcomes(target, n_classes, weight)
        self.codes = np.eye(n_classes)[target] - 1 / n_classes
        n = len(target)
        self.first, self.second = np.triu_indices(n, 1)
        # The place of each pair of points in a matrix, above the diagonal.
        self.places = self.first * n + self.second
        # Rows of the matrix that are worked on at once, as borders of tiles.
        borders = np.array([0, *(tile.stop for tile in tiles_of(n))])
        is_shared = is_shared and n >= MIN_POINTS_IN_THREADS
        pieces = pairwise(borders) if is_shared else [borders]
        self.pieces = [np.array(piece) for piece in pieces]  # the longest first
        self.blocks = [pairs_of(piece, n) for piece in self.pieces]
        self.thread_map = thread_map if is_shared else map

    def value(self, pairs: np.ndarray, diagonal: float, link: PowerLink) -> float:
        """Return the score of a kernel in units of the noise."""
        outputs = class_outputs(self._leave_out(pairs, diagonal).outputs)
        return likelihood(outputs, link, self.known)[0]

    def evaluate(
        self,
        pairs: np.ndarray,
        diagonal: float,
        link: PowerLink,
        sum_up: Callable[[slice, np.ndarray], np.ndarray],
    ) -> tuple[float, PairSlopes]:
        """Return the score of a kernel in units of the noise, and its derivatives.

        `sum_up` gets some pairs and the derivatives by them, and returns sums of these.
        """
        found = self._leave_out(pairs, diagonal)
        value, slopes = likelihood(class_outputs(found.outputs), link, self.known)
        given = slopes.outputs, self.pieces, sum_up, self.thread_map
        return value, PairSlopes(*found.slope_of_pairs(*given), slopes)

    def _leave_out(self, pairs: np.ndarray, diagonal: float) -> LeftOut:
        matrix = squareform(pairs, checks=False)
        matrix.flat[:: len(matrix) + 1] = diagonal
        return leave_one_out(matrix, self.codes, self.weight, self.thread_map, overwrite=True)
