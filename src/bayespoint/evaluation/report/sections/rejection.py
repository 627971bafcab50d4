"""How the error falls if the model refuses to answer where it is unsure."""

from __future__ import annotations

import numpy as np

from ...intervals import Share
from ...results import Evaluation
from .. import charts
from ..formatting import interval, level, percent
from ..markup import Markup, join, table, tag
from ..section import Section, number_cell

# Shares of refused rows in the table, for readers who cannot use the slider.
REFUSED_SHARES = (0, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5)
INTRODUCTION = (
    "A model that knows how sure it is can leave rows to a person. A higher threshold answers "
    "fewer rows, and fewer of these answers should be wrong."
)
WARNING = (
    "Each interval holds for a threshold that was chosen beforehand. Picking the best threshold "
    "here and promising its error promises too much. A reject option with max_error chooses a "
    "threshold that comes with a guarantee."
)


def rejection_section(evaluation: Evaluation) -> Section:
    """Show the rejection curve with a slider, and some thresholds in a table."""
    chart, _ = charts.rejection(evaluation)
    marked = " The dotted line is the threshold of the model." if evaluation.promise else ""
    caption = (
        "Error among the remaining answers if the least certain ones are refused, with the exact "
        f"{level(evaluation.confidence_level)} interval at each threshold." + marked
    )
    content = join(
        tag("p", INTRODUCTION),
        tag(
            "div",
            tag("figure", chart, tag("figcaption", caption)),
            tag("div", _slider(evaluation)),
            class_="pairs",
        ),
        _thresholds(evaluation),
        tag("p", WARNING, class_="soft"),
    )
    return Section("rejection", "How refusing to answer lowers the error", content)


def slider_points(evaluation: Evaluation) -> list[list]:
    """Return coordinates and texts for each position of the slider."""
    places = charts.rejection(evaluation)[1]
    return [[x, y, *_slider_texts(evaluation, i)] for i, (x, y) in enumerate(places)]


def format_threshold(threshold: float) -> str:
    """Format a threshold of confidence."""
    return f"{threshold:.4f}" if np.isfinite(threshold) else "none is high enough"


def _accepted(evaluation: Evaluation, i: int) -> Share:
    """Return the error among the rows that the i-th threshold accepts."""
    curve = evaluation.rejection
    return Share(
        int(curve.errors[i]), int(curve.accepted[i]), float(curve.low[i]), float(curve.high[i])
    )


def _slider_texts(evaluation: Evaluation, i: int) -> list[str]:
    """Return threshold, coverage and error as text, and one sentence for screen readers."""
    n, kept = evaluation.n_rows, _accepted(evaluation, i)
    threshold = format_threshold(evaluation.rejection.threshold[i])
    coverage = percent(kept.total / n)
    return [
        threshold,
        f"{kept.total:,} of {n:,} rows ({coverage})",
        f"{kept.number:,} of these: {percent(kept.value)} ({interval(kept)})",
        f"threshold {threshold}: {coverage} of the rows answered, {percent(kept.value)} of the "
        "answers wrong",
    ]


def _model_position(evaluation: Evaluation) -> int:
    """Return the slider position of the model's own threshold, or 0 if it has none."""
    if evaluation.promise is None:
        return 0
    return int(np.argmin(np.abs(evaluation.rejection.accepted - evaluation.promise.error.total)))


def _slider(evaluation: Evaluation) -> Markup:
    start, last = _model_position(evaluation), len(evaluation.rejection.threshold) - 1
    threshold, coverage, error, sentence = _slider_texts(evaluation, start)
    return tag(
        "div",
        tag("label", "Refuse answers with less confidence than", for_="threshold"),
        tag(
            "input", type="range", id="threshold", min=0, max=last, step=1, value=start,
            autocomplete="off", aria_valuetext=sentence,
        ),
        tag(
            "dl",
            *_term("threshold", threshold, "shown-threshold"),
            *_term("answered", coverage, "shown-coverage"),
            *_term("wrong", error, "shown-error"),
        ),
        id="control", class_="control", hidden=True,
    )  # fmt: skip


def _term(name: str, value: str, key: str) -> tuple[Markup, Markup]:
    return tag("dt", name), tag("dd", value, id=key)


def _thresholds(evaluation: Evaluation) -> Markup:
    """Return a table of some thresholds."""
    rows, last = [], -1
    for refused in REFUSED_SHARES:
        # The first threshold that refuses at least this share.
        refuses = evaluation.rejection.accepted <= (1 - refused) * evaluation.n_rows
        i = int(np.argmax(refuses)) if refuses.any() else last
        if i == last:
            continue
        last, kept = i, _accepted(evaluation, i)
        rows.append(
            [
                percent(1 - kept.total / evaluation.n_rows),
                number_cell(format_threshold(evaluation.rejection.threshold[i])),
                number_cell(f"{kept.number:,} of {kept.total:,}"),
                tag("td", percent(kept.value), tag("small", interval(kept)), class_="right"),
            ]
        )
    head = ["refused", "threshold", "wrong", "error, interval"]
    return table(head, rows, caption="Some thresholds")
