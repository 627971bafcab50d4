"""What a classifier says, apart from rejecting."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ...classifiers.reject.confidence import confidence_of
from ...classifiers.reject.option import RejectOptionClassifier


class Answers(NamedTuple):
    """Predictions of a classifier, and from which confidence on they are accepted."""

    labels: np.ndarray
    confidence: np.ndarray
    classifier: Any
    threshold: float | None  # if it is one that rejects
    max_error: float | None  # NaN if nothing was promised


def ask(estimator, X) -> Answers:
    """Return what a fitted classifier says, of rejected rows too."""
    check_is_fitted(estimator)
    classifier, threshold, max_error = estimator, None, None
    if isinstance(estimator, RejectOptionClassifier):
        classifier = estimator.estimator_
        threshold, max_error = estimator.threshold_, estimator.certified_error_
    labels = classifier.predict(X)
    if not np.isin(labels, classifier.classes_).all():
        raise ValueError(
            f"{type(estimator).__name__} predicts labels that are none of its classes "
            f"{classifier.classes_}. If a RejectOptionClassifier is inside, give that one "
            "itself, or put it outside."
        )
    return Answers(labels, confidence_of(classifier, X), classifier, threshold, max_error)
