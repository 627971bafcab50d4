"""Refuse rows that are unlike the training rows, here and among the held-out rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

NOT_CALIBRATED_MESSAGE = (
    "max_novelty={} needs the novelty of the held-out rows, which this model does not keep. Fit it "
    "with max_novelty; 1 refuses nothing, and allows other values later."
)


class NoveltyOfEstimator:
    """A classifier around another one, `estimator_`, that may know the novelty of rows."""

    estimator_: Any

    def novelty(self, X):
        """Return how unlike the training rows each row is, from 0 to 1.

        Parameters
        ----------
        X : array of shape (n_samples, n_features)
            Points.

        Returns
        -------
        ndarray of shape (n_samples,)
            The estimator's `novelty`.
        """
        check_is_fitted(self, "estimator_")
        return novelty_of(self.estimator_, X)


def novelty_of(classifier, X) -> np.ndarray:
    """Return the novelty of rows, from the classifier inside pipelines and searches."""
    if isinstance(classifier, FrozenEstimator):
        return novelty_of(classifier.estimator, X)
    if hasattr(classifier, "best_estimator_"):
        return novelty_of(classifier.best_estimator_, X)
    if isinstance(classifier, Pipeline):
        for _, step in classifier.steps[:-1]:
            X = X if step in (None, "passthrough") else step.transform(X)
        return novelty_of(classifier.steps[-1][1], X)
    if not hasattr(classifier, "novelty"):
        raise TypeError(
            "Novelty needs a classifier with the method novelty, BayesPointClassifier or "
            f"LinearBayesPointClassifier, but this is {type(classifier).__name__}."
        )
    return classifier.novelty(X)


def refuses_novel_rows(option) -> bool:
    """Tell whether a reject option refuses rows for their novelty."""
    # Other reject options, which an evaluation may meet, have no such parameter.
    limit = getattr(option, "max_novelty", None)
    return limit is not None and limit < 1


def is_familiar(option, X, novelty: np.ndarray | None = None) -> np.ndarray | bool:
    """Return which rows are not refused for their novelty; compute it unless it is given."""
    if not refuses_novel_rows(option):
        return True
    found = novelty_of(option.estimator_, X) if novelty is None else novelty
    return found <= option.max_novelty


def was_familiar(option) -> np.ndarray:
    """Return which held-out rows are not refused for their novelty."""
    n_rows = len(option.calibration_confidence_)
    if not refuses_novel_rows(option):
        return np.ones(n_rows, dtype=bool)
    novelty = getattr(option, "calibration_novelty_", None)
    if novelty is None:
        raise ValueError(NOT_CALIBRATED_MESSAGE.format(option.max_novelty))
    return novelty <= option.max_novelty
