"""Probabilities from a label regression: powers of outputs that estimate probabilities."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy import optimize, special

from .._runtime.threads import run_all
from .probabilities import settle_many, settle_two

# Normal priors of the logarithms of power and floor: mean and deviation. They decide only where
# left-out points cannot: on few points, or where every point is right (docs/notes/mixture.md).
LOG_POWER = (0.7, 0.5)
LOG_FLOOR = (np.log(0.1), 0.7)
# From this many outputs on two threads share them: fewer take as long as handing them over.
MIN_OUTPUTS_IN_PARTS = 4000
# An output this many floors below zero has no probability to speak of.
MIN_FLOORS = -500.0


class PowerLink(NamedTuple):
    """The probability of a class is proportional to a power of its positive output.

    Outputs F estimate probabilities, but may be negative: floor * log(1 + exp(F / floor)) is
    F where F is much larger than the floor, and stays positive everywhere.
    """

    power: float
    floor: float


class Outcomes(NamedTuple):
    """Known classes, as probabilities that leave some doubt, with weights."""

    wanted: np.ndarray  # (n, n_classes)
    weight: np.ndarray  # (n,)


class Slopes(NamedTuple):
    """Derivatives of a log likelihood."""

    outputs: np.ndarray  # (n, n_classes)
    log_power: float
    log_floor: float


def known_outcomes(
    target: np.ndarray, n_classes: int, weight: np.ndarray, total: float | None = None
) -> Outcomes:
    """Return classes that are right except for a doubt of 1 / (n + 2), as in Platt's method.

    If these are a part of the points, `total` is the weight of all.
    """
    doubt = 1 / ((weight.sum() if total is None else total) + 2)
    wanted = np.full((len(target), n_classes), doubt / (n_classes - 1))
    wanted[np.arange(len(target)), target] = 1 - doubt
    return Outcomes(wanted, weight)


def class_outputs(outputs: np.ndarray) -> np.ndarray:
    """Return an estimate of each class's probability from predicted codes.

    A single column stands for two classes.
    """
    if outputs.shape[1] == 1:
        return np.hstack([0.5 - outputs, 0.5 + outputs])
    return outputs + 1 / outputs.shape[1]


def power_probabilities(outputs: np.ndarray, link: PowerLink) -> np.ndarray:
    """Return class probabilities, largest where the output is largest.

    `outputs` are predicted codes, one column for each class or one for two classes.
    """
    log_positive = _log_positive(class_outputs(outputs), link.floor)
    probability = special.softmax(link.power * log_positive, axis=1)
    if outputs.shape[1] == 1:
        return settle_two(probability[:, 1], outputs[:, 0])
    return settle_many(probability, outputs)


def log_likelihood(F: np.ndarray, link: PowerLink, known: Outcomes) -> tuple[float, Slopes]:
    """Return the log likelihood of known classes, with the priors of the link, and its slopes."""
    value, slopes = likelihood(F, link, known)
    value, (log_power, log_floor) = _with_priors(link, value, slopes.log_power, slopes.log_floor)
    return value, Slopes(slopes.outputs, log_power, log_floor)


def _with_priors(
    link: PowerLink, value: float, log_power: float, log_floor: float
) -> tuple[float, np.ndarray]:
    """Add the priors of the link to a log likelihood and its slopes by log power and floor."""
    off_power = (math.log(link.power) - LOG_POWER[0]) / LOG_POWER[1]
    off_floor = (math.log(link.floor) - LOG_FLOOR[0]) / LOG_FLOOR[1]
    slopes = np.array([log_power - off_power / LOG_POWER[1], log_floor - off_floor / LOG_FLOOR[1]])
    return value - 0.5 * (off_power**2 + off_floor**2), slopes


def likelihood(F: np.ndarray, link: PowerLink, known: Outcomes) -> tuple[float, Slopes]:
    """Return the log likelihood of known classes, and its slopes."""
    from .._jit.power_link import power_likelihood

    by_outputs = np.empty(F.shape)
    given = np.ascontiguousarray(F), known.wanted, known.weight, link.power, link.floor
    value, by_power, by_floor = power_likelihood(*given, MIN_FLOORS, by_outputs)
    return value, Slopes(by_outputs, by_power, by_floor)


def fit_power_link(left_out: np.ndarray, known: Outcomes, thread_map: Callable = map) -> PowerLink:
    """Return the link that makes the classes of left-out points most probable.

    Many points are two parts, for two threads; the result does not depend on `thread_map`.
    """
    F = class_outputs(left_out)
    middle = len(F) // 2 if F.size >= MIN_OUTPUTS_IN_PARTS else len(F)
    rows = [some for some in (slice(middle), slice(middle, None)) if len(F[some])]
    parts = [(F[some], Outcomes(known.wanted[some], known.weight[some])) for some in rows]

    def loss(logs: np.ndarray) -> tuple[float, np.ndarray]:
        link = PowerLink(*(float(v) for v in np.exp(logs)))
        found = run_all(thread_map, lambda part: likelihood(part[0], link, part[1]), parts)
        value, slopes = _with_priors(
            link,
            sum(value for value, _ in found),
            sum(slopes.log_power for _, slopes in found),
            sum(slopes.log_floor for _, slopes in found),
        )
        return -value, -slopes

    begin = np.array([LOG_POWER[0], LOG_FLOOR[0]])
    found = optimize.minimize(loss, begin, jac=True, method="L-BFGS-B", bounds=[(-4, 4), (-8, 3)])
    # Far fewer digits than double precision has, so that rounding does not show.
    return PowerLink(*(float(v) for v in np.exp(found.x.round(4))))


def _log_positive(F: np.ndarray, floor: float) -> np.ndarray:
    """Return the logarithm of floor * log(1 + exp(F / floor))."""
    z = np.maximum(F / floor, MIN_FLOORS)
    return np.log(floor) + np.log(np.maximum(z, 0.0) + np.log1p(np.exp(-np.abs(z))))
