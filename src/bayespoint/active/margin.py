"""How undecided a classifier is between its two best classes."""

from __future__ import annotations

import numpy as np


def margin(model, X, rng=None) -> np.ndarray:
    """Return minus the lead of the best class over the second, for each row."""
    if hasattr(model, "predict_proba"):
        return lead_to_margin(model.predict_proba(X))
    output = np.asarray(model.decision_function(X))
    return -np.abs(output) if output.ndim == 1 else lead_to_margin(output)


def lead_to_margin(scores: np.ndarray) -> np.ndarray:
    """Return minus the difference of the two largest scores of each row."""
    second, first = np.partition(scores, -2, axis=1)[:, -2:].T
    return second - first
