"""Rows of more than two classes whose weights are independent."""

from __future__ import annotations

import numpy as np

from ..belief import Belief
from ..factorized_rows import copies_to_damp, damp, parts_of_sweep
from ..row_order import mixed_order
from ..rows import Fit, Rows
from .class_weights import basis
from .full_rows import MAX_COMPARISON_ROUNDS

# Operations of one compiled call, about 100 ms. Time limits are checked between calls.
MAX_OPERATIONS_PER_CALL = 2e7


class FactorizedRows(Rows):
    """Rows whose sites are updated one after the other; weights are independent.

    Sites take 16 (n_classes - 1) bytes for each nonzero entry.

    Parameters
    ----------
    X : CSR of shape (n, d)
        Points. If each output has one weight more than features, it is the intercept.
    target, weight, noise, n_classes
        As for `FullRows`.
    intercept : bool
        Whether there is an intercept.
    """

    def __init__(self, X, target, weight, noise: float, n_classes: int, intercept: bool):
        H = basis(n_classes)
        self.X, self.n_classes, self.intercept = X, n_classes, intercept
        self.entries = X.data, X.indices, X.indptr
        self.problem = target, weight, noise, H[:, None] - H
        self.order = mixed_order(len(target))
        self.sites: tuple[np.ndarray, ...] = ()
        self.score = 0.0

    def sweep(self, belief: Belief, share: float) -> Belief:
        """Apply a share of the update of the sites, and return their product."""
        from ...._jit.multiclass import sweep

        product = self.product
        if product is None:
            product = self._new_sites(belief)
            belief = belief.times(product)
        precision, shift = self._by_weight(belief)
        before = copies_to_damp(self.sites, share)
        state = [precision, shift, *self.sites, MAX_COMPARISON_ROUNDS]
        operations = self.n_classes * (len(self.entries[0]) + len(self.order) * self.n_classes**2)
        self.score = 0.0
        for order in parts_of_sweep(self, operations / MAX_OPERATIONS_PER_CALL):
            self.score += sweep(*[*self.entries, order, *self.problem, *state])
        damp(before, self.sites, share)
        after = Belief(precision.T.ravel(), shift.T.ravel())
        self.product = product.times(after.over(belief).to_the(share))
        return self.product

    def learn_once(self, prior: Belief) -> Fit:
        """Sweep over the rows once. Every row is predicted before it is learned."""
        belief = prior.times(self.sweep(prior, 1.0))
        return Fit(belief, prior, self.score, np.inf, 1)

    def log_constant(self, belief: Belief) -> float:
        """Return the part of the log evidence that comes from these rows."""
        from ...._jit.multiclass import log_constants

        state = [*self._by_weight(belief), *self.sites, MAX_COMPARISON_ROUNDS]
        return log_constants(*[*self.entries, *self.problem, *state])

    def _by_weight(self, belief: Belief) -> list[np.ndarray]:
        """Return precision and shift with a row for each weight and a column for each output."""
        return [values.reshape(self.n_classes - 1, -1).T.copy() for values in belief]

    def _new_sites(self, belief: Belief) -> Belief:
        """Make sites, and return their product.

        An intercept with a wide prior would follow the first rows too far, and take long to come
        back. So it begins with about the precision that all rows will give it.
        """
        X, (target, weight, noise, _), n_outputs = self.X, self.problem, self.n_classes - 1
        sites = np.zeros((2, X.nnz + len(target) * self.intercept, n_outputs))
        comparisons = np.zeros((2, len(target), self.n_classes))
        self.sites = *sites, *comparisons
        product = belief.nothing()
        if self.intercept:
            variances = belief.covariance().reshape(n_outputs, -1)
            variance = noise + X.power(2) @ variances[:, :-1].T
            sites[0][X.nnz :] = 1 / (self.n_classes * variance)
            product.precision.reshape(n_outputs, -1)[:, -1] = weight @ sites[0][X.nnz :]
        return product
