"""bayespoint evaluate: measure how good a model is on rows it has not seen."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import typer

from ..evaluation import Evaluation, evaluate
from ..evaluation.seen import UNKNOWN, SeenRows
from ..io.tables.read_options import ReadOptions
from .group_lines import promise_lines
from .output import check_output
from .summary import quality
from .terminal import aligned, percent, show, working
from .trained import open_model, read_to_judge
from .watch_state import count, require_promise, watch_lines, watch_to_dict

# The confusion matrix is shown for up to this many classes.
MAX_CONFUSION_CLASSES = 12


def run_evaluate(
    model_path: Path,
    data: str,
    target: str | None,
    rejection: dict[str, Any] | None,
    read_options: ReadOptions,
    include_seen: bool,
    as_json: bool,
    watch: Path | None = None,
) -> None:
    """Predict all rows and compare with their classes; count them in the watch of a promise."""
    if watch is not None:
        if include_seen:
            raise typer.BadParameter("--watch is about new rows: without --include-training-rows.")
        check_output(watch, model_path, data)
    trained = open_model(model_path, rejection)
    with working(f"reading {data}") as say:
        X, y, seen = read_to_judge(trained, data, target, read_options, include_seen)
        say(f"predicting {len(y):,} rows")
        evaluation = evaluate(trained.model, X, y, seen=seen)
        watched = None
        if watch is not None:
            _check_new(seen, evaluation)
            watched = count(watch, trained.model, evaluation, X, y, data)
    show(
        evaluation.to_dict() | ({} if watched is None else {"watch": watch_to_dict(watched)}),
        as_json,
        UNKNOWN if seen is None else seen.sentence(),
        f"On {evaluation.n_rows:,} rows:",
        *report_lines(evaluation, trained.info.get("decision")),
        *([] if watched is None else ["", *watch_lines(watched), f"Written to {watch}."]),
    )
    if watched is not None:
        require_promise(watched)


def _check_new(seen: SeenRows | None, evaluation: Evaluation) -> None:
    """Raise if most rows are those that have set what the model refuses."""
    if seen is not None and 2 * seen.n_held_out > evaluation.n_rows:
        raise ValueError(
            f"{seen.n_held_out:,} of the {evaluation.n_rows:,} rows were held out in training, and "
            "set what the model refuses. Watch it with rows that came later."
        )


def report_lines(evaluation: Evaluation, decision: dict[str, Any] | None = None) -> list[str]:
    """Return the lines that describe an evaluation, with answers decided as in training."""
    lines = quality(evaluation, decision)
    kept = evaluation.promise
    if kept is not None and (kept.reject_rate, kept.max_error) != (None, None):
        accepted = kept.error.total / evaluation.n_rows
        lines.append(
            f"  It answers {percent(accepted)} of the rows, with "
            + (f"{percent(kept.error.value)} errors" if kept.error.total else "no answer to judge")
            + (f" (promised: at most {percent(kept.max_error)})" if kept.max_error else "")
        )
    lines += [] if kept is None else promise_lines(kept)
    if len(evaluation.classes) <= MAX_CONFUSION_CLASSES:
        lines += [
            "",
            "Rows by true class (down) and predicted class (across):",
            *_confusion(evaluation),
        ]
    return lines


def _confusion(evaluation: Evaluation) -> list[str]:
    names = [str(label) for label in evaluation.classes]
    rows = [("  ", *names)]
    for name, counts in zip(names, evaluation.confusion, strict=True):
        rows.append((f"  {name}", *(f"{count:,}" for count in counts)))
    return aligned(rows)
