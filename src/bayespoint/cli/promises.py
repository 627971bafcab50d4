"""Which errors a model can promise, and for how many rows."""

from __future__ import annotations

import warnings

from ..classifiers.reject.option import RejectOptionClassifier

# Limits of the error that `train` tries.
MAX_ERRORS_SHOWN = (0.2, 0.1, 0.05, 0.02, 0.01)


def coverage_at(model: RejectOptionClassifier, max_error: float) -> float:
    """Return the share of held-out rows that is answered if this error is promised."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.at(max_error=max_error).coverage_


def smallest_promise(model: RejectOptionClassifier) -> tuple[float, float] | None:
    """Return the smallest error of those in the summary that can be promised, and its coverage."""
    for max_error in sorted(MAX_ERRORS_SHOWN):
        if (coverage := coverage_at(model, max_error)) > 0:
            return max_error, coverage
    return None
