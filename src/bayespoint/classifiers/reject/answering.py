"""How a fitted reject option answers, and when it does not."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from sklearn.metrics import accuracy_score
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import _estimator_has, check_is_fitted, column_or_1d

from .confidence import confidence_of
from .decision import answers
from .groups import UNKNOWN, group_codes, group_values
from .labels import choose_reject_label, decide, mark_rejected
from .novelty import is_familiar, refuses_novel_rows


def may_reject(option) -> bool:
    """Tell whether a fitted reject option can refuse a row."""
    by_group = getattr(option, "group_thresholds_", None) is not None
    return option.threshold_ > -math.inf or by_group or refuses_novel_rows(option)


class Answering:
    """The predictions of `RejectOptionClassifier`."""

    estimator_: Any
    threshold_: float
    groups: str | int | None
    groups_: np.ndarray
    costs: Any
    reject_label: Any

    @property
    def classes_(self):
        """The class labels; the label of rejected rows is not among them."""
        check_is_fitted(self, "estimator_")
        return self.estimator_.classes_

    def confidence(self, X):
        """Return the confidences that are compared with the threshold.

        Parameters
        ----------
        X : array of shape (n_samples, n_features)
            Points.

        Returns
        -------
        ndarray of shape (n_samples,)
            The largest probability; see `calibration_confidence_` if there is none.
        """
        check_is_fitted(self, "estimator_")
        return confidence_of(self.estimator_, X, self.costs)

    def accept(self, X):
        """Return which predictions are certain enough, for rows that are not too novel.

        Parameters
        ----------
        X : array of shape (n_samples, n_features)
            Points.

        Returns
        -------
        ndarray of bool of shape (n_samples,)
        """
        check_is_fitted(self, "threshold_")
        return self.accepts(X, self.confidence(X))

    def accepts(self, X, confidence, answer=None, novelty=None):
        """Return which predictions are certain enough, if their confidence is known already.

        Parameters
        ----------
        X : array of shape (n_samples, n_features)
            Points.
        confidence : ndarray of shape (n_samples,)
            What `confidence` returns.
        answer : ndarray of shape (n_samples,), default=None
            The answers before any is rejected, if they are known already.
        novelty : ndarray of shape (n_samples,), default=None
            What `novelty` returns, if it is known already.

        Returns
        -------
        ndarray of bool of shape (n_samples,)
        """
        thresholds = getattr(self, "group_thresholds_", None)  # older models have none
        if thresholds is None:
            return (confidence >= self.threshold_) & is_familiar(self, X, novelty)
        if answer is None:
            answer = answers(self.estimator_, X, self.costs)
        codes = group_codes(self.groups_, group_values(self.groups, X, answer))
        # Nothing is promised for a group that no held-out row was in.
        certain = (confidence >= thresholds[codes]) & (codes != UNKNOWN)
        return certain & is_familiar(self, X, novelty)

    def predict(self, X, loss=None):
        """Predict classes, or the reject label where they are uncertain.

        Parameters
        ----------
        X : array of shape (n_samples, n_features)
            Points.
        loss : array-like of shape (n_classes, n_classes + 1), default=None
            Costs, with the true class in rows and the decision in columns; the last column is
            the cost of a refusal. With it, the decision with the smallest expected cost under
            `predict_proba` is taken instead of the threshold, and nothing is promised.

        Returns
        -------
        ndarray of shape (n_samples,)
            Labels. They have the dtype of the classes if everything is accepted, otherwise
            a dtype that holds both the classes and the reject label.
        """
        check_is_fitted(self, "threshold_")
        label = choose_reject_label(self.reject_label, self.classes_)
        if loss is not None:
            return decide(self.predict_proba(X), loss, self.classes_, label)
        labels = answers(self.estimator_, X, self.costs)
        if not may_reject(self):
            return labels
        return mark_rejected(labels, ~self.accepts(X, self.confidence(X), labels), label)

    @available_if(_estimator_has("predict_proba"))
    def predict_proba(self, X):
        """Return the classifier's probabilities, also for rejected rows.

        Parameters
        ----------
        X : array of shape (n_samples, n_features)
            Points.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
        """
        check_is_fitted(self, "estimator_")
        return self.estimator_.predict_proba(X)

    @available_if(_estimator_has("decision_function"))
    def decision_function(self, X):
        """Return the classifier's decision function, also for rejected rows.

        Parameters
        ----------
        X : array of shape (n_samples, n_features)
            Points.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_classes)
        """
        check_is_fitted(self, "estimator_")
        return self.estimator_.decision_function(X)

    def score(self, X, y, sample_weight=None):
        """Return the accuracy on accepted rows.

        Parameters
        ----------
        X : array of shape (n_samples, n_features)
            Points.
        y : array-like of shape (n_samples,)
            Their classes.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the points.

        Returns
        -------
        float
            NaN if nothing is accepted, which a grid search ranks last. To compare settings
            that accept different shares, look at `rejection_curve`.
        """
        accepted = self.accept(X)
        if not accepted.any():
            return math.nan
        y, labels = column_or_1d(y), answers(self.estimator_, X, self.costs)
        if sample_weight is not None:
            sample_weight = np.asarray(sample_weight)[accepted]
        return accuracy_score(y[accepted], labels[accepted], sample_weight=sample_weight)
