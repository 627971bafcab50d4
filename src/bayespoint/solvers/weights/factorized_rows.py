"""Rows of two classes whose weights are independent."""

from __future__ import annotations

import numpy as np

from .belief import Belief
from .points import entries
from .row_order import mixed_order
from .rows import Fit, Rows


class FactorizedRows(Rows):
    """Rows whose sites are updated one after the other; weights are independent.

    A sweep takes O(nnz). Sites take 16 bytes for each nonzero entry.

    Parameters
    ----------
    X : CSR of shape (n, d)
        Points. If there is one weight more than features, it is the intercept.
    y, weight, noise
        As for `FullRows`.
    intercept : bool
        Whether there is an intercept.
    """

    def __init__(self, X, y: np.ndarray, weight: np.ndarray, noise: float, intercept: bool):
        self.entries = entries(X)
        self.y, self.weight, self.noise = y, weight, noise
        self.order, self.intercept = mixed_order(len(y)), intercept
        self.sites: tuple[np.ndarray, ...] = ()

    def sweep(self, belief: Belief, share: float) -> Belief:
        """Apply a share of the update of the sites, and return their product."""
        from ..._jit.linear import sweep

        if not self.sites:
            n_sites = len(self.entries[0]) + len(self.y) * self.intercept
            self.sites = np.zeros(n_sites), np.zeros(n_sites)
        product = self.product or belief.nothing()
        after = Belief(belief.precision.copy(), belief.shift.copy())
        data = *self.entries, self.order, self.y, self.weight, self.noise
        before = copies_to_damp(self.sites, share)
        sweep(*data, *after, *self.sites)
        damp(before, self.sites, share)
        self.product = product.times(after.over(belief).to_the(share))
        return self.product

    def learn_once(self, prior: Belief) -> Fit:
        """Sweep over the rows once. Every row is predicted before it is learned."""
        from ..._jit.linear import learn

        belief = np.column_stack([prior.mean(), prior.variances()])
        data = *self.entries, self.order, self.y, self.weight, self.noise, self.intercept
        score = learn(*data, belief)
        mean, variance = belief.T.copy()
        return Fit(Belief(1 / variance, mean / variance), prior, score, np.inf, 1)

    def log_constant(self, belief: Belief) -> float:
        """Return the part of the log evidence that comes from these rows."""
        from ..._jit.linear import log_constant_of_entries

        data = (*self.entries, self.y, self.weight, self.noise)
        return log_constant_of_entries(*data, *belief, *self.sites)


def copies_to_damp(sites: tuple[np.ndarray, ...], share: float) -> list[np.ndarray]:
    """Return copies of sites, for `damp`; none if the whole update is applied."""
    return [values.copy() for values in sites] if share < 1 else []


def damp(before: list[np.ndarray], sites: tuple[np.ndarray, ...], share: float) -> None:
    """Take back a part of an update of sites, so that only a share of it is applied."""
    for old, new in zip(before, sites, strict=False):
        new[:] = old + share * (new - old)
