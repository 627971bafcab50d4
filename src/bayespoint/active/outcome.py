"""What a session ends with: a label for every row, and a classifier that refuses."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from sklearn.frozen import FrozenEstimator
from sklearn.utils import _safe_indexing

from ..classifiers.reject.option import RejectOptionClassifier
from .answers import NO_ANSWER, Answers
from .promise import Progress

__all__ = ["Predictions"]


class Predictions(NamedTuple):
    """What is known about every row of the pool.

    Examples
    --------
    >>> from bayespoint import active
    >>> session = active.Session(None, [[0.0], [1.0], [2.0]], random_state=0)
    >>> session.tell(0, "no")
    >>> session.tell(2, "yes")
    >>> session.predict().label
    array(['no', None, 'yes'], dtype=object)
    """

    label: np.ndarray  # the person's label, or the model's; None if there is neither
    probability: np.ndarray  # of this label, as the model says; NaN if it does not say
    answered: np.ndarray  # bool: a label of the model that is covered by the promise
    source: np.ndarray  # "person", "model" or "refused"


def predictions(X, answers: Answers, model: Any, certified: Progress | None) -> Predictions:
    """Return the label of every row and where it comes from."""
    codes = answers.codes
    n_rows = len(codes)
    label = np.full(n_rows, None, dtype=object)
    probability = np.full(n_rows, np.nan)
    answered = np.zeros(n_rows, dtype=bool)
    source = np.full(n_rows, "refused", dtype=object)
    if model is not None:
        label[:] = model.predict(X)
        if hasattr(model, "predict_proba"):
            probability = model.predict_proba(X).max(axis=1)
    if certified is not None:
        rows = certified.sample.rows[codes[certified.sample.rows] == NO_ANSWER]
        answered[rows] = True
        source[rows] = "model"
    for row in np.flatnonzero(codes >= 0).tolist():
        label[row], source[row], probability[row] = answers.labels[row], "person", np.nan
    return Predictions(label, probability, answered, source)


def reject_option(
    X, answers: Answers, certified: Progress, max_error: float, confidence_level: float
) -> RejectOptionClassifier:
    """Return the certified model as a classifier that refuses below the certified threshold."""
    sample, codes = certified.sample, answers.codes
    model = sample.checkpoint.model
    seen = sample.rows[: certified.n_seen]
    judged = seen[codes[seen] != NO_ANSWER]
    option = RejectOptionClassifier(
        FrozenEstimator(model), max_error=max_error, confidence_level=confidence_level
    )
    # A rate of zero fits all but the threshold, which the session has chosen and certified.
    y = np.where(codes[judged] >= 0, answers.classes_of(codes[judged]), model.classes_[0])
    option.reject_rate, option.max_error = 0.0, None
    option.fit(_safe_indexing(X, judged), y)
    option.reject_rate, option.max_error = None, max_error
    option.calibration_correct_ = codes[judged] == sample.checkpoint.codes[judged]
    option.threshold_, option.certified_error_ = sample.threshold, float(max_error)
    option.coverage_ = certified.n_rest / max(1, int(np.sum(codes == NO_ANSWER)))
    return option
