"""Training rows with their sites: what a sweep over them needs."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from .belief import Belief

# Stop sweeping for lost sites when a sweep moves the belief by less (`Belief.distance`).
RECOVERY_TOL = 1e-6


class Fit(NamedTuple):
    """A posterior, and how it was found.

    The log evidence is the estimate of expectation propagation. For rows that were swept only
    once, it is the log probability of their labels before they were learned.
    """

    belief: Belief
    prior: Belief
    log_evidence: float
    change: float  # in the last sweep: `Belief.distance`
    n_iter: int


def never() -> bool:
    """Do not stop a sweep."""
    return False


class Rows:
    """Training rows with their sites, in memory or on other machines."""

    damping = 1.0  # the largest share of an update that a sweep applies, after the first sweep
    product: Belief | None = None  # of their sites
    n_learned = 0  # rows that a sweep has reached
    # Asked between parts of a sweep. If it says yes, the other rows keep their sites.
    is_over: Callable[[], bool] = staticmethod(never)

    @property
    def mixable_sweeps(self) -> int:
        """How many of the latest sweeps these rows can mix."""
        return 0

    def sweep(self, belief: Belief, share: float) -> Belief:
        """Apply a share of the update of the sites, and return their product."""
        raise NotImplementedError

    def learn_once(self, prior: Belief) -> Fit:
        """Sweep over the rows once. Rows are predicted before they are learned."""
        raise NotImplementedError

    def mix(self, weights: np.ndarray) -> None:
        """Mix the sites after the latest `len(weights)` sweeps, in order, and remember them."""
        raise NotImplementedError

    def log_constant(self, belief: Belief) -> float:
        """Return the part of the log evidence that comes from these rows."""
        raise NotImplementedError

    def recover(self, belief: Belief, product: Belief, max_sweeps: int) -> Belief:
        """Find lost sites again, and return their product.

        The belief contains `product`, the product of the lost sites. This method divides it out
        and learns the rows again from what is left, in at most `max_sweeps` sweeps.
        """
        rest = belief.over(product)
        belief = rest.times(self.product or belief.nothing())
        for _ in range(max_sweeps):
            product = self.sweep(belief, self.damping)
            last, belief = belief, rest.times(product)
            if belief.distance(last) <= RECOVERY_TOL:
                break
        return product
