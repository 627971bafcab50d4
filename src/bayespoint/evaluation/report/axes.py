"""Axes of a chart as inline SVG: where numbers go, grid, labels and titles."""

from __future__ import annotations

import math

import numpy as np

from .markup import Markup, join, tag

# Size of a chart in SVG units, and of charts that stand side by side. They are small, so
# letters stay legible on a phone.
WIDTH, HEIGHT = 420, 300
SMALL_WIDTH, SMALL_HEIGHT = 300, 250
# Space around the plotting area, for labels and titles.
LEFT, RIGHT, TOP, BOTTOM = 56, 20, 12, 46
# Intervals between the labels of an axis: at most this many, if a step of 2 or 5 allows it.
PREFERRED_INTERVALS = 6
# Rounding error of quotients that should be whole numbers.
ROUNDING_TOLERANCE = 1e-9


class Axes:
    """The ranges of both axes of a chart, its size, and the unit of the vertical axis."""

    def __init__(
        self, x: tuple[float, float], y: tuple[float, float], *, small: bool = False, unit="%"
    ):
        self.x, self.y, self.unit = x, y, unit
        self.width, self.height = (SMALL_WIDTH, SMALL_HEIGHT) if small else (WIDTH, HEIGHT)

    def across(self, value):
        """Return horizontal coordinates; numbers outside the range go to the edge."""
        share = np.clip((np.asarray(value) - self.x[0]) / (self.x[1] - self.x[0]), 0, 1)
        return LEFT + share * (self.width - LEFT - RIGHT)

    def up(self, value):
        """Return vertical coordinates."""
        share = np.clip((np.asarray(value) - self.y[0]) / (self.y[1] - self.y[0]), 0, 1)
        return self.height - BOTTOM - share * (self.height - TOP - BOTTOM)

    def frame(self, x_title: str, y_title: str) -> Markup:
        """Return grid, labels and titles."""
        parts = []
        for value in _ticks(*self.x):
            x = coordinate(self.across(value))
            parts += [
                tag("line", class_="grid", x1=x, x2=x, y1=TOP, y2=self.height - BOTTOM),
                tag(
                    "text",
                    f"{100 * value:g}%",
                    x=x,
                    y=self.height - BOTTOM + 16,
                    text_anchor="middle",
                ),
            ]
        for value in _ticks(*self.y):
            y = coordinate(self.up(value))
            parts += [
                tag("line", class_="grid", x1=LEFT, x2=self.width - RIGHT, y1=y, y2=y),
                tag("text", self._label(value), x=LEFT - 6, y=y, dy="0.35em", text_anchor="end"),
            ]
        middle = (LEFT + self.width - RIGHT) / 2
        high = (TOP + self.height - BOTTOM) / 2
        return join(
            *parts,
            tag("text", x_title, class_="title", x=middle, y=self.height - 8, text_anchor="middle"),
            tag(
                "text", y_title, class_="title", text_anchor="middle",
                transform=f"translate(12 {coordinate(high)}) rotate(-90)",
            ),
        )  # fmt: skip

    def svg(self, content: Markup, description: str) -> Markup:
        """Return the chart; `description` is for readers who cannot see it."""
        return tag(
            "svg", content, viewBox=f"0 0 {self.width} {self.height}", class_="chart", role="img",
            aria_label=description,
        )  # fmt: skip

    def line(self, x, y, class_: str) -> Markup:
        """Draw a line through points."""
        points = zip(np.ravel(self.across(x)), np.ravel(self.up(y)), strict=True)
        return tag("path", class_=class_, d=path(points))

    def _label(self, value: float) -> str:
        return f"{100 * value:g}%" if self.unit == "%" else f"{value:g}{self.unit}"


def coordinate(value) -> float:
    """Round a coordinate to the digits that can be seen."""
    return round(float(value), 1)


def path(points) -> str:
    """Return the drawing commands of a line through points, given in coordinates."""
    return "M" + "L".join(f"{coordinate(x)} {coordinate(y)}" for x, y in points)


def round_up(value: float, limit: float = 1.0) -> float:
    """Return the next round number, at most `limit`: the upper end of an axis."""
    value = max(value, 0.001)
    step = _step(value)
    return min(limit, round(math.ceil(value / step - ROUNDING_TOLERANCE) * step, 12))


def round_down(value: float) -> float:
    """Return the next lower tenth: the lower end of an axis."""
    return math.floor(value * 10) / 10


def _step(length: float) -> float:
    """Return 1, 2 or 5 times a power of ten: three to ten of these steps cover a length."""
    power = 10 ** math.floor(math.log10(length))
    for step in (0.2, 0.5):
        if length / (step * power) <= PREFERRED_INTERVALS:
            return step * power
    return power


def _ticks(low: float, high: float) -> list[float]:
    step = _step(high - low)
    first = math.ceil(low / step - ROUNDING_TOLERANCE)
    last = math.floor(high / step + ROUNDING_TOLERANCE)
    return [round(i * step, 12) for i in range(first, last + 1)]
