"""Choose weights and widths of a mixture of kernels by left-out points, with gradients."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from scipy import optimize
from sklearn.exceptions import ConvergenceWarning

from .._runtime.share_done import advance, between
from .._runtime.threads import run_all
from .._runtime.warn import warn
from ..geometry.equal_rows import merge_equal_rows
from ..geometry.kernels import Kernel
from ..geometry.mixture import TERMS, Mixture, Term, Views, fit_views, term_names
from ..geometry.mixture_square import distances_of
from ..geometry.points import in_double
from .pair_score import DIGITS, MIN_PROGRESS, PairScore
from .power_link import LOG_FLOOR, LOG_POWER, PowerLink
from .relevance import Fitted, learn_scales
from .sampling import sample_each_class

# The mixture is chosen on a quarter of the training points, but on at least and at most so many.
MIN_POINTS, MAX_POINTS = 400, 1000
# Equal rows are merged among at most this many training points.
MAX_MERGED_POINTS = 20_000
# Evaluations of the score and its gradient, about 2 m^3 operations each: at first, and again
# after scales of columns were learned.
MAX_EVALUATIONS = 13
MAX_EVALUATIONS_WITH_SCALES = 8
# Shares of the choice that are done before and after scales of columns are learned: rough values,
# for the progress line alone.
DONE_BEFORE_SCALES, DONE_AFTER_SCALES = 0.5, 0.7
# Normal priors of the logarithms of the parameters: mean and deviation. Weights are in units of
# the noise, gammas in units of one over the mean distance of two training points. The local term
# begins with a shorter reach than the others; it learns single points by heart where that helps.
LOG_WEIGHT = (0.0, 2.5)
LOG_CONSTANT = (np.log(3.0), 2.0)
LOG_GAMMA = (np.log(0.5), 1.5)
LOG_LOCAL_GAMMA = (np.log(4.0), 1.5)
# Parameters stay within this many deviations from the means.
MAX_DEVIATIONS = 5
# Smaller mean distances would make gamma overflow.
MIN_MEAN_DISTANCE = 1e-290
# With a total weight below that of two rows there are no others to speak of.
MIN_SHARE_OF_OTHERS = 0.5


class MixtureChoice(NamedTuple):
    """The chosen mixture, the constant term and the softness that go with it."""

    mixture: Mixture
    constant: float
    softness: float
    score: list[tuple[float, float]]  # softness and log leave-one-out probability of each trial

    @property
    def kernel(self) -> Kernel:
        """Return the kernel of the mixture and its constant."""
        return Kernel("mixture", constant=self.constant, mixture=self.mixture)


class OutOfTime(Exception):
    """The search must end; the best parameters so far are kept."""


def choose_mixture(
    X: np.ndarray,
    target: np.ndarray,
    weight: np.ndarray | None,
    fit_intercept: bool,
    should_stop: Callable[[float], bool],
    groups: np.ndarray | None = None,
    number: int = 0,
    thread_map: Callable = map,
    begin_scales: np.ndarray | None = None,
) -> MixtureChoice:
    """Return the mixture that predicts left-out training points best.

    Parameters
    ----------
    X : array of shape (n_samples, n_features)
        Training points, standardized.
    target : array of shape (n_samples,)
        Their class numbers.
    weight : array of shape (n_samples,) or None
        Their weights.
    fit_intercept : bool
        Whether the kernel has a constant term.
    should_stop : callable
        Called with the seconds that the next evaluation may take. If true, the best parameters
        so far are returned.
    groups : array of shape (n_features,), default=None
        The column of the table that each feature belongs to; features of a column share their
        scale. By default each is a column of its own.
    number : int, default=0
        Other numbers choose on other training points.
    thread_map : callable, default=map
        A `map` that may use threads; the result does not depend on it.
    begin_scales : array of shape (n_features,), default=None
        Scales of the features to begin with, by default one. Those that are learned multiply them.
    """
    X, target, weight = _distinct_points(X, target, weight)
    classes, target = np.unique(target, return_inverse=True)
    rng = np.random.default_rng([len(target), number]) if number else None
    rows = sample_each_class(target, min(max(len(target) // 4, MIN_POINTS), MAX_POINTS), rng)
    views = fit_views(X, weight)
    views = views if begin_scales is None else replace(views, scales=begin_scales)
    given = X[rows], target[rows], weight[rows]
    search = MixtureSearch(*given, views, fit_intercept, thread_map=thread_map)
    if len(classes) == 1:  # it says nothing about the kernel, so the prior decides
        return search.choice(search.begin)
    with between(0, DONE_BEFORE_SCALES):
        best = search.climb(should_stop)
    if should_stop(search.seconds):
        return search.choice(best)
    groups = np.arange(X.shape[1]) if groups is None else groups
    scales = learn_scales(X, target, weight, groups, search.fitted(best), number, thread_map)
    if np.all(scales == 1):
        return search.choice(best)
    views = replace(views, scales=views.scales * scales)
    again = MixtureSearch(*given, views, fit_intercept, best, thread_map)
    again.score = search.score
    with between(DONE_AFTER_SCALES, 1):
        return again.choice(again.climb(should_stop, MAX_EVALUATIONS_WITH_SCALES))


def _distinct_points(X, target, weight) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return different points of a large sample, their labels and total weights.

    Then repeated rows and weights give the same choice, and no half knows a row of the other.
    """
    weight = np.ones(len(X)) if weight is None else weight
    some = sample_each_class(target, MAX_MERGED_POINTS)
    X, target, weight = in_double(X[some]), target[some], weight[some]
    first, weight, _ = merge_equal_rows(X, target, weight)
    return X[first], target[first], weight


def _moderate(unit: float) -> float:
    """Return a mean distance, or raise an error if it is too large or small for gamma."""
    if MIN_MEAN_DISTANCE <= unit < np.inf:
        return unit
    raise ValueError(
        'kernel="auto" needs training points at moderate distances from each other, but the mean '
        f"distance is {unit:.3g}. Pass standardize=True, or scale the features."
    )


class MixtureSearch:
    """The score of a mixture as a function of the logarithms of its parameters.

    They are the constant, a weight and a gamma for each term, and power and floor of the link.

    Notes
    -----
    With C = constant + sum_k weight_k exp(-gamma_k D_k) + diag(1 / w), codes Y and A = C^-1 Y,
    left-out outputs are F_i = Y_i - A_i / q_i + 1 / n_classes (`leave_one_out`), and the score
    is the log likelihood of the classes given F. `LeftOut.slope_of_pairs` has the derivative
    by C. C and its derivative are sums over pairs of points, and are held as such.
    """

    def __init__(
        self,
        X,
        target,
        weight,
        views: Views,
        fit_intercept: bool,
        begin: np.ndarray | None = None,
        thread_map: Callable = map,
    ):
        self.views, self.fit_intercept = views, fit_intercept
        self.names = term_names(views)
        self.points = PairScore(target, weight, max(int(target.max()) + 1, 2), thread_map)
        self.distances, self.units = self._measure(X)
        gammas = [LOG_LOCAL_GAMMA if name == "local" else LOG_GAMMA for name in self.names]
        self.prior = np.array(
            [LOG_CONSTANT, *[LOG_WEIGHT] * len(self.names), *gammas, LOG_POWER, LOG_FLOOR]
        )
        self.begin = self.prior[:, 0] if begin is None else begin
        self.score: list[tuple[float, float]] = []
        self.seconds = 0.0  # that an evaluation took

    def _measure(self, X) -> tuple[np.ndarray, np.ndarray]:
        """Return the distances of all pairs for each term, divided by their means, and these."""
        weight = self.points.weight
        total = weight.sum()
        share = weight / total
        # Without the distance of a point to itself: one of `total` copies.
        others = max(1 - 1 / total, MIN_SHARE_OF_OTHERS)
        places = self.points.places
        distances = np.empty((len(self.names), len(places)))
        units = np.empty(len(self.names))

        def measure(term: Term) -> None:
            found = distances_of(term, self.views, X)(slice(0, len(X)))
            unit = float(share @ found @ share) / others
            unit = _moderate(unit) if unit > 0 else 1.0
            pairs = found.take(places)
            for k, name in enumerate(self.names):
                if TERMS[name] == term:
                    np.divide(pairs, unit, out=distances[k])
                    units[k] = unit

        terms = list(dict.fromkeys(TERMS[name] for name in self.names))
        run_all(self.points.thread_map, measure, terms)
        return distances, units

    def climb(
        self, should_stop: Callable[[float], bool], n_evaluations: int = MAX_EVALUATIONS
    ) -> np.ndarray:
        """Return the best parameters found within a number of evaluations, or until time is up.

        Steps are in units of the priors' deviations, where curvatures are alike.
        """
        best, lowest, n_before = self.begin, np.inf, len(self.score)
        mean, deviation = self.prior.T

        def loss(off: np.ndarray) -> tuple[float, np.ndarray]:
            nonlocal best, lowest
            if lowest < np.inf and should_stop(self.seconds):
                raise OutOfTime
            logs = mean + deviation * off
            began = time.perf_counter()
            value, slope = self.evaluate(logs)
            self.seconds = time.perf_counter() - began
            advance(min((len(self.score) - n_before) / n_evaluations, 1), "choosing")
            if -value < lowest:
                best, lowest = logs, -value
            return -value, -slope * deviation

        try:
            optimize.minimize(
                loss,
                (self.begin - mean) / deviation,
                jac=True,
                method="L-BFGS-B",
                bounds=[(-MAX_DEVIATIONS, MAX_DEVIATIONS)] * len(mean),
                options={"maxfun": n_evaluations, "maxiter": n_evaluations, "ftol": MIN_PROGRESS},
            )
        except OutOfTime:
            n_trials = len(self.score) - n_before
            warn(
                f"The choice of the kernel stopped early, after {n_trials} of up to "
                f"{n_evaluations} trials. The best so far is kept. Raise max_time; press Ctrl-C "
                "twice to stop without an answer.",
                ConvergenceWarning,
            )
        return best.round(DIGITS)

    def evaluate(self, logs: np.ndarray) -> tuple[float, np.ndarray]:
        """Return the score of parameters, and its gradient."""
        constant, weights, gammas, link = self._unpack(logs)
        points, distances = self.points, self.distances
        parts, pairs = np.empty(distances.shape), np.empty(len(points.first))
        factors = -gammas[:, None]

        def fill(block: slice) -> None:
            here = parts[:, block]
            np.multiply(distances[:, block], factors, out=here)
            np.exp(here, out=here)
            here *= weights[:, None]
            np.add.reduce(here, axis=0, out=pairs[block])
            pairs[block] += constant

        run_all(points.thread_map, fill, points.blocks)
        diagonal = constant + weights.sum()

        def by_parameter(block: slice, by_pair: np.ndarray) -> np.ndarray:
            here = parts[:, block]
            here *= by_pair
            by_gamma = np.einsum("kp,kp->k", here, distances[:, block])
            return np.concatenate([[by_pair.sum()], here.sum(axis=1), by_gamma])

        value, slopes = points.evaluate(pairs, diagonal, link, by_parameter)
        self.score.append((1 / diagonal, value))
        total = slopes.over_pairs
        by_weight, by_gamma = total[1:].reshape(2, -1)
        slope = np.array(
            [
                constant * (total[0] + slopes.on_diagonal),
                *(by_weight + weights * slopes.on_diagonal),
                *(-gammas * by_gamma),
                slopes.link.log_power,
                slopes.link.log_floor,
            ]
        )
        return self._with_priors(logs, value, slope)

    def _with_priors(self, logs, value: float, slope: np.ndarray) -> tuple[float, np.ndarray]:
        """Add the priors of the kernel's parameters; those of the link are in the likelihood."""
        mean, deviation = self.prior[:-2].T
        off = (logs[:-2] - mean) / deviation
        slope[:-2] -= off / deviation
        return value - 0.5 * float(off @ off), slope

    def _unpack(self, logs: np.ndarray) -> tuple[float, np.ndarray, np.ndarray, PowerLink]:
        n = len(self.names)
        values = np.exp(logs)
        constant = float(values[0]) if self.fit_intercept else 0.0
        return constant, values[1 : n + 1], values[n + 1 : -2], PowerLink(values[-2], values[-1])

    def fitted(self, logs: np.ndarray) -> Fitted:
        """Return the mixture of parameters in units of the noise, and the link."""
        constant, weights, gammas, link = self._unpack(logs)
        mixture = Mixture(self.names, weights, gammas / self.units, self.views)
        return Fitted(mixture, constant, link)

    def choice(self, logs: np.ndarray) -> MixtureChoice:
        """Return the mixture of parameters, with weights that add up to one."""
        found, constant, _ = self.fitted(logs)
        total = float(found.weights.sum())
        mixture = replace(found, weights=found.weights / total)
        return MixtureChoice(mixture, constant / total, 1 / (constant + total), self.score)
