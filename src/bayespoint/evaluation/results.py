"""The results of an evaluation."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from .cost import MeanCost, mean_cost
from .intervals import Share, share
from .ranking import ClassQuality, Estimate, class_quality
from .seen import SeenRows
from .verdict import verdict

# `to_dict` describes every class up to this many.
MAX_CLASSES_DESCRIBED = 100


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


class Kept(NamedTuple):
    """A promise about accepted rows, and what the rows of an evaluation say about it."""

    name: str  # error, false positive rate, false negative rate, cost
    limit: float
    value: float  # NaN if no row counts
    low: float  # interval of the true value
    high: float
    n_rows: int  # that count

    @property
    def broken(self) -> bool:
        """Tell whether the value is above the limit by more than chance explains."""
        return self.n_rows > 0 and self.low > self.limit


class GroupAnswers(NamedTuple):
    """How the rows of a group are answered."""

    group: str
    n_rows: int
    error: Share  # of the accepted rows
    kept: tuple[Kept, ...]
    threshold: float
    reason: str  # why all rows of the group are refused; empty if they are not


class Promise(NamedTuple):
    """The threshold of a model, and what it promises."""

    threshold: float
    error: Share  # of the accepted rows of this evaluation
    reject_rate: float | None  # as requested
    max_error: float | None
    confidence_level: float | None
    n_calibration: int | None
    strict: bool  # False if the threshold was cross-validated: other classifiers judged the rows
    kept: tuple[Kept, ...] = ()  # all promises
    by: str | None = None  # what makes the groups, in words; None if there are none
    groups: tuple[GroupAnswers, ...] = ()  # intervals hold in all of them together


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
    probability : ndarray of shape (n_rows, n_known)
        Probabilities of the classes that the model knows.
    confidence : ndarray of shape (n_rows,)
        The probability of each answer: the largest one, unless costs decide the answers.
    confidence_level : float
        Confidence level of all intervals.
    error : Share
        Rows with a wrong answer.
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
    costs : ndarray of shape (n_known, n_known) or None
        The cost of each answer (column) for each true class (row), if they decide the answers.
    seen : SeenRows or None
        How many of the rows the model was trained with; None if that is not known.
    """

    classes: np.ndarray
    n_known: int
    target: np.ndarray
    predicted: np.ndarray
    probability: np.ndarray
    confidence: np.ndarray
    confidence_level: float
    error: Share
    log_loss: float
    brier: float
    confusion: np.ndarray
    reliability: Reliability
    rejection: Acceptance
    promise: Promise | None = None
    costs: np.ndarray | None = None
    seen: SeenRows | None = None

    @property
    def n_rows(self) -> int:
        """Return the number of rows."""
        return len(self.target)

    @property
    def wrong(self) -> np.ndarray:
        """Return which rows are answered wrongly."""
        return self.target != self.predicted

    @cached_property
    def per_class(self) -> tuple[ClassQuality, ...]:
        """Return recall, precision and ranking of each class that the model knows."""
        return tuple(
            class_quality(
                k, self.target, self.predicted, self.probability[:, k], self.confidence_level
            )
            for k in range(self.n_known)
        )

    @property
    def rare(self) -> int | None:
        """Return the position of the rarer of two classes; None for more classes."""
        if self.n_known != 2:
            return None
        first, second = np.bincount(self.target, minlength=2)[:2]
        return int(second <= first)

    @property
    def ranking(self) -> ClassQuality | None:
        """Return how well the rarer of two classes is found; None for more classes."""
        return None if self.rare is None else self.per_class[self.rare]

    @property
    def auc(self) -> Estimate:
        """Return the area under the ROC curve; for more classes the mean of one against the rest.

        The mean is over the classes that the rows have, and has no interval.
        """
        if self.ranking is not None:
            return self.ranking.auc
        values = [one.auc.value for one in self.per_class if not np.isnan(one.auc.value)]
        return Estimate(float(np.mean(values)) if values else np.nan, np.nan, np.nan)

    @property
    def balanced_accuracy(self) -> float:
        """Return the mean recall of the classes that the rows have."""
        counts = self.confusion.sum(axis=1)
        return float(np.mean(np.diag(self.confusion)[counts > 0] / counts[counts > 0]))

    @property
    def majority(self) -> Share:
        """Return the error of always answering with the most frequent class of the rows."""
        n_wrong = self.n_rows - int(np.bincount(self.target).max())
        return share(n_wrong, self.n_rows, self.confidence_level)

    @cached_property
    def cost(self) -> MeanCost | None:
        """Return the mean cost of a row, and what one constant answer would cost."""
        if self.costs is None:
            return None
        return mean_cost(self.costs, self.target, self.predicted, self.confidence_level)

    def verdict(self) -> list[str]:
        """Return sentences about a model that needs a warning; none if it is fine."""
        return verdict(self)

    def __repr__(self) -> str:
        level = f"{100 * self.confidence_level:g} %"
        return (
            f"<Evaluation: error {100 * self.error.value:.1f} % ({level} interval "
            f"{100 * self.error.low:.1f} to {100 * self.error.high:.1f} %) on {self.n_rows:,} rows"
            f" of {len(self.classes)} classes; log loss {self.log_loss:.3f}"
            f"{'' if np.isnan(self.auc.value) else f', AUC {self.auc.value:.3f}'}>"
        )

    def at(self, threshold: float) -> Share:
        """Return the error among rows with at least this confidence."""
        return self.among(self.confidence >= threshold)

    def among(self, accepted: np.ndarray) -> Share:
        """Return the error among the rows that are marked."""
        return share(np.count_nonzero(self.wrong & accepted), accepted.sum(), self.confidence_level)

    def to_dict(self) -> dict[str, Any]:
        """Return everything except single rows, ready for JSON."""
        return {
            "n_rows": self.n_rows,
            "classes": self.classes.tolist(),
            "confidence_level": self.confidence_level,
            "error": _share_to_dict(self.error),
            "majority_error": self.majority.value,
            "log_loss": self.log_loss,
            "brier": self.brier,
            "auc": {name: _finite(value) for name, value in self.auc._asdict().items()},
            "balanced_accuracy": self.balanced_accuracy,
            "per_class": _classes_to_dict(self),
            "verdict": self.verdict(),
            "cost": None if self.cost is None else self.cost._asdict(),
            "seen": None if self.seen is None else self.seen.to_dict(),
            "confusion": self.confusion.tolist(),
            "reliability": _columns_to_dict(self.reliability),
            "rejection": _columns_to_dict(self.rejection),
            "promise": None if self.promise is None else _promise_to_dict(self.promise),
        }


def _promise_to_dict(promise: Promise) -> dict[str, Any]:
    return promise._asdict() | {
        "threshold": _finite(promise.threshold),
        "error": _share_to_dict(promise.error),
        "kept": [_kept_to_dict(one) for one in promise.kept],
        "groups": [
            one._asdict()
            | {
                "threshold": _finite(one.threshold),
                "error": _share_to_dict(one.error),
                "kept": [_kept_to_dict(each) for each in one.kept],
            }
            for one in promise.groups
        ],
    }


def _kept_to_dict(kept: Kept) -> dict[str, Any]:
    values = {name: _finite(getattr(kept, name)) for name in ("value", "low", "high")}
    return kept._asdict() | values | {"broken": kept.broken}


def _classes_to_dict(evaluation: Evaluation) -> list[dict[str, Any]] | None:
    """Return what is known about each class, by the names of `ClassQuality`."""
    if evaluation.n_known > MAX_CLASSES_DESCRIBED:
        return None
    labels = evaluation.classes.tolist()
    return [
        {
            "class": labels[one.position],
            "n_rows": one.n_rows,
            "recall": _share_to_dict(one.recall),
            "precision": _share_to_dict(one.precision),
            "auc": {name: _finite(value) for name, value in one.auc._asdict().items()},
            "average_precision": _finite(one.average_precision),
            "lift": _finite(one.lift),
            "n_top": one.n_top,
        }
        for one in evaluation.per_class
    ]


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
