"""Version space: every hypothesis that is consistent with the training data."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from .conflicts import check_opposites, check_origin
from .entry import learn_perceptron, solve_directly, solve_program, trap_light
from .gram import Gram
from .great_circle import MIN_RELIABLE_MARGIN


class VersionSpace(NamedTuple):
    """The unit vectors w with signs_i <w, x_i> > 0 for all unit training points x_i.

    With label noise eta, the probability that a label was flipped, every unit vector is
    possible. With n errors its posterior weight is (eta / (1 - eta))^n (000, eq. 4).

    Hypotheses are given in the coordinates of `gram.factor`. All classes of a
    one-vs-rest problem share one `gram` and differ only in `signs`.
    """

    gram: Gram
    signs: np.ndarray
    names: np.ndarray | None = None  # of the points in error messages; default: their numbers
    label_noise: float = 0.0
    weight: np.ndarray | None = None  # how often each point counts; None if once each

    @property
    def n_dimensions(self) -> float:
        """Return the dimension of the span of all points, each as often as it counts.

        Softness gives every copy of a point a direction of its own.
        """
        if self.weight is None or self.gram.softness == 0:
            return self.gram.rank
        return float(self.weight.sum())

    @property
    def error_cost(self) -> float:
        """Return beta, by which each error lowers the logarithm of the posterior."""
        eta = self.label_noise
        return math.inf if eta == 0 else math.log((1 - eta) / eta)

    @property
    def walls(self) -> np.ndarray:
        """Return the signed unit constraints z_i, each in coordinates."""
        return self.gram.factor * self.signs[:, None]

    def named(self, points: np.ndarray) -> np.ndarray:
        """Return the names of these points."""
        return points if self.names is None else self.names[points]

    def margins(self, w: np.ndarray) -> np.ndarray:
        """Return the margins <w, z_i> of one hypothesis or of several."""
        return (w @ self.gram.factor.T) * self.signs

    def combine(self, coef: np.ndarray) -> np.ndarray:
        """Return sum_i coef_i z_i in coordinates."""
        return (coef * self.signs) @ self.gram.factor

    def dual(self, w: np.ndarray) -> np.ndarray:
        """Return coefficients on the z_i of hypotheses given in coordinates."""
        return self.gram.dual(w) * self.signs

    def contains(self, w: np.ndarray) -> bool:
        """Tell whether w classifies every training point correctly."""
        return bool(self.margins(w).min() > 0)

    def enter(self, rng: np.random.Generator, deadline: float = math.inf) -> np.ndarray:
        """Return a hypothesis in version space, or raise an error that says why there is none.

        These are tried in turn: equal margins by a direct solve, if the points are linearly
        independent; the kernel perceptron (000, algorithm 1); the light trap (002, sec.
        18.5.2); a linear program, which decides. The linear program gives up at the
        deadline, a value of `time.perf_counter()`.
        """
        check_origin(self)
        check_opposites(self)
        for attempt in (solve_directly, learn_perceptron, trap_light):
            w = attempt(self, rng)
            if w is not None and self.margins(w).min() > MIN_RELIABLE_MARGIN:
                return w
        return solve_program(self, deadline)
