"""What classifiers with a kernel share: from its parameters to outputs at new points."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator

from ..fitting.outputs import cell_outputs, outputs, precomputed_outputs
from ..geometry.kernels import Kernel, canonical, settle_kernel


class KernelMachine(BaseEstimator):
    """A classifier with kernel parameters, and with support vectors once it is fitted."""

    kernel: str | Callable
    degree: float
    coef0: float
    normalize: bool
    support_: np.ndarray  # known before the kernel is kept

    def _points(self, X):
        """Return validated training points; a precomputed kernel is a square matrix."""
        X = canonical(X)
        if self.kernel != "precomputed":
            return X
        if X.shape[0] != X.shape[1]:
            raise ValueError(
                f"A precomputed kernel should be a square matrix, but X has shape {X.shape}."
            )
        return X.toarray() if sparse.issparse(X) else X

    def _settle_kernel(self, X, gamma, fit_intercept) -> Kernel:
        return settle_kernel(
            self.kernel,
            X,
            gamma=gamma,
            degree=self.degree,
            coef0=self.coef0,
            normalize=self.normalize,
            fit_intercept=fit_intercept,
        )

    def _keep_kernel(self, X, kernel: Kernel) -> None:
        """Keep what predictions need of it, as plain arrays and numbers."""
        self.gamma_ = kernel.gamma
        self.constant_ = kernel.constant
        self.origin_ = np.asarray(kernel.origin)
        if self.kernel == "precomputed":
            self.support_vectors_ = np.empty((len(self.support_), 0))
            self._mean_square = float(np.mean(np.diagonal(X))) + kernel.constant
        else:
            self.support_vectors_ = X[self.support_]

    def _fitted_kernel(self) -> Kernel:
        return Kernel(
            self.kernel,
            gamma=self.gamma_,
            degree=self.degree,
            coef0=self.coef0,
            normalize=self.normalize,
            constant=self.constant_,
            origin=self.origin_,
        )

    def _kernel_outputs(
        self,
        X,
        columns: np.ndarray,
        single: bool = False,
        n_jobs: int | None = None,
        unit: bool = True,
    ) -> Iterator[np.ndarray]:
        """Yield the outputs of hypotheses, one a column, at blocks of validated points.

        They are those at points of unit length in feature space, unless told otherwise.
        """
        X = canonical(X)
        if self.kernel == "precomputed":
            length = (np.sqrt(self._mean_square) if unit else 1.0) or 1.0
            return precomputed_outputs(X, self.support_, columns, self.constant_, length)
        kernel = self._fitted_kernel()
        if hasattr(self, "cell_centers_"):
            return iter(
                [cell_outputs(kernel, X, self.support_vectors_, columns, self.cell_centers_)]
            )
        return outputs(kernel, X, self.support_vectors_, columns, single, n_jobs, unit)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = self.kernel == "precomputed"
        return tags
