"""bayespoint evaluate: how good a model is on rows that it has not seen."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ..evaluation import Evaluation, evaluate
from ..io.tables.read_options import ReadOptions
from .summary import quality
from .terminal import aligned, percent, show, working
from .trained import open_model, read_labeled

# Classes of which the confusion is shown.
MOST_SHOWN = 12


def run_evaluate(
    model_path: Path,
    data: str,
    target: str | None,
    rejection: dict[str, Any] | None,
    options: ReadOptions,
    as_json: bool,
) -> None:
    """Predict all rows and compare with their classes."""
    trained = open_model(model_path, rejection)
    with working(f"reading {data}") as say:
        X, y = read_labeled(trained, data, target, options)
        say(f"predicting {len(y):,} rows")
        figures = evaluate(trained.model, X, y)
    show(figures.to_dict(), as_json, f"On {figures.n_rows:,} rows:", *report_lines(figures))


def report_lines(figures: Evaluation) -> list[str]:
    """Return all that is said about an evaluation."""
    lines = quality(figures)
    kept = figures.promise
    if kept is not None and (kept.reject_rate, kept.max_error) != (None, None):
        accepted = kept.error.total / figures.n_rows
        lines.append(
            f"  It answers {percent(accepted)} of the rows, with "
            + (f"{percent(kept.error.value)} errors" if kept.error.total else "no answer to judge")
            + (f" (promised: at most {percent(kept.max_error)})" if kept.max_error else "")
        )
    if len(figures.classes) <= MOST_SHOWN:
        lines += [
            "",
            "Rows of each class (down) that were predicted as (across):",
            *_confusion(figures),
        ]
    return lines


def _confusion(figures: Evaluation) -> list[str]:
    names = [str(label) for label in figures.classes]
    rows = [("  ", *names)]
    for name, counts in zip(names, figures.confusion, strict=True):
        rows.append((f"  {name}", *(f"{count:,}" for count in counts)))
    return aligned(rows)
