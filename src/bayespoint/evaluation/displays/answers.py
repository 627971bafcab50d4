"""The predictions of a classifier, also where it would reject them."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ...classifiers.reject.confidence import confidence_of
from ...classifiers.reject.option import RejectOptionClassifier


class Answers(NamedTuple):
    """Predictions with their confidences, and the threshold of a reject option."""

    labels: np.ndarray
    confidence: np.ndarray
    classifier: Any  # without its reject option
    threshold: float | None  # None without a reject option
    max_error: float | None  # NaN if nothing was promised


def collect_answers(estimator, X) -> Answers:
    """Return the answers of a fitted classifier, also for rows that it rejects."""
    check_is_fitted(estimator)
    classifier, threshold, max_error = estimator, None, None
    if isinstance(estimator, RejectOptionClassifier):
        classifier = estimator.estimator_
        threshold, max_error = estimator.threshold_, estimator.certified_error_
    labels = classifier.predict(X)
    if not np.isin(labels, classifier.classes_).all():
        raise ValueError(
            f"{type(estimator).__name__} predicts labels that are not among its classes "
            f"{classifier.classes_}. If it contains a RejectOptionClassifier, pass only that one, "
            "or wrap everything in it."
        )
    return Answers(labels, confidence_of(classifier, X), classifier, threshold, max_error)
