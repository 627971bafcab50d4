"""Choose weights and widths of a mixture of kernels by left-out points, with gradients."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from scipy import optimize
from sklearn.exceptions import ConvergenceWarning

from .._runtime.share_done import advance, between
from .._runtime.threads import run_all
from .._runtime.warn import warn
from ..geometry.equal_rows import merge_equal_rows
from ..geometry.kernels import Kernel
from ..geometry.mixture import Mixture, Views, fit_views, term_names
from ..geometry.points import in_double
from .mixture_score import MixtureScore
from .pair_score import DIGITS, MIN_PROGRESS
from .power_link import LOG_FLOOR, LOG_POWER, PowerLink
from .relevance import Fitted, learn_scales
from .sampling import sample_each_class

# The mixture is chosen on a quarter of the training points, but on at least and at most so many.
MIN_POINTS, MAX_POINTS = 400, 1000
# Up to this many training points, and if there are enough, two halves of so many times as many
# points judge in place of one sample: as many pairs, and a thread for each half.
MAX_POINTS_FOR_PARTS, PAIRED_SHARE = 2000, 2**0.5
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
# Columns share a unit if this raises the score by more than this many nats where the search begins.
MIN_GAIN = 3.0
# Parameters stay within this many deviations from the means.
MAX_DEVIATIONS = 5


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
    shared_unit: np.ndarray | None = None,
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
    shared_unit : array of shape (n_features,), default=None
        Scales for columns that may share a unit, used if the search begins better with them.
    """
    X, target, weight = _distinct_points(X, target, weight)
    classes, target = np.unique(target, return_inverse=True)
    rng = np.random.default_rng([len(target), number]) if number else None
    rows, n_parts = _sample(target, rng)
    views = fit_views(X, weight)
    given = views.look(term_names(views), X[rows]), target[rows], weight[rows]
    search = MixtureSearch(*given, views, fit_intercept, None, thread_map, n_parts)
    if len(classes) == 1:  # it says nothing about the kernel, so the prior decides
        return search.choice(search.begin)
    if shared_unit is not None:
        search = _better_unit(search, given, shared_unit, thread_map, n_parts)
    with between(0, DONE_BEFORE_SCALES):
        best = search.climb(should_stop)
    if should_stop(search.seconds):
        return search.choice(best)
    groups = np.arange(X.shape[1]) if groups is None else groups
    scales = learn_scales(X, target, weight, groups, search.fitted(best), number, thread_map)
    if np.all(scales == 1):
        return search.choice(best)
    views = replace(views, scales=search.views.scales * scales)
    again = MixtureSearch(*given, views, fit_intercept, best, thread_map, n_parts)
    again.score = search.score
    with between(DONE_AFTER_SCALES, 1):
        return again.choice(again.climb(should_stop, MAX_EVALUATIONS_WITH_SCALES))


def _better_unit(
    search: MixtureSearch,
    given: tuple[Any, Any, Any],
    shared_unit: np.ndarray,
    thread_map: Callable,
    n_parts: int,
) -> MixtureSearch:
    """Return the search with columns that share a unit, if it begins better."""
    views = replace(search.views, scales=shared_unit)
    other = MixtureSearch(*given, views, search.fit_intercept, None, thread_map, n_parts)
    return other if other.first_score() > search.first_score() + MIN_GAIN else search


def _distinct_points(X, target, weight) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return different points of a large sample, their labels and total weights.

    Then repeated rows and weights give the same choice, and no half knows a row of the other.
    """
    weight = np.ones(len(X)) if weight is None else weight
    some = sample_each_class(target, MAX_MERGED_POINTS)
    X, target, weight = in_double(X[some]), target[some], weight[some]
    first, weight, _ = merge_equal_rows(X, target, weight)
    return X[first], target[first], weight


def _sample(target: np.ndarray, rng: np.random.Generator | None) -> tuple[np.ndarray, int]:
    """Return the points that judge, and the number of parts that they are divided into."""
    m = len(target)
    size = min(max(m // 4, MIN_POINTS), MAX_POINTS)
    if m <= MAX_POINTS_FOR_PARTS and m >= PAIRED_SHARE * size:
        return sample_each_class(target, round(PAIRED_SHARE * size), rng), 2
    return sample_each_class(target, size, rng), 1


def halves_of(target: np.ndarray) -> list[np.ndarray]:
    """Return two random halves with about the same share of each class."""
    order = np.random.default_rng(len(target)).permutation(len(target))
    order = order[np.argsort(target[order], kind="stable")]
    return [np.sort(order[::2]), np.sort(order[1::2])]


class MixtureSearch:
    """The score of a mixture as a function of the logarithms of its parameters.

    They are the constant, a weight and a gamma for each term, and power and floor of the link.

    Notes
    -----
    With C = constant + sum_k weight_k exp(-gamma_k D_k) + diag(1 / w), codes Y and A = C^-1 Y,
    left-out outputs are F_i = Y_i - A_i / q_i + 1 / n_classes (`leave_one_out`), and the score
    is the log likelihood of the classes given F. `LeftOut.slope_of_pairs` has the derivative
    by C. C and its derivative are sums over pairs of points, and are held as such.

    Points, which come from `views.look`, may be divided into two parts that know nothing of each
    other; scores add up.
    """

    def __init__(
        self,
        looked: dict[str, np.ndarray],
        target,
        weight,
        views: Views,
        fit_intercept: bool,
        begin: np.ndarray | None = None,
        thread_map: Callable = map,
        n_parts: int = 1,
    ):
        self.views, self.fit_intercept = views, fit_intercept
        n_classes = max(int(target.max()) + 1, 2)
        parts = [slice(None)] if n_parts == 1 else halves_of(target)
        inside = thread_map if n_parts == 1 else map
        self._thread_map = map if n_parts == 1 else thread_map

        def prepare(some) -> MixtureScore:
            given = {view: points[some] for view, points in looked.items()}
            known = target[some], weight[some]
            return MixtureScore(given, *known, views, n_classes, inside, n_parts == 1)

        self.parts = run_all(self._thread_map, prepare, parts)
        self.names = self.parts[0].names
        self.units = np.mean([part.units for part in self.parts], axis=0)
        for part in self.parts if n_parts > 1 else ():
            part.distances *= (part.units / self.units)[:, None]
        gammas = [LOG_LOCAL_GAMMA if name == "local" else LOG_GAMMA for name in self.names]
        self.prior = np.array(
            [LOG_CONSTANT, *[LOG_WEIGHT] * len(self.names), *gammas, LOG_POWER, LOG_FLOOR]
        )
        self.begin = self.prior[:, 0] if begin is None else begin
        self.score: list[tuple[float, float]] = []
        self.seconds = 0.0  # that an evaluation took

    def first_score(self) -> float:
        """Return the score where the search begins."""
        value, _ = self.evaluate(self.begin)
        self.score.clear()
        return value

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
        given = self._unpack(logs)
        found = run_all(self._thread_map, lambda part: part.evaluate(*given), self.parts)
        value = sum(part[0] for part in found)
        slope = np.sum([part[1] for part in found], axis=0)
        self.score.append((1 / (given[0] + given[1].sum()), value))
        mean, deviation = self.prior.T
        off = (logs - mean) / deviation
        return value - 0.5 * float(off @ off), slope - off / deviation

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
