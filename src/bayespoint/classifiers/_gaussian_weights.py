"""Answers of a classifier whose weights have a Gaussian posterior."""

from __future__ import annotations

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from .._runtime.threads import one_blas_thread
from ..fitting.probabilities import two_classes
from ..geometry.points import canonical
from ..solvers.weights.belief import Belief
from ..solvers.weights.multiclass import class_weights, probabilities, scores
from ..solvers.weights.outputs import outputs
from ..solvers.weights.points import centered
from ..solvers.weights.units import require_near
from ._losses import least_costly


class GaussianWeightsMixin:
    """Predictions, their spread, and draws, from the natural parameters of a posterior.

    A classifier with this mixin has `noise_variance`, `classes_`, `n_features_in_`,
    `covariance_`, `center_`, and the posterior in `_precision` and `_shift`.
    """

    noise_variance: float
    classes_: np.ndarray
    n_features_in_: int
    center_: np.ndarray
    prior_variance_: np.ndarray
    _precision: np.ndarray
    _shift: np.ndarray

    def decision_function(self, X):
        """Return the mean output in units of its standard deviation, noise included.

        With more than two classes, Phi(decision) is the probability of each class.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Points.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_classes)
            Positive for the second class if there are two, else largest for the predicted
            class.
        """
        if self._n_classes() > 2:
            return probabilities.decisions(self._log_probabilities(X))
        mean, variance = self._outputs(X)
        deviation = np.sqrt(variance + self.noise_variance)
        return mean / np.where(deviation > 0, deviation, 1.0)

    def decision_std(self, X):
        """Return the standard deviation of <w, x>, which more data would lower.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Points.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_classes)
            Standard deviations, without the noise.
        """
        return np.sqrt(self._outputs(X)[1])

    def predict_proba(self, X):
        """Return the probability of each class, averaged over all weights.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Points.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Probabilities in the order of `classes_`.
        """
        if self._n_classes() > 2:
            return probabilities.probabilities(self._log_probabilities(X))
        return two_classes(self.decision_function(X))

    def predict(self, X, loss=None):
        """Return the class of each point.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Points.
        loss : array-like of shape (n_classes, n_classes), default=None
            Costs, with the true class in rows and the decision in columns. The decision with
            the smallest expected cost is taken; by default, the most probable class.

        Returns
        -------
        ndarray of shape (n_samples,)
            Class labels.
        """
        probabilities = self.predict_proba(X)
        if loss is None:
            return self.classes_[np.argmax(probabilities, axis=1)]
        return self.classes_[least_costly(probabilities, loss)]

    def sample_coef(self, n_samples=1, random_state=None):
        """Return weights drawn from the posterior.

        Parameters
        ----------
        n_samples : int, default=1
            Number of draws.
        random_state : int, RandomState instance or None, default=None
            Seed.

        Returns
        -------
        ndarray of shape (n_samples, n_weights) or (n_samples, n_classes, n_weights)
            Weights, the intercept last.
        """
        n_classes, belief = self._n_classes(), self._belief()
        rng = check_random_state(random_state)
        draws = belief.mean() + belief.scatter(rng.standard_normal((n_samples, len(belief.shift))))
        if n_classes > 2:
            draws = class_weights.basis(n_classes) @ draws.reshape(n_samples, n_classes - 1, -1)
        return from_center(draws, self.center_)

    @property
    def coef_variance_(self):
        """Variances of the weights."""
        n_classes, belief = self._n_classes(), self._belief()
        if n_classes == 2:
            variances = belief.variances()[None]
        else:
            variances = class_weights.class_variances(belief, n_classes)
        return variances[:, : self.n_features_in_]

    @property
    def coef_covariance_(self):
        """Covariance of all weights, class by class; only with "full"."""
        if getattr(self, "covariance_", None) != "full":
            raise AttributeError('coef_covariance_ exists only with covariance="full".')
        n_classes = len(self.classes_)
        if n_classes == 2:
            covariance = self._belief().covariance()
        else:
            covariance = class_weights.class_covariance(self._belief(), n_classes)
        n = len(covariance)
        rows = from_center(covariance.reshape(n, -1, len(self.prior_variance_)), self.center_)
        columns = rows.reshape(n, n).T.reshape(n, -1, len(self.prior_variance_))
        return from_center(columns, self.center_).reshape(n, n)

    def _n_classes(self) -> int:
        check_is_fitted(self)
        return len(self.classes_)

    def _belief(self) -> Belief:
        return Belief(self._precision, self._shift)

    def _means(self) -> np.ndarray:
        """Return the means of the weights, a row for each output, the one at the center last."""
        belief, n_classes = self._belief(), len(self.classes_)
        if n_classes == 2:
            return belief.mean()[None]
        return class_weights.class_means(belief, n_classes)

    def _outputs(self, X) -> tuple[np.ndarray, np.ndarray]:
        """Return mean and variance of the outputs, or of the scores of all classes."""
        n_classes, X = self._n_classes(), self._check_points(X)
        with one_blas_thread():  # on small blocks, more threads only wait for each other
            if n_classes == 2:
                return outputs(X, self._belief())
            return scores.outputs(X, self._belief(), n_classes)

    def _log_probabilities(self, X) -> np.ndarray:
        X, belief, n_classes = self._check_points(X), self._belief(), len(self.classes_)
        with one_blas_thread():
            return probabilities.log_probabilities(X, belief, n_classes, self.noise_variance)

    def _check_points(self, X):
        """Return valid points, measured from the center."""
        X = validate_data(self, X, accept_sparse="csr", dtype=np.float64, reset=False)
        require_near(X, self.center_, self.prior_variance_[: self.n_features_in_])
        return centered(canonical(X), self.center_)


def from_center(weights: np.ndarray, center: np.ndarray) -> np.ndarray:
    """Return weights whose last one is the output at zero, not at the center."""
    d = len(center)
    if weights.shape[-1] == d or not center.any():
        return weights
    return np.concatenate(
        [weights[..., :d], weights[..., d:] - (weights[..., :d] @ center)[..., None]], -1
    )
