"""What the answers of a model cost, and what one constant answer would cost."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from scipy import special


class MeanCost(NamedTuple):
    """The mean cost of a row, its interval, and the cheapest constant answer."""

    value: float
    low: float
    high: float
    constant: int  # position of the class that is the cheapest constant answer
    constant_value: float


def mean_cost(costs: np.ndarray, target, predicted, level: float) -> MeanCost:
    """Return the mean cost of the answers.

    Rows of a class that the model does not know cost as much as the most expensive error.
    The interval is normal: twice the standard error of the mean for 95 %.
    """
    known = target < len(costs)
    of_rows = np.full((len(target), len(costs)), costs.max())
    of_rows[known] = costs[target[known]]
    paid = of_rows[np.arange(len(target)), predicted]
    value, constants = float(paid.mean()), of_rows.mean(axis=0)
    error = float(paid.std(ddof=1)) / math.sqrt(len(paid)) if len(paid) > 1 else math.inf
    width = float(special.ndtri((1 + level) / 2)) * error
    low = max(value - width, float(costs.min()))
    high = min(value + width, float(costs.max()))
    best = int(constants.argmin())
    return MeanCost(value, low, high, best, float(constants[best]))
