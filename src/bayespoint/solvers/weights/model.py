"""The probability model of a linear classifier, and its training rows with their sites."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import sparse

from .belief import Belief, independent
from .factorized_rows import FactorizedRows
from .full_rows import FullRows
from .multiclass.factorized_rows import FactorizedRows as MulticlassFactorizedRows
from .multiclass.full_rows import FullRows as MulticlassFullRows
from .multiclass.scores import positive_noise
from .points import centered, dense
from .row_order import even_blocks, growing_blocks

AnyRows = FullRows | FactorizedRows | MulticlassFullRows | MulticlassFactorizedRows


class LinearModel(NamedTuple):
    """Noise on outputs, and the prior of the weights."""

    n_classes: int
    noise: float  # variance
    full: bool  # whether weights may be correlated
    fit_intercept: bool
    prior_variances: np.ndarray  # of the weights of one output, the intercept last
    center: np.ndarray  # of the features; the intercept is the output there
    scale: np.ndarray  # of the features, the unit of their prior; NaN if they have not varied

    @property
    def n_weights(self) -> int:
        """Number of weights of all outputs."""
        return len(self.prior_variances) * (self.n_classes - 1)

    def prior(self) -> Belief:
        """Return the belief before training."""
        return independent(np.tile(self.prior_variances, self.n_classes - 1), self.full)

    def with_prior(self, prior: Belief) -> LinearModel:
        """Return the model with another prior, which is the same for all outputs."""
        return self._replace(prior_variances=prior.variances()[: len(self.prior_variances)])

    def said_by_rows(self, belief: Belief) -> Belief:
        """Return a belief without the prior: exactly nothing about features that do not vary.

        Their prior is so narrow that a rounding error of it would outweigh everything else.
        """
        factor = belief.over(self.prior())
        new, d = np.flatnonzero(np.isnan(self.scale)), len(self.prior_variances)
        at = (np.arange(self.n_classes - 1)[:, None] * d + new).ravel()
        factor.precision[(at, at) if factor.is_full else at] = 0.0
        return factor

    def with_units_of(self, other: LinearModel) -> LinearModel:
        """Return the model with the units and priors of another for features that do not vary."""
        new, d = np.flatnonzero(np.isnan(self.scale)), len(self.scale)
        variances, scale = self.prior_variances.copy(), self.scale.copy()
        variances[:d][new], scale[new] = other.prior_variances[:d][new], other.scale[new]
        return self._replace(prior_variances=variances, scale=scale)

    def rows(self, X, labels: np.ndarray, weight: np.ndarray) -> AnyRows:
        """Return rows with their sites, to be swept several times.

        Labels are +1 and -1 for two classes, otherwise class numbers.
        """
        return self._rows(X, labels, weight, even_blocks(len(labels), self.n_weights))

    def rows_to_learn_once(
        self, X, labels: np.ndarray, weight: np.ndarray, n_known: float
    ) -> AnyRows:
        """Return rows with their sites, for few sweeps after rows of total weight n_known."""
        blocks = []
        if self.full:
            known_rows = n_known * len(labels) / (weight.sum() or 1.0)
            blocks = growing_blocks(len(labels), known_rows)
        return self._rows(X, labels, weight, blocks)

    def _rows(self, X, labels: np.ndarray, weight: np.ndarray, blocks: list) -> AnyRows:
        X = centered(X, self.center)
        if not self.full and not sparse.issparse(X):
            X = sparse.csr_array(dense(X))
        if self.n_classes == 2:
            if self.full:
                return FullRows(X, labels, weight, self.noise, blocks)
            return FactorizedRows(X, labels, weight, self.noise, self.fit_intercept)
        noise = positive_noise(self.noise, X, self.prior_variances)
        if self.full:
            return MulticlassFullRows(X, labels, weight, noise, self.n_classes, blocks)
        intercept = self.fit_intercept
        return MulticlassFactorizedRows(X, labels, weight, noise, self.n_classes, intercept)
