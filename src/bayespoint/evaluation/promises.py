"""What a reject option promises, and what the rows of an evaluation say about it."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from ..classifiers.reject.groups import BY_PREDICTION, UNKNOWN, group_codes, group_name
from ..classifiers.reject.groups import group_values as values_of
from ..classifiers.reject.novelty import refuses_novel_rows
from .cost import mean_cost
from .intervals import Share, share
from .results import Evaluation, GroupAnswers, Kept, Promise

# Promises other than the error, by their parameter: name, and the true class of rows that count.
RATES = {
    "max_false_positive_rate": ("false positive rate", 0),
    "max_false_negative_rate": ("false negative rate", 1),
}
NEVER_SEEN_GROUP = "(not in training)"
NEVER_SEEN = "no held-out row was in such a group"


def promise_of(model: Any, evaluation: Evaluation, X: Any) -> Promise:
    """Return what the reject option of a model promises, and how it does on these rows."""
    calibration = getattr(model, "calibration_confidence_", None)
    thresholds = getattr(model, "group_thresholds_", None)
    answers = model.classes_[evaluation.predicted]
    if thresholds is not None or refuses_novel_rows(model):
        accepted = model.accepts(X, evaluation.confidence, answers)
    else:
        accepted = evaluation.confidence >= model.threshold_
    kept = _kept(model, evaluation, np.flatnonzero(accepted), evaluation.confidence_level)
    sure = bool(kept) or getattr(model, "max_error", None) is not None
    return Promise(
        threshold=float(model.threshold_),
        error=evaluation.among(accepted),
        reject_rate=getattr(model, "reject_rate", None),
        max_error=getattr(model, "max_error", None),
        confidence_level=model.confidence_level if sure else None,
        n_calibration=None if calibration is None else len(calibration),
        strict=getattr(model, "cv", None) is None,
        kept=kept,
        by=_grouped_by(model) if thresholds is not None else None,
        groups=() if thresholds is None else _groups(model, evaluation, accepted, X, answers),
    )


def makes_any_promise(model: Any) -> bool:
    """Tell whether a model with a reject option promises anything."""
    names = ("max_error", *RATES, "max_cost")
    return any(getattr(model, name, None) is not None for name in names)


def _grouped_by(model: Any) -> str:
    """Return what makes the groups, in words."""
    by = model.groups
    if by == BY_PREDICTION:
        return "answer"
    return f"value of “{by}”" if isinstance(by, str) else f"value of column {by}"


def _kept(model: Any, evaluation: Evaluation, rows: np.ndarray, level: float) -> tuple[Kept, ...]:
    """Return each promise with what the accepted rows say about it."""
    found, target = [], evaluation.target[rows]
    if getattr(model, "max_error", None) is not None:
        found.append(_of_share("error", model.max_error, _errors(evaluation, rows, level)))
    for parameter, (name, code) in RATES.items():
        limit = getattr(model, parameter, None)
        if limit is not None:
            counted = _errors(evaluation, rows[target == code], level)
            found.append(_of_share(name, limit, counted))
    limit = getattr(model, "max_cost", None)
    if limit is not None:
        value, low, high = math.nan, 0.0, math.inf
        if len(rows):
            costs = np.asarray(model.costs, dtype=float)
            value, low, high, *_ = mean_cost(costs, target, evaluation.predicted[rows], level)
        found.append(Kept("cost", float(limit), value, low, high, len(rows)))
    return tuple(found)


def _of_share(name: str, limit: float, found: Share) -> Kept:
    return Kept(name, float(limit), found.value, found.low, found.high, found.total)


def _errors(evaluation: Evaluation, rows: np.ndarray, level: float) -> Share:
    wrong = np.count_nonzero(evaluation.target[rows] != evaluation.predicted[rows])
    return share(wrong, len(rows), level)


def _groups(
    model: Any, evaluation: Evaluation, accepted: np.ndarray, X: Any, answers: np.ndarray
) -> tuple[GroupAnswers, ...]:
    """Return how the rows of each group are answered; the groups share the risk of intervals."""
    summary = model.group_summary()
    codes = group_codes(model.groups_, values_of(model.groups, X, answers))
    level = 1 - (1 - evaluation.confidence_level) / max(len(summary), 1)
    order, ends = np.argsort(codes, kind="stable"), np.arange(len(summary) + 1)
    rows_of = np.split(order, np.searchsorted(codes[order], ends))[1:-1]
    found = []
    for group, rows in zip(summary, rows_of, strict=True):
        answered = rows[accepted[rows]]
        found.append(
            GroupAnswers(
                group_name(group.group),
                len(rows),
                _errors(evaluation, answered, level),
                _kept(model, evaluation, answered, level),
                group.threshold,
                group.reason,
            )
        )
    n_unknown = int(np.count_nonzero(codes == UNKNOWN))
    if n_unknown:
        nothing = share(0, 0, level)
        found.append(GroupAnswers(NEVER_SEEN_GROUP, n_unknown, nothing, (), math.inf, NEVER_SEEN))
    return tuple(found)


class GroupCounts(NamedTuple):
    """Rows and answers of a group, without their true classes."""

    group: str
    n_rows: int
    n_answered: int
    reason: str


class CountGroups:
    """Count the rows and the answers of each group, part by part."""

    def __init__(self, model: Any):
        self._model = model
        self._by_group = getattr(model, "group_thresholds_", None) is not None
        n_groups = len(model.groups_) if self._by_group else 0
        self._rows, self._answered = np.zeros((2, n_groups + 1), dtype=int)

    def add(self, X: Any, answers: np.ndarray, accepted: np.ndarray) -> None:
        """Count more rows; `answers` are those before any is refused."""
        if self._by_group:
            codes = group_codes(self._model.groups_, values_of(self._model.groups, X, answers))
            codes[codes == UNKNOWN] = len(self._rows) - 1
            self._rows += np.bincount(codes, minlength=len(self._rows))
            self._answered += np.bincount(codes[accepted], minlength=len(self._rows))

    def found(self) -> list[GroupCounts]:
        """Return the groups; none if the model has none."""
        if not self._by_group:
            return []
        known = [(group_name(g.group), g.reason) for g in self._model.group_summary()]
        return [
            GroupCounts(name, int(n_rows), int(n_answered), reason)
            for (name, reason), n_rows, n_answered in zip(
                [*known, (NEVER_SEEN_GROUP, NEVER_SEEN)], self._rows, self._answered, strict=True
            )
            if n_rows or reason != NEVER_SEEN
        ]
