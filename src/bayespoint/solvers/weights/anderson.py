"""Anderson's method (1965): mix the sites of several sweeps to converge in fewer sweeps."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import linalg

from .belief import Belief, finite, mixed
from .prior_scale import PriorScale
from .rows import Rows

# At most this many sweeps are mixed.
MAX_MIXED_SWEEPS = 10
# Sweeps are mixed once they change the belief by less than this, in standard deviations
# (`Belief.distance`). A mixture may not be farther than this from the last sweep.
MAX_MIXED_CHANGE = 0.25
# Moves of sweeps that differ by less than this share count as equal.
SAME_MOVE_RTOL = 1e-6


class Sweep(NamedTuple):
    """The result of a sweep: sites, the factor of the prior, and moves."""

    sites: Belief
    log_factor: float
    correction: float  # of the logarithm of the factor
    move: np.ndarray  # of the weights


def mix_sweeps(
    rows: Rows, past: list[Sweep], prior: Belief, scale: PriorScale | None
) -> tuple[Belief, Belief]:
    """Mix the sites and scales after the latest sweeps; return the prior and the posterior.

    Treating a sweep as a linear map, the mixture is the one whose moves cancel best. This
    removes the few slow modes that are left near the end, which belong to features that few
    rows have, and the oscillations of workers that update independently.
    """
    moves = finite(np.array([np.append(sweep.move, sweep.correction) for sweep in past]))
    weights = np.ones(1)
    if len(past) > 1:
        weights = linalg.lstsq((moves[-1] - moves[:-1]).T, moves[-1], cond=SAME_MOVE_RTOL)[0]
        weights = np.append(weights, 1 - weights.sum())
    while True:
        if scale is not None:
            scale.go_to(float(weights @ [sweep.log_factor + sweep.correction for sweep in past]))
            prior = scale.prior(prior.is_full)
        belief = prior.times(mixed(weights, (sweep.sites for sweep in past)))
        # Farther away, sweeps are not linear, and single blocks may be worse than their product.
        last = prior.times(past[-1].sites)
        near = belief.is_proper() and belief.distance(last) <= MAX_MIXED_CHANGE
        if near or len(past) == 1:
            rows.mix(weights)
            return prior, belief
        del past[:-1]
        weights = np.ones(1)


class SiteMemory:
    """The latest states of the sites. The next one overwrites the oldest."""

    def __init__(self) -> None:
        self.states = np.empty((0, 0))
        self.places: list[int] = []  # of the latest states, the last one last

    def mix(self, state: list[np.ndarray], weights: np.ndarray) -> None:
        """Remember a state, then change it to the mixture of the latest `len(weights)` ones."""
        ends = np.cumsum([values.size for values in state])
        if not self.places:
            self.states = np.zeros((MAX_MIXED_SWEEPS, ends[-1]))
        kept = self.places[len(self.places) + 1 - len(weights) :]
        place = min(set(range(MAX_MIXED_SWEEPS)) - set(kept))
        self.places = [*kept, place]
        by_place = np.zeros(max(self.places) + 1)
        by_place[self.places] = weights
        # One part at a time: allocating large arrays again and again is slow on Dask's workers.
        for values, part in zip(state, np.split(self.states, ends[:-1], axis=1), strict=True):
            part[place] = values.ravel()
            values[...] = (by_place @ part[: len(by_place)]).reshape(values.shape)
