"""How certain a classifier is of its predictions."""

from __future__ import annotations

import numpy as np
from sklearn.utils.validation import column_or_1d

from .decision import decide, probability_of


def confidence_of(classifier, X, costs=None) -> np.ndarray:
    """Return the probability of the answer, or the lead of the winning decision value."""
    if costs is not None:
        probability = classifier.predict_proba(X)
        return check_confidence(probability_of(probability, decide(probability, costs)))
    if hasattr(classifier, "predict_proba"):
        return check_confidence(np.max(classifier.predict_proba(X), axis=1))
    output = np.asarray(classifier.decision_function(X))
    if output.ndim == 1:
        return check_confidence(np.abs(output))
    if output.shape[1] != len(classifier.classes_):
        raise ValueError(
            f"decision_function should have a column for each of {len(classifier.classes_)} "
            f"classes, but has {output.shape[1]}. Use decision_function_shape='ovr'."
        )
    second, first = np.partition(output, -2, axis=1)[:, -2:].T
    return check_confidence(first - second)


def check_confidence(confidence) -> np.ndarray:
    """Return confidences as an array; raise if it is empty or holds NaN."""
    confidence = column_or_1d(np.asarray(confidence, dtype=float))
    if not len(confidence) or np.isnan(confidence).any():
        raise ValueError(
            "confidence should hold a number for each prediction, but it is "
            + ("empty." if not len(confidence) else "NaN for some.")
        )
    return confidence
