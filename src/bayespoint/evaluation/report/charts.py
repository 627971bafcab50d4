"""Charts as inline SVG, colored by the style sheet."""

from __future__ import annotations

import numpy as np

from ..results import Evaluation
from .axes import BOTTOM, HEIGHT, TOP, Axes, coordinate, path, round_down, round_up
from .formatting import percent
from .markup import Markup, join, tag

# The error axis ignores thresholds that accept fewer than 10 rows, or fewer than one in 20.
MIN_ACCEPTED_ROWS, ROWS_PER_ACCEPTED_ROW = 10, 20


def reliability(evaluation: Evaluation) -> Markup:
    """Draw how often answers are right against their confidence."""
    bins = evaluation.reliability
    lowest = 0.5 if evaluation.n_known == 2 else 0.0
    right = bins.right / bins.total
    axes = Axes((lowest, 1.0), (min(lowest, round_down(bins.low.min())), 1.0))
    parts = [axes.frame("confidence", "share that is right")]
    ends = {"x1": coordinate(axes.across(lowest)), "x2": coordinate(axes.across(1.0))}
    ends |= {"y1": coordinate(axes.up(lowest)), "y2": coordinate(axes.up(1.0))}
    parts.append(tag("line", class_="ideal", **ends))
    for confidence, share, low, high in zip(
        bins.confidence, right, bins.low, bins.high, strict=True
    ):
        x = coordinate(axes.across(confidence))
        bar = {"x1": x, "x2": x, "y1": coordinate(axes.up(low)), "y2": coordinate(axes.up(high))}
        parts += [
            tag("line", class_="bar", **bar),
            tag("circle", class_="dot", cx=x, cy=coordinate(axes.up(share)), r=4),
        ]
    description = "; ".join(
        f"{percent(c)} sure, {percent(r)} right"
        for c, r in zip(bins.confidence, right, strict=True)
    )
    return axes.svg(join(*parts), f"Reliability diagram. {description}.")


def rejection(evaluation: Evaluation) -> tuple[Markup, list[tuple[float, float]]]:
    """Draw the error among answers against the share of refused rows.

    Returns the chart and the coordinates of each threshold.
    """
    curve = evaluation.rejection
    refused, error = 1 - curve.accepted / evaluation.n_rows, curve.errors / curve.accepted
    axes = Axes((0.0, 1.0), (0.0, round_up(_largest_shown_error(evaluation, error))))
    x, y = axes.across(refused), axes.up(error)
    outline = [
        *zip(x, axes.up(curve.low), strict=True),
        *zip(x[::-1], axes.up(curve.high)[::-1], strict=True),
    ]
    places = [(coordinate(a), coordinate(b)) for a, b in zip(x, y, strict=True)]
    parts = [
        axes.frame("share of rows without an answer", "error among answers"),
        tag("path", class_="band", d=path(outline) + "Z"),
        tag("path", class_="curve", d=path(places)),
    ]
    if evaluation.promise is not None:
        here = coordinate(axes.across(1 - evaluation.promise.error.total / evaluation.n_rows))
        parts.append(tag("line", class_="mark", x1=here, x2=here, y1=TOP, y2=HEIGHT - BOTTOM))
    parts.append(tag("circle", id="place", class_="place", r=6, cx=places[0][0], cy=places[0][1]))
    half = int(np.argmin(np.abs(refused - 0.5)))
    description = (
        f"Rejection curve. The error is {percent(error[0])} if every row is answered, and "
        f"{percent(error[half])} if {percent(refused[half])} of the rows are refused."
    )
    return axes.svg(join(*parts), description), places


def whisker(value: float, low: float, high: float, top: float, *, ours: bool) -> Markup:
    """Draw a share with its interval, on a scale from 0 to `top`.

    Its places are shares of the width, so that it shrinks with its cell.
    """
    x = [f"{coordinate(5 + 90 * min(v / top, 1))}%" for v in (low, value, high)]
    return tag(
        "svg",
        tag("line", class_="axis", x1="5%", x2="95%", y1=10, y2=10),
        tag("line", class_="bar" if ours else "bar other", x1=x[0], x2=x[2], y1=10, y2=10),
        tag("circle", class_="dot" if ours else "dot other", cx=x[1], cy=10, r=5),
        width="100%", height=20, class_="whisker", aria_hidden="true",
    )  # fmt: skip


def histogram(counts: np.ndarray, description: str) -> Markup:
    """Draw small bars without axes."""
    width, height, n = 96, 24, len(counts)
    tall = np.asarray(counts) / max(max(counts), 1) * (height - 1)
    step = width / n
    d = "".join(
        f"M{coordinate(i * step)} {height}v{coordinate(-t)}h{coordinate(step - 1)}v{coordinate(t)}z"
        for i, t in enumerate(tall)
        if t > 0
    )
    return tag(
        "svg", tag("path", d=d, class_="bars"), viewBox=f"0 0 {width} {height}",
        width=width, height=height, class_="histogram", role="img", aria_label=description,
    )  # fmt: skip


def _largest_shown_error(evaluation: Evaluation, error: np.ndarray) -> float:
    """Return the upper end of the error axis; errors of the last few rows may exceed it."""
    accepted = evaluation.rejection.accepted
    many = accepted >= max(MIN_ACCEPTED_ROWS, evaluation.n_rows / ROWS_PER_ACCEPTED_ROW)
    return float(max(error[many].max(initial=0), error[0], min(evaluation.rejection.high[0], 1)))
