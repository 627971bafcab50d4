"""What `bayespoint train` tells about a model, in words."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from ..classifiers.reject.option import RejectOptionClassifier
from ..evaluation import Evaluation
from ..evaluation.baselines import most_frequent
from ..evaluation.report.diagnosis import describe_model
from .terminal import aligned, percent

REFUSED = (0.05, 0.1, 0.2)
PROMISED = (0.1, 0.05, 0.02, 0.01)


def summary(model, about, figures: Evaluation, path: str, size: int) -> list[str]:
    """Return all that is said about a new model."""
    counts = figures.confusion.sum(axis=1)
    shares = sorted(zip(counts / figures.n_rows, figures.classes, strict=True), reverse=True)
    some = ", ".join(f"{label} {percent(share)}" for share, label in shares[:5])
    more = f", and {len(shares) - 5} more" if len(shares) > 5 else ""
    columns = about["columns"]
    used = "" if columns is None else _used(columns)
    return [
        f"Trained with {about['n_rows']:,} rows of {about['data']}{used} in "
        f"{about['seconds']:.1f} s:",
        f"{describe_model(model)}.",
        f"Classes of {about['target']}: {some}{more}.",
        "",
        f"On {about['n_held_out']:,} other rows:",
        *quality(figures),
        *_rejection(model, figures),
        "",
        f"Written to {path} ({max(size / 1e6, 0.001):.3g} MB).",
    ]


def _used(columns: dict[str, Any]) -> str:
    numbers, texts = len(columns["numbers"]), len(columns["categories"])
    parts = [f"{numbers} of numbers"] * bool(numbers) + [f"{texts} of texts"] * bool(texts)
    return f" (columns: {' and '.join(parts)})"


def quality(figures: Evaluation) -> list[str]:
    """Return lines about the error and the probabilities."""
    constant, error = most_frequent(figures), figures.error
    level = _whole_percent(figures.confidence_level)
    rows = [
        (
            "  error",
            percent(error.value),
            f"({level} interval {100 * error.low:.1f} to {percent(error.high)}; "
            f"{constant.name}: {percent(constant.error.value)})",
        ),
        ("  log loss", f"{figures.log_loss:.3f}", f"({constant.log_loss:.3f})"),
    ]
    return [f"{name:12}{value:>8}  {more}" for name, value, more in rows]


def _whole_percent(level: float) -> str:
    return percent(level).replace(".0", "")


def _rejection(model: RejectOptionClassifier, figures: Evaluation) -> list[str]:
    """Return lines about what refusing buys, and what can be promised."""
    ordered = np.sort(figures.confidence)
    rows = []
    for refused in REFUSED:
        kept = figures.at(ordered[int(refused * len(ordered))])
        rows.append(f"{percent(kept.value)} if it refuses {percent(1 - kept.total / len(ordered))}")
    lines = [f"  {'error':10}{rows[0]}, " + ", ".join(rows[1:])]
    promises = []
    for max_error in PROMISED:
        if figures.error.high <= max_error:
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            coverage = model.at(max_error=max_error).coverage_
        if coverage > 0:
            promises.append((f"  {percent(max_error)}", percent(coverage)))
    if promises:
        level = _whole_percent(model.confidence_level)
        lines += [
            "",
            f"It can promise (with probability {level}) at most so many errors among its answers,",
            "if it answers only so many rows:",
            *aligned([("  errors", "answered"), *promises]),
        ]
    return lines
