"""A small network of radial basis functions, the base learner of AdaBoost in 004, table 2.1."""

from __future__ import annotations

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.cluster import KMeans
from sklearn.metrics.pairwise import rbf_kernel

# Added to the diagonal of the normal equations, times the number of points, because centers may
# be close to each other.
RIDGE_PER_POINT = 1e-6


class Network(ClassifierMixin, BaseEstimator):
    """Radial basis functions at cluster centers, fitted by weighted least squares.

    The squared width is half the mean squared distance of standardized points.
    """

    def __init__(self, n_centers: int = 10, random_state=None):
        self.n_centers = n_centers
        self.random_state = random_state

    def fit(self, X, y, sample_weight):
        """Fit centers and coefficients to weighted points."""
        self.classes_ = np.unique(y)
        n_centers = min(self.n_centers, len(np.unique(X, axis=0)))
        clusters = KMeans(n_centers, n_init=1, random_state=self.random_state)
        self.centers_ = clusters.fit(X, sample_weight=sample_weight).cluster_centers_
        features = self._features(X)
        weighted = features * sample_weight[:, None]
        ridge = RIDGE_PER_POINT * sample_weight.sum() * np.eye(features.shape[1])
        target = np.where(y == self.classes_[-1], 1.0, -1.0)
        self.coef_ = np.linalg.solve(weighted.T @ features + ridge, weighted.T @ target)
        return self

    def predict(self, X):
        """Return classes."""
        return self.classes_[(self._features(X) @ self.coef_ > 0).astype(int)]

    def _features(self, X) -> np.ndarray:
        values = rbf_kernel(X, self.centers_, gamma=1 / X.shape[1])
        return np.column_stack([values, np.ones(len(X))])
