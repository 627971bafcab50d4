"""Several mixtures, each chosen on other training points; a larger sample decides between them."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

from .._runtime.share_done import between
from ..solvers import Regression
from .mixture_search import MixtureChoice, choose_mixture
from .power_link import class_outputs, fit_power_link, known_outcomes, log_likelihood
from .regression_fit import MIN_SINGLE_WEIGHT, gram_matrix
from .sampling import sample_each_class
from .unit_blocks import UnitBlocks

# Beyond this many training points so many mixtures are candidates. What a sample of a few hundred
# points says about columns depends much on the sample (docs/notes/mosaic.md).
MAX_POINTS_WITHOUT_CANDIDATES = 2000
N_CANDIDATES = 3
# Left-out points of so many training points decide.
MAX_JUDGING_POINTS = 4000


def choose_among_mixtures(
    X: np.ndarray,
    target: np.ndarray,
    weight: np.ndarray | None,
    fit_intercept: bool,
    should_stop: Callable[[float], bool],
    groups: np.ndarray | None = None,
    thread_map: Callable = map,
    shared_unit: np.ndarray | None = None,
) -> MixtureChoice:
    """Return the best of a few mixtures; arguments as those of `choose_mixture`."""
    given = X, target, weight, fit_intercept, should_stop, groups
    began = time.perf_counter()
    if len(target) <= MAX_POINTS_WITHOUT_CANDIDATES:
        return choose_mixture(*given, 0, thread_map, shared_unit)
    with between(0, 1 / N_CANDIDATES):
        best = choose_mixture(*given, 0, thread_map, shared_unit)
    seconds, highest = time.perf_counter() - began, -np.inf
    for number in range(1, N_CANDIDATES):
        if should_stop(seconds):
            break
        if highest == -np.inf:
            highest = judge(best, X, target, weight, thread_map)
        with between(number / N_CANDIDATES, (number + 1) / N_CANDIDATES):
            candidate = choose_mixture(*given, number, thread_map, shared_unit)
        score = judge(candidate, X, target, weight, thread_map)
        tried = best.score + candidate.score
        if score > highest:
            best, highest = candidate, score
        best = best._replace(score=tried)
    return best


def judge(
    choice: MixtureChoice,
    X,
    target: np.ndarray,
    weight: np.ndarray | None,
    thread_map: Callable = map,
) -> float:
    """Return the log probability of left-out points of a large sample."""
    rows = sample_each_class(target, MAX_JUDGING_POINTS)
    n_classes = int(target.max()) + 1
    lengths = np.full(len(rows), np.sqrt(1 + choice.constant))
    weight = np.ones(len(rows)) if weight is None else weight[rows]
    single = bool(weight.min() >= MIN_SINGLE_WEIGHT)
    blocks = UnitBlocks(choice.kernel, X, rows, lengths, single)
    matrix = gram_matrix(blocks, len(rows), thread_map)
    codes = np.eye(n_classes)[target[rows]] - 1 / n_classes
    try:
        given = matrix, codes, choice.softness, weight, thread_map
        outputs = Regression().solve_large(*given)[0].outputs
    except np.linalg.LinAlgError:  # in single precision
        return -np.inf
    known = known_outcomes(target[rows], n_classes, weight)
    link = fit_power_link(outputs, known, thread_map)
    return log_likelihood(class_outputs(outputs), link, known)[0]
