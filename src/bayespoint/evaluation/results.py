"""The results of an evaluation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from .intervals import Share, share


class Reliability(NamedTuple):
    """How often rows of about equal confidence are right; one entry per bin."""

    confidence: np.ndarray  # mean of the bin
    right: np.ndarray  # number of rows that are right
    total: np.ndarray
    low: np.ndarray  # exact interval of the share that is right
    high: np.ndarray


class Acceptance(NamedTuple):
    """Accepted rows and their errors if less confident answers are refused, by threshold."""

    threshold: np.ndarray
    accepted: np.ndarray  # number of rows
    errors: np.ndarray
    low: np.ndarray  # exact interval of the error among the accepted rows
    high: np.ndarray


class Promise(NamedTuple):
    """The threshold of a model, and what it promises."""

    threshold: float
    error: Share  # of the accepted rows of this evaluation
    reject_rate: float | None  # as requested
    max_error: float | None
    confidence_level: float | None
    n_calibration: int | None
    strict: bool  # False if the threshold was cross-validated: other classifiers judged the rows


@dataclass(frozen=True)
class Evaluation:
    """How good a classifier is on rows that it has not seen.

    Attributes
    ----------
    classes : ndarray
        The classes of the model, then classes that only occur in the rows.
    n_known : int
        How many of them the model knows.
    target, predicted : ndarray of shape (n_rows,)
        True class and answer of each row, as positions in `classes`.
    confidence : ndarray of shape (n_rows,)
        The largest probability of each row.
    confidence_level : float
        Confidence level of all intervals.
    error : Share
        Rows whose most probable class is wrong.
    log_loss, brier : float
        Means over the rows. For two classes the Brier score is half the sum over both, as
        in scikit-learn.
    confusion : ndarray of shape (n_classes, n_classes)
        Number of rows with true class i and answer j.
    reliability : Reliability
    rejection : Acceptance
        At most 200 thresholds. The first rejects nothing, and the model's own threshold is
        among them.
    promise : Promise or None
        For models with a reject option that refuses rows or makes a promise.
    """

    classes: np.ndarray
    n_known: int
    target: np.ndarray
    predicted: np.ndarray
    confidence: np.ndarray
    confidence_level: float
    error: Share
    log_loss: float
    brier: float
    confusion: np.ndarray
    reliability: Reliability
    rejection: Acceptance
    promise: Promise | None = None

    @property
    def n_rows(self) -> int:
        """Return the number of rows."""
        return len(self.target)

    @property
    def wrong(self) -> np.ndarray:
        """Return which rows are answered wrongly."""
        return self.target != self.predicted

    def at(self, threshold: float) -> Share:
        """Return the error among rows with at least this confidence."""
        accepted = self.confidence >= threshold
        return share(np.count_nonzero(self.wrong & accepted), accepted.sum(), self.confidence_level)

    def to_dict(self) -> dict[str, Any]:
        """Return everything except single rows, ready for JSON."""
        return {
            "n_rows": self.n_rows,
            "classes": self.classes.tolist(),
            "confidence_level": self.confidence_level,
            "error": _share_to_dict(self.error),
            "log_loss": self.log_loss,
            "brier": self.brier,
            "confusion": self.confusion.tolist(),
            "reliability": _columns_to_dict(self.reliability),
            "rejection": _columns_to_dict(self.rejection),
            "promise": None if self.promise is None else _promise_to_dict(self.promise),
        }


def _promise_to_dict(promise: Promise) -> dict[str, Any]:
    return promise._asdict() | {
        "threshold": _finite(promise.threshold),
        "error": _share_to_dict(promise.error),
    }


def _share_to_dict(error: Share) -> dict[str, Any]:
    return {
        "count": error.number,
        "total": error.total,
        "value": _finite(error.value),
        "low": error.low,
        "high": error.high,
    }


def _columns_to_dict(table) -> dict[str, list]:
    return {name: column.tolist() for name, column in table._asdict().items()}


def _finite(value: float) -> float | None:
    """Return None for infinities and NaN, which JSON does not have."""
    return value if np.isfinite(value) else None
