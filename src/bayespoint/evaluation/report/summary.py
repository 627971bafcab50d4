"""The first paragraph, for people who read one paragraph."""

from __future__ import annotations

import numpy as np

from ..baselines import Baseline
from ..results import Evaluation
from .alerts import Alert
from .formatting import interval, level, percent, several, text
from .section import class_name, upper_limit

# Name the classes if there are at most this many.
MAX_NAMED_CLASSES = 4


def summarize(
    evaluation: Evaluation,
    target: str | None,
    n_columns: int,
    baselines: list[Baseline],
    held_out: list[Baseline],
    alerts: list[Alert],
) -> list[str]:
    """Return sentences: what is predicted, how well, what is promised, the gravest caveat.

    `baselines` were judged on the rows of the report, the constant answer first; `held_out` on
    rows that were held out in training, this model first.
    """
    return [
        _task(evaluation, target, n_columns),
        _error(evaluation, baselines[0]),
        *_compared(baselines[1:], held_out),
        *(words.replace(" %", "%") for words in evaluation.verdict()),
        *_promise(evaluation),
        *(alert.words for alert in alerts[:1]),
    ]


def _task(evaluation: Evaluation, target: str | None, n_columns: int) -> str:
    n_classes = evaluation.n_known
    names = [f"“{class_name(evaluation, k)}”" for k in range(n_classes)]
    if n_classes <= MAX_NAMED_CLASSES:
        classes = f"{', '.join(names[:-1])} or {names[-1]}" if n_classes > 1 else names[0]
    else:
        classes = f"one of {n_classes:,} classes"
    columns = several(n_columns, "column")
    if target is None:
        return f"This model answers {classes}, from {columns}."
    return f"This model predicts {text(target)} ({classes}) from {columns}."


def _error(evaluation: Evaluation, constant: Baseline) -> str:
    always = constant.name.replace("always", "always answering", 1)
    return (
        f"On {several(evaluation.n_rows, 'row')}{whether_new(evaluation)} it is wrong on "
        f"{percent(evaluation.error.value)} ({level(evaluation.confidence_level)} interval "
        f"{interval(evaluation.error)}); {always} would be wrong on "
        f"{percent(constant.error.value)}."
    )


def whether_new(evaluation: Evaluation) -> str:
    """Say "that it had not seen" only where that is known."""
    seen = evaluation.seen
    known = seen is not None and seen.only_new and seen.n_checked == seen.n_given
    return " that it had not seen" if known else ""


def _compared(baselines: list[Baseline], held_out: list[Baseline]) -> list[str]:
    """Compare with classifiers that learned from the same training rows."""
    if baselines:
        others = " and ".join(f"{b.name} on {percent(b.error.value)}" for b in baselines)
        return [f"From the same training rows, {others.replace(' on', ' is wrong on', 1)}."]
    if len(held_out) < 2:
        return []
    ours, *rest = held_out
    others = " and ".join(f"{b.name} on {percent(b.error.value)}" for b in rest)
    return [
        f"On {several(ours.error.total, 'row')} held out in training it was wrong on "
        f"{percent(ours.error.value)}, {others} (all from the same training rows)."
    ]


def _promise(evaluation: Evaluation) -> list[str]:
    """Say what can be promised about future rows."""
    promise = evaluation.promise
    if promise is not None and promise.max_error is not None:
        limit = f"at most {level(promise.max_error)} of its answers are wrong"
        limit += f" for each {text(promise.by)}" if promise.by else ""
        if promise.threshold == np.inf:
            return [
                f"It cannot promise that {limit}, so it refuses every row; the error above is of "
                "the answers that it would give."
            ]
        if promise.error.total:
            return [
                f"It promises that {limit}, with {level(promise.confidence_level or 0)} "
                "confidence, and for that it answers "
                f"{percent(promise.error.total / evaluation.n_rows)} of these rows."
            ]
    condition = "like these" if whether_new(evaluation) else "like these, if these are new,"
    return [
        f"Of future rows {condition} at most {percent(upper_limit(evaluation))} are answered "
        f"wrongly, with {level(evaluation.confidence_level)} confidence."
    ]
