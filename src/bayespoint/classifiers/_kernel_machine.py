"""Common base of classifiers with a kernel: from its parameters to outputs at new points."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from numbers import Real

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from .._runtime.old_pickles import OldPickles
from ..fitting.outputs import cell_outputs, outputs, precomputed_outputs
from ..geometry.kernels import GAMMA_KERNELS, KERNELS, Kernel
from ..geometry.points import canonical
from ..geometry.settle import settle_kernel
from ._labels import drop_single_output, winning_class


class KernelMachine(OldPickles, ClassifierMixin, BaseEstimator):
    """A classifier with kernel parameters, and with support vectors once it is fitted."""

    _parameter_constraints: dict = {
        "kernel": [StrOptions(set(KERNELS)), callable],
        "gamma": [StrOptions({"auto", "scale"}), Interval(Real, 0, None, closed="neither")],
        "degree": [Interval(Real, 0, None, closed="left")],
        "coef0": [Interval(Real, None, None, closed="neither")],
        "fit_intercept": ["boolean", StrOptions({"auto"})],
        "normalize": ["boolean"],
    }

    classes_: np.ndarray
    kernel: str | Callable
    gamma: float | str
    degree: float
    coef0: float
    normalize: bool
    support_: np.ndarray  # set before the kernel is stored

    def decision_function(self, X):
        """Return the output at each point.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Points; for a precomputed kernel their kernel with the training points.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_classes)
            Positive for the second of two classes; with more, largest for the predicted class.
        """
        check_is_fitted(self)
        return drop_single_output(self._decide(X))

    def predict(self, X):
        """Return the class of each point.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Points; for a precomputed kernel their kernel with the training points.

        Returns
        -------
        ndarray of shape (n_samples,)
            The classes with the largest output, which is also the largest probability.
        """
        check_is_fitted(self)
        return self.classes_[winning_class(self._decide(X))]

    def _decide(self, X) -> np.ndarray:
        """Return the decision function with one column for each output."""
        raise NotImplementedError

    def _check_points(self, X):
        """Return canonical training points; a precomputed kernel must be a square matrix."""
        X = canonical(X)
        if self.kernel != "precomputed":
            return X
        if X.shape[0] != X.shape[1]:
            raise ValueError(
                f"A precomputed kernel should be a square matrix, but X has shape {X.shape}."
            )
        return X.toarray() if sparse.issparse(X) else X

    @property
    def _kernel_name(self) -> str | Callable:
        """Return the kernel that a fit chose, or the user's."""
        return getattr(self, "kernel_", self.kernel)

    def _given_gamma(self) -> float | str:
        """Return the user's gamma; 1 for kernels without it, which then have nothing to choose."""
        return self.gamma if self.kernel in ("auto", *GAMMA_KERNELS) else 1.0

    def _settle_kernel(self, X, gamma, fit_intercept, weight=None) -> Kernel:
        """Return the kernel with everything that depends on the training points."""
        return settle_kernel(
            self._kernel_name,
            X,
            gamma=gamma,
            degree=self.degree,
            coef0=self.coef0,
            normalize=self.normalize,
            fit_intercept=fit_intercept,
            weight=weight,
        )

    def _store_kernel(self, X, kernel: Kernel, weight: np.ndarray | None = None) -> None:
        """Store what predictions need of the kernel, as plain arrays and numbers."""
        self.gamma_ = kernel.gamma
        self.constant_ = kernel.constant
        self.origin_ = np.asarray(kernel.origin)
        if self.kernel == "precomputed":
            self.support_vectors_ = np.empty((len(self.support_), 0))
            squares = np.diagonal(X)
            self._mean_square = float(np.average(squares, weights=weight)) + kernel.constant
        else:
            self.support_vectors_ = X[self.support_]

    def _fitted_kernel(self) -> Kernel:
        return Kernel(
            self._kernel_name,
            gamma=self.gamma_,
            degree=self.degree,
            coef0=self.coef0,
            normalize=self.normalize,
            constant=self.constant_,
            origin=self.origin_,
            mixture=getattr(self, "mixture_", None),
        )

    def _kernel_outputs(
        self,
        X,
        columns: np.ndarray,
        single: bool = False,
        n_jobs: int | None = None,
        unit: bool = True,
    ) -> Iterator[np.ndarray]:
        """Yield the outputs of hypotheses, one in each column, at blocks of validated points.

        By default points are scaled to unit length in feature space.
        """
        X = canonical(X)
        if self.kernel == "precomputed":
            length = (np.sqrt(self._mean_square) if unit else 1.0) or 1.0
            return precomputed_outputs(X, self.support_, columns, self.constant_, length, n_jobs)
        kernel = self._fitted_kernel()
        if hasattr(self, "cell_centers_"):
            points, centers = self.support_vectors_, self.cell_centers_
            return iter([cell_outputs(kernel, X, points, columns, centers, n_jobs)])
        return outputs(kernel, X, self.support_vectors_, columns, single, n_jobs, unit)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = self.kernel == "precomputed"
        return tags
