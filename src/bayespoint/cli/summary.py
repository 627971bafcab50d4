"""Describe a new model: what it was trained with, how good it is, what it can promise."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..classifiers.reject.groups import BY_PREDICTION, group_name
from ..classifiers.reject.option import RejectOptionClassifier
from ..evaluation import Evaluation
from ..evaluation.baselines import most_frequent
from ..evaluation.intervals import Share
from ..evaluation.record import TrainingRecord
from ..evaluation.report.model_description import describe_model
from .decision import decision_lines
from .promises import MAX_ERRORS_SHOWN, coverage_at
from .terminal import aligned, percent, wrapped

# Shares of rows to refuse for which the summary shows the effect.
REJECT_RATES_SHOWN = (0.05, 0.1, 0.2)
# Classes whose share is shown.
MAX_CLASSES_SHOWN = 5


def summary(
    model,
    about,
    evaluation: Evaluation,
    path: str,
    size: int,
    record: TrainingRecord | None = None,
) -> list[str]:
    """Return the lines that describe a new model."""
    counts = evaluation.confusion.sum(axis=1)
    shares = sorted(zip(counts / evaluation.n_rows, evaluation.classes, strict=True), reverse=True)
    shown = [f"{label} {percent(share)}" for share, label in shares[:MAX_CLASSES_SHOWN]]
    if len(shares) > len(shown):
        shown.append(f"and {len(shares) - len(shown)} more")
    columns = about["columns"]
    used = "" if columns is None else _used(columns)
    return [
        f"Trained with {_rows(about)} of {about['data']}{used} in {about['seconds']:.1f} s:",
        f"{describe_model(model)}.",
        f"Classes of {about['target']}: {', '.join(shown)}.",
        "",
        f"On {about['n_held_out']:,} held-out rows:",
        *quality(evaluation, about.get("decision")),
        *compared(record, evaluation),
        *_rejection(model, evaluation),
        "",
        f"Written to {path} ({max(size / 1e6, 0.001):.3g} MB).",
    ]


def _rows(about: dict[str, Any]) -> str:
    """Return how many rows were used, and of how many if there were more."""
    used, available = about["n_rows"], about.get("n_rows_available", 0)
    return f"{used:,} of {available:,} rows" if used < available else f"{used:,} rows"


def _used(columns: dict[str, Any]) -> str:
    kinds = {"numbers": "numeric", "categories": "categorical", "dates": "date", "texts": "text"}
    counts = {word: len(columns.get(kind, ())) for kind, word in kinds.items()}
    parts = [f"{count} {word}" for word, count in counts.items() if count]
    listed = " and ".join([", ".join(parts[:-1]), parts[-1]] if len(parts) > 1 else parts)
    return f" ({listed} column{'s' * (sum(counts.values()) > 1)})"


def quality(evaluation: Evaluation, decision: dict[str, Any] | None = None) -> list[str]:
    """Return lines about the error and the probabilities, and how answers are decided."""
    constant, error = most_frequent(evaluation), evaluation.error
    level = _whole_percent(evaluation.confidence_level)
    rows = [
        (
            "  error",
            percent(error.value),
            f"({level} interval {100 * error.low:.1f} to {percent(error.high)}; "
            f"{constant.name}: {percent(constant.error.value)})",
        ),
        ("  log loss", f"{evaluation.log_loss:.3f}", f"({constant.log_loss:.3f})"),
    ]
    lines = [f"{name:12}{value:>8}  {more}" for name, value, more in rows]
    return [
        *lines,
        *ranking_lines(evaluation),
        *decision_lines(decision),
        *_cost(evaluation, decision),
    ]


def _cost(evaluation: Evaluation, decision: dict[str, Any] | None) -> list[str]:
    """Return a line about costs that the user named; those of a threshold are only its means."""
    cost = evaluation.cost
    if cost is None or decision is None or decision["kind"] != "costs":
        return []
    constant = evaluation.classes[cost.constant]
    return [
        f"{'  cost':12}{cost.value:>8.3g}  per row ({cost.low:.3g} to {cost.high:.3g}; always "
        f"“{constant}”: {cost.constant_value:.3g})"
    ]


def ranking_lines(evaluation: Evaluation) -> list[str]:
    """Return lines about classes of different frequency, and a verdict if there is one."""
    found, lines = evaluation.ranking, []
    if found is not None and not np.isnan(found.auc.value):
        name = evaluation.classes[found.position]
        lines.append(
            f"{'  AUC':12}{found.auc.value:>8.3f}  ({found.auc.low:.3f} to {found.auc.high:.3f}; "
            "guessing: 0.500)"
        )
        right = (
            f"of its answers “{name}”, {_of(found.precision)} are right"
            if found.precision.total
            else f"it never answers “{name}”"
        )
        lines += wrapped(
            f"Of “{name}” it finds {_of(found.recall)}; {right}. Lift {found.lift:.1f}: so many "
            f"times more “{name}” in the top {found.n_top:,} rows than on average."
        )
    elif found is None:
        lines.append(
            f"{'  recall':12}{percent(evaluation.balanced_accuracy):>8}  (mean of classes)"
        )
    verdict = evaluation.verdict()
    if verdict and found is not None and found.auc.low > 0.5 and not found.precision.total:
        name = evaluation.classes[found.position]
        verdict.append(f"Train with --threshold-for {name}:recall=0.8 or --costs to get answers.")
    return [*lines, *(line for sentence in verdict for line in wrapped(sentence))]


def _of(part: Share) -> str:
    return f"{percent(part.value)} ({part.number:,} of {part.total:,})"


def compared(record: TrainingRecord | None, evaluation: Evaluation) -> list[str]:
    """Return lines about other classifiers that learned from the same rows."""
    if record is None or len(record.baselines) < 2:
        return []
    # Their answers are the most probable classes; with costs, only probabilities can be compared.
    others = [
        f"{one.name} {percent(one.error.value)}, log loss {one.log_loss:.3f}"
        if evaluation.cost is None
        else f"{one.name} log loss {one.log_loss:.3f}"
        for one in record.baselines[1:]
    ]
    return wrapped(f"Others {record.baselines[1].how}: {'; '.join(others)}.")


def _whole_percent(level: float) -> str:
    return percent(level).replace(".0", "")


def _rejection(model: RejectOptionClassifier, evaluation: Evaluation) -> list[str]:
    """Return lines about the error if it refuses rows, and the error it can promise."""
    ordered = np.sort(evaluation.confidence)
    effects = []
    for rate in REJECT_RATES_SHOWN:
        kept = evaluation.at(ordered[int(rate * len(ordered))])
        refused = percent(1 - kept.total / len(ordered))
        effects.append(f"{percent(kept.value)} if it refuses {refused}")
    return [
        f"  {'error':10}{', '.join(effects)}",
        *_promises(model, evaluation),
        *_groups(model),
    ]


def _groups(model: RejectOptionClassifier) -> list[str]:
    """Return a table of the groups in which the promise is kept."""
    if model.groups is None or model.max_error is None:
        return []
    rows = [("  group", "rows", "answered", "wrong", "")]
    for found in model.group_summary():
        answered = percent(found.n_accepted / found.n_rows)
        row = (f"  {group_name(found.group)}", f"{found.n_rows:,}", answered, f"{found.n_wrong:,}")
        rows.append((*row, f"({found.reason})" if found.reason else ""))
    by = "answer" if model.groups == BY_PREDICTION else f"value of “{model.groups}”"
    return [
        "",
        f"It promises (with probability {_whole_percent(model.confidence_level)}) at most "
        f"{percent(model.max_error)} errors for each {by}:",
        *aligned(rows),
    ]


def _promises(model: RejectOptionClassifier, evaluation: Evaluation) -> list[str]:
    """Return a table of errors that the model can promise; none if it can promise nothing."""
    promises = []
    for max_error in MAX_ERRORS_SHOWN:
        if evaluation.error.high <= max_error:
            continue
        if (coverage := coverage_at(model, max_error)) > 0:
            promises.append((f"  {percent(max_error)}", percent(coverage)))
    if not promises:
        return []
    return [
        "",
        f"It can promise (with probability {_whole_percent(model.confidence_level)}) at most this "
        "error among its answers,",
        "if it answers only this share of the rows:",
        *aligned([("  error", "answered"), *promises]),
    ]
