"""Test thresholds from high to low: how far down can a promise be kept?"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from .promise import Promise

# A pilot sample (10 %, at most 300 rows) picks the thresholds to test.
PILOT_SHARE, MAX_PILOT_ROWS = 0.1, 300
# The first chain of tests starts where about 1.5 times the fewest rows are accepted, and
# each further chain where twice as many are (docs/notes/abstaining.md).
FIRST_CHAIN_FACTOR, NEXT_CHAIN_RATIO = 1.5, 2
# Relative rounding error of products that should be whole numbers.
ROUNDING_TOLERANCE = 1e-9


class Chain(NamedTuple):
    """Thresholds from high to low, and what each test says."""

    thresholds: np.ndarray
    p_values: np.ndarray
    shares: np.ndarray  # of the risk; they sum to one

    def lowest_certified(self, risk: float) -> tuple[float, float]:
        """Return the lowest threshold that can be certified, and the risk that is left over.

        A certified threshold passes its part of the risk on to the next one, a failed one
        loses it. What the last one, which accepts everything, passes on is left over.
        """
        lowest, carried = math.inf, 0.0
        for threshold, p, share in zip(*self, strict=True):
            carried += share * risk
            if p <= carried:
                lowest = float(threshold)
            else:
                carried = 0.0
        return lowest, carried


def make_chain(confidence: np.ndarray, promises: Sequence[Promise], risk: float) -> Chain:
    """Test whether all promises are kept by the rows that each threshold accepts.

    Parameters
    ----------
    confidence : ndarray of shape (n_rows,)
        Confidences of predictions for rows that were not trained on.
    promises : sequence of Promise
        What should hold for accepted rows. If one of them is broken, all are: so the p-value
        of a threshold is the largest one, and several promises do not share the risk.
    risk : float
        The risk that tests are planned for. More rows of the first tests are needed if it is
        smaller.

    Returns
    -------
    Chain
    """
    pilot = pilot_rows(len(confidence))
    thresholds = np.append(np.sort(confidence[pilot])[::-1], -np.inf)
    shares = share_risk(len(confidence), int(pilot.sum()), _needed(promises, pilot), risk)
    p_values = np.zeros(len(thresholds))
    order = np.argsort(-confidence[~pilot])
    accepted = np.searchsorted(-confidence[~pilot][order], -thresholds, side="right")
    for promise in promises:
        p_values = np.maximum(p_values, promise.p_values(np.flatnonzero(~pilot)[order], accepted))
    return Chain(thresholds, p_values, shares)


def pilot_size(n_rows: int) -> int:
    """Return the number of rows that only pick the thresholds to test."""
    return min(int(PILOT_SHARE * n_rows), MAX_PILOT_ROWS)


def pilot_rows(n_rows: int) -> np.ndarray:
    """Mark the pilot rows: random, in case rows are sorted, but the same ones every time."""
    marked = np.zeros(n_rows, dtype=bool)
    marked[np.random.default_rng(0).choice(n_rows, pilot_size(n_rows), replace=False)] = True
    return marked


def share_risk(n_rows: int, n_pilot: int, log_right: float, risk: float) -> np.ndarray:
    """Divide a risk of one among the thresholds at which chains start.

    `log_right` is what a row without loss adds to the log of a p-value.
    """
    n_rest = n_rows - n_pilot

    def first_chain(n_chains: int) -> float:
        """Return how many rows the first chain should start with."""
        return FIRST_CHAIN_FACTOR * math.log(risk / n_chains) / log_right

    n_chains = 1
    while first_chain(n_chains + 1) * NEXT_CHAIN_RATIO**n_chains <= n_rest:
        n_chains += 1
    wanted = np.minimum(first_chain(n_chains) * NEXT_CHAIN_RATIO ** np.arange(n_chains), n_rest)
    expected = n_rest * np.arange(1, n_pilot + 2) / (n_pilot + 1)
    starts = np.unique(np.searchsorted(expected, wanted * (1 - ROUNDING_TOLERANCE)))
    shares = np.zeros(n_pilot + 1)
    shares[starts] = 1 / len(starts)
    return shares


def _needed(promises: Sequence[Promise], pilot: np.ndarray) -> float:
    """Return what a row adds to the log of a p-value, for the promise that needs most rows."""
    # Only pilot rows may plan the tests. The share of rows that count is not taken as zero.
    shares = [
        1.0 if promise.counted.all() else (promise.counted[pilot].sum() + 1) / (pilot.sum() + 2)
        for promise in promises
    ]
    pairs = zip(promises, shares, strict=True)
    return max(share * math.log1p(-promise.limit) for promise, share in pairs)
