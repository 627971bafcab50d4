"""Make many classes as sure of each other as left-out points allow."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy import optimize

from .power_link import Outcomes, known_outcomes
from .probabilities import exactly_one
from .task import Answer, Task

# The prior of the logarithm of the temperature has mean zero and this deviation.
LOG_DEVIATION = 0.5


def tempered(task: Task, answer: Answer) -> Answer:
    """Scale the outputs of more than two classes by one factor.

    One class against the rest, each on its own, says too little about which class it is. Label
    regression has a link of its own, and solvers without left-out outputs fit their scale
    themselves.
    """
    if answer.loo is None or answer.link is not None or len(task.signs) == 1:
        return answer
    known = np.isfinite(answer.loo).all(axis=1)
    rows = answer.rows[known]
    weight = None if task.weight is None else task.weight[rows]
    factor = fitted_temperature(answer.loo[known], task.target[rows], weight, answer.label_noise)
    factor = no_surer(factor, answer.infos)
    return answer._replace(probit_scale=factor * answer.probit_scale, loo=factor * answer.loo)


def no_surer(factor: float, infos: list[dict]) -> float:
    """Return a factor of at most one if some output did not converge: then nothing is surer."""
    return factor if all(info["mixed"] for info in infos) else min(factor, 1.0)


def fitted_temperature(
    outputs: np.ndarray,
    target: np.ndarray,
    weight: np.ndarray | None = None,
    label_noise: float = 0.0,
) -> float:
    """Return the factor of standardized outputs that makes the classes of left-out points probable.

    Labels leave some doubt, as in `known_outcomes`.
    """
    n, n_classes = outputs.shape
    known = known_outcomes(target, n_classes, np.ones(n) if weight is None else weight)
    return best_temperature(lambda factor: log_likelihood(factor, outputs, known, label_noise))


def log_likelihood(
    factor: float, outputs: np.ndarray, known: Outcomes, label_noise: float = 0.0
) -> float:
    """Return how probable known classes are if outputs are multiplied by a factor."""
    log_p = np.log(exactly_one(factor * outputs, label_noise=label_noise))
    return float(known.weight @ np.sum(known.wanted * log_p, axis=1))


def best_temperature(log_likelihood: Callable[[float], float]) -> float:
    """Return the factor with the largest posterior density."""

    def loss(log_factor: float) -> float:
        prior = 0.5 * (log_factor / LOG_DEVIATION) ** 2
        return prior - log_likelihood(np.exp(log_factor))

    found = optimize.minimize_scalar(
        loss,
        bounds=(-5 * LOG_DEVIATION, 5 * LOG_DEVIATION),
        method="bounded",
        options={"xatol": 1e-3},
    )
    return float(np.exp(round(found.x, 4)))  # so that rounding errors do not show
