"""Two Gaussian classes, for which the error of every linear classifier is known."""

from __future__ import annotations

import numpy as np
from scipy.special import ndtr
from sklearn.utils import check_random_state

from ._checks import check_at_least, check_finite


class TwoGaussians:
    """Two equally probable Gaussian classes with the same covariance.

    The best classifier is linear, and the error of every linear classifier has a closed
    form. This makes the problem useful for tests of bounds and for examples.

    Parameters
    ----------
    mean : array-like of shape (n_features,)
        Mean of class +1.
    other_mean : array-like of shape (n_features,), default=None
        Mean of class -1, by default minus the mean of class +1.
    covariance : array-like of shape (n_features, n_features), default=None
        Covariance of both classes, positive definite; by default the identity.

    Attributes
    ----------
    coef : ndarray of shape (n_features,)
        Weights of the best classifier.
    intercept : float
        Its intercept. <coef, x> + intercept is the log odds of class +1.
    bayes_error : float
        Its error. No classifier has a smaller one.

    References
    ----------
    Smola, Bartlett, Schölkopf, Schuurmans (2000), Introduction to large margin classifiers,
    example 1.1 and eq. 1.9 (its density, eq. 1.6, should have 2 pi in place of 2 sigma).

    Examples
    --------
    >>> from bayespoint.datasets import TwoGaussians
    >>> problem = TwoGaussians([1.0, 0.0])
    >>> X, y = problem.draw(100, random_state=0)
    >>> round(problem.bayes_error, 4)
    0.1587
    >>> round(problem.error([1.0, 1.0]), 4)  # 45 degrees off
    0.2398
    """

    def __init__(self, mean, other_mean=None, covariance=None):
        self.mean = check_finite("mean", mean)
        self.other_mean = (
            -self.mean if other_mean is None else check_finite("other_mean", other_mean)
        )
        n = self.mean.size
        self.covariance = (
            np.eye(n) if covariance is None else check_finite("covariance", covariance)
        )
        shapes = self.mean.shape, self.other_mean.shape, self.covariance.shape
        if not n or shapes != ((n,), (n,), (n, n)):
            raise ValueError(
                "The means should have one entry per feature, and the covariance one row and one "
                f"column, but they have the shapes {shapes[0]}, {shapes[1]} and {shapes[2]}."
            )
        try:
            if not np.allclose(self.covariance, self.covariance.T):
                raise np.linalg.LinAlgError
            self._factor = np.linalg.cholesky(self.covariance)
        except np.linalg.LinAlgError:
            raise ValueError(
                "covariance should be symmetric and positive definite, but is not."
            ) from None
        self.coef = np.linalg.solve(self.covariance, self.mean - self.other_mean)
        self.intercept = float(-self.coef @ (self.mean + self.other_mean) / 2)
        distance = float(np.sqrt(self.coef @ (self.mean - self.other_mean)))
        self.bayes_error = float(ndtr(-distance / 2))

    def draw(self, n_samples: int, random_state=None) -> tuple[np.ndarray, np.ndarray]:
        """Draw points of both classes, each with probability one half.

        Parameters
        ----------
        n_samples : int
            Number of points, at least 1.
        random_state : int, RandomState instance or None, default=None
            Seed.

        Returns
        -------
        X : ndarray of shape (n_samples, n_features)
            Points.
        y : ndarray of shape (n_samples,)
            Labels, -1 and +1. If there are few points, all may have the same label.
        """
        check_at_least("n_samples", n_samples, 1)
        rng = check_random_state(random_state)
        y = rng.choice([-1, 1], n_samples)
        noise = rng.standard_normal((n_samples, len(self.mean)))
        return np.where(y[:, None] > 0, self.mean, self.other_mean) + noise @ self._factor.T, y

    def error(self, coef, intercept: float = 0.0) -> float:
        """Return the error of the classifier sign(<coef, x> + intercept).

        Parameters
        ----------
        coef : array-like of shape (n_features,)
            Weights, not all zero.
        intercept : float, default=0.0
            Intercept.

        Returns
        -------
        float
            Probability that its answer is wrong.
        """
        coef = check_finite("coef", coef).ravel()
        if coef.shape != self.mean.shape or not coef.any():
            raise ValueError(
                f"coef should have {len(self.mean)} entries, not all zero, but is {coef}."
            )
        deviation = np.linalg.norm(coef @ self._factor)
        outputs = coef @ self.mean + intercept, -(coef @ self.other_mean + intercept)
        return float(np.mean(ndtr(-np.array(outputs) / deviation)))
