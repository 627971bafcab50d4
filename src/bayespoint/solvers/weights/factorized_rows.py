"""Rows of two classes whose weights are independent."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from .belief import Belief
from .points import entries
from .row_order import mixed_order
from .rows import Fit, Rows

# Entries of rows in one compiled call, about 50 ms. Time limits are checked between calls.
MAX_ENTRIES_PER_CALL = 2_000_000


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
        before = copies_to_damp(self.sites, share)
        for order in self._parts():
            data = *self.entries, order, self.y, self.weight, self.noise
            sweep(*data, *after, *self.sites)
        damp(before, self.sites, share)
        self.product = product.times(after.over(belief).to_the(share))
        return self.product

    def learn_once(self, prior: Belief) -> Fit:
        """Sweep over the rows once. Every row is predicted before it is learned."""
        from ..._jit.linear import learn

        belief = np.column_stack([prior.mean(), prior.variances()])
        score = 0.0
        for order in self._parts():
            data = *self.entries, order, self.y, self.weight, self.noise, self.intercept
            score += learn(*data, belief)
        mean, variance = belief.T.copy()
        return Fit(Belief(1 / variance, mean / variance), prior, score, np.inf, 1)

    def _parts(self) -> Iterator[np.ndarray]:
        """Yield parts of the order of rows, until the time is over."""
        n_entries = len(self.entries[0]) + len(self.y)
        return parts_of_sweep(self, n_entries / MAX_ENTRIES_PER_CALL)

    def log_constant(self, belief: Belief) -> float:
        """Return the part of the log evidence that comes from these rows."""
        from ..._jit.linear import log_constant_of_entries

        data = (*self.entries, self.y, self.weight, self.noise)
        return log_constant_of_entries(*data, *belief, *self.sites)


def parts_of_sweep(rows, n_parts: float) -> Iterator[np.ndarray]:
    """Yield parts of the order of rows, at least one, until the time is over."""
    n_rows = len(rows.order)
    size = max(int(n_rows / max(n_parts, 1.0)), 1)
    for start in range(0, n_rows, size):
        part = rows.order[start : start + size]
        yield part
        rows.n_learned = max(rows.n_learned, start + len(part))
        if rows.is_over():
            return


def copies_to_damp(sites: tuple[np.ndarray, ...], share: float) -> list[np.ndarray]:
    """Return copies of sites, for `damp`; none if the whole update is applied."""
    return [values.copy() for values in sites] if share < 1 else []


def damp(before: list[np.ndarray], sites: tuple[np.ndarray, ...], share: float) -> None:
    """Take back a part of an update of sites, so that only a share of it is applied."""
    for old, new in zip(before, sites, strict=False):
        new[:] = old + share * (new - old)
