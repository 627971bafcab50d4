"""Charts as inline SVG: a few shapes, colored by the style sheet."""

from __future__ import annotations

import math

import numpy as np

from ..results import Evaluation
from .markup import Markup, join, tag
from .words import percent

# Small, so that letters can be read when it is scaled to the width of a phone.
WIDTH, HEIGHT = 420, 300
LEFT, RIGHT, TOP, BOTTOM = 56, 20, 12, 46


class Axes:
    """Where numbers are on a chart."""

    def __init__(self, x: tuple[float, float], y: tuple[float, float]):
        self.x, self.y = x, y

    def across(self, value):
        """Return the horizontal place of a number; what is outside is put at the edge."""
        share = np.clip((np.asarray(value) - self.x[0]) / (self.x[1] - self.x[0]), 0, 1)
        return LEFT + share * (WIDTH - LEFT - RIGHT)

    def up(self, value):
        """Return the vertical place."""
        share = np.clip((np.asarray(value) - self.y[0]) / (self.y[1] - self.y[0]), 0, 1)
        return HEIGHT - BOTTOM - share * (HEIGHT - TOP - BOTTOM)

    def frame(self, x_title: str, y_title: str) -> Markup:
        """Return grid, numbers and titles."""
        parts = []
        for value in _ticks(*self.x):
            x = _place(self.across(value))
            parts += [
                tag("line", class_="grid", x1=x, x2=x, y1=TOP, y2=HEIGHT - BOTTOM),
                tag("text", f"{100 * value:g}%", x=x, y=HEIGHT - BOTTOM + 16, text_anchor="middle"),
            ]
        for value in _ticks(*self.y):
            y = _place(self.up(value))
            parts += [
                tag("line", class_="grid", x1=LEFT, x2=WIDTH - RIGHT, y1=y, y2=y),
                tag("text", f"{100 * value:g}%", x=LEFT - 6, y=y, dy="0.35em", text_anchor="end"),
            ]
        middle = (LEFT + WIDTH - RIGHT) / 2
        high = (TOP + HEIGHT - BOTTOM) / 2
        return join(
            *parts,
            tag("text", x_title, class_="title", x=middle, y=HEIGHT - 8, text_anchor="middle"),
            tag(
                "text", y_title, class_="title", text_anchor="middle",
                transform=f"translate(12 {_place(high)}) rotate(-90)",
            ),
        )  # fmt: skip


def reliability(figures: Evaluation) -> Markup:
    """Draw how often answers are right against how sure the model is of them."""
    bins = figures.reliability
    least = 0.5 if figures.n_known == 2 else 0.0
    right = bins.right / bins.total
    axes = Axes((least, 1.0), (min(least, _floor(bins.low.min())), 1.0))
    parts = [axes.frame("confidence", "share that is right")]
    ends = {"x1": _place(axes.across(least)), "x2": _place(axes.across(1.0))}
    ends |= {"y1": _place(axes.up(least)), "y2": _place(axes.up(1.0))}
    parts.append(tag("line", class_="ideal", **ends))
    for confidence, share, low, high in zip(
        bins.confidence, right, bins.low, bins.high, strict=True
    ):
        x = _place(axes.across(confidence))
        bar = {"x1": x, "x2": x, "y1": _place(axes.up(low)), "y2": _place(axes.up(high))}
        parts += [
            tag("line", class_="bar", **bar),
            tag("circle", class_="dot", cx=x, cy=_place(axes.up(share)), r=4),
        ]
    told = "; ".join(
        f"{percent(c)} sure, {percent(r)} right"
        for c, r in zip(bins.confidence, right, strict=True)
    )
    return _svg(join(*parts), f"Reliability diagram. {told}.")


def rejection(figures: Evaluation) -> tuple[Markup, list[tuple[float, float]]]:
    """Draw the error among answers against the share of refused ones.

    Returns the chart and the place of each threshold on it.
    """
    curve = figures.rejection
    refused, error = 1 - curve.accepted / figures.n_rows, curve.errors / curve.accepted
    axes = Axes((0.0, 1.0), (0.0, _ceiling(_highest(figures, error))))
    x, y = axes.across(refused), axes.up(error)
    outline = [
        *zip(x, axes.up(curve.low), strict=True),
        *zip(x[::-1], axes.up(curve.high)[::-1], strict=True),
    ]
    parts = [
        axes.frame("share of rows without an answer", "error among answers"),
        tag("path", class_="band", d=_path(outline) + "Z"),
        tag("path", class_="curve", d=_path(list(zip(x, y, strict=True)))),
    ]
    if figures.promise is not None:
        here = _place(axes.across(1 - figures.promise.error.total / figures.n_rows))
        parts.append(tag("line", class_="mark", x1=here, x2=here, y1=TOP, y2=HEIGHT - BOTTOM))
    parts.append(tag("circle", id="place", class_="place", r=6, cx=_place(x[0]), cy=_place(y[0])))
    half = int(np.argmin(np.abs(refused - 0.5)))
    told = (
        f"Rejection curve. The error is {percent(error[0])} if every row is answered, and "
        f"{percent(error[half])} if {percent(refused[half])} of the rows are refused."
    )
    return _svg(join(*parts), told), [(_place(a), _place(b)) for a, b in zip(x, y, strict=True)]


def whisker(value: float, low: float, high: float, top: float, *, ours: bool) -> Markup:
    """Draw a share with its interval, to stand below others on the same scale."""
    width, height = 180, 20
    x = [_place(7 + min(v / top, 1) * (width - 14)) for v in (low, value, high)]
    return tag(
        "svg",
        tag("line", class_="axis", x1=7, x2=width - 7, y1=10, y2=10),
        tag("line", class_="bar" if ours else "bar other", x1=x[0], x2=x[2], y1=10, y2=10),
        tag("circle", class_="dot" if ours else "dot other", cx=x[1], cy=10, r=5),
        viewBox=f"0 0 {width} {height}", width=width, height=height, class_="whisker",
        aria_hidden="true",
    )  # fmt: skip


def histogram(counts: np.ndarray, told: str) -> Markup:
    """Draw small bars without axes."""
    width, height, n = 96, 24, len(counts)
    tall = np.asarray(counts) / max(max(counts), 1) * (height - 1)
    step = width / n
    d = "".join(
        f"M{_place(i * step)} {height}v{_place(-t)}h{_place(step - 1)}v{_place(t)}z"
        for i, t in enumerate(tall)
        if t > 0
    )
    return tag(
        "svg", tag("path", d=d, class_="bars"), viewBox=f"0 0 {width} {height}",
        width=width, height=height, class_="histogram", role="img", aria_label=told,
    )  # fmt: skip


def _highest(figures: Evaluation, error: np.ndarray) -> float:
    """Return the largest error worth seeing: not that of the last few rows."""
    many = figures.rejection.accepted >= max(10, figures.n_rows / 20)
    return float(max(error[many].max(initial=0), error[0], min(figures.rejection.high[0], 1)))


def _svg(content: Markup, told: str) -> Markup:
    return tag(
        "svg", content, viewBox=f"0 0 {WIDTH} {HEIGHT}", class_="chart", role="img",
        aria_label=told,
    )  # fmt: skip


def _path(points: list) -> str:
    return "M" + "L".join(f"{_place(x)} {_place(y)}" for x, y in points)


def _place(value) -> float:
    """Return a coordinate with the digits that can be seen."""
    return round(float(value), 1)


def _step(length: float) -> float:
    """Return 1, 2 or 5 times a power of ten, four to ten of which make a length."""
    power = 10 ** math.floor(math.log10(length))
    for step in (0.1, 0.2, 0.5):
        if length / (step * power) <= 6:
            return step * power
    return power


def _ticks(low: float, high: float) -> list[float]:
    step = _step(high - low)
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [round(i * step, 12) for i in range(first, last + 1)]


def _ceiling(value: float) -> float:
    """Return a round number that is not below."""
    value = max(value, 0.001)
    step = _step(value)
    return min(1.0, round(math.ceil(value / step - 1e-9) * step, 12))


def _floor(value: float) -> float:
    return math.floor(value * 10) / 10
