"""The front of `middle.py`: how close approximations come to the exact machine, and how fast."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from bayespoint.displays import use_style
from bayespoint.evaluation.displays.colors import BLACK, COLORS, GRAY

OURS, EXACT = "bayespoint", "exact"
TITLES = {"error": "error", "log_loss": "log loss"}
# Machines that differ in their sizes share a color, and their labels are the sizes.
FAMILIES = {"landmarks": COLORS[1], "cells": COLORS[2], "mosaic": COLORS[3]}
LEGEND = {
    "landmarks": "landmarks alone, their number",
    "cells": "cells alone, their points",
    "mosaic": "mosaic: landmarks-points",
}
PALE = "#cccccc"
PANEL_INCHES = (5.4, 4.4)
LABEL_SIZE = 9.5
# A distance, in points, beyond the edges of every picture.
OUTER_EDGE = 10_000
# Where a label may be, in points from its marker: beside it, then farther away on three circles.
NEAR_SHIFTS = [(7, 0), (-7, 0), (0, 10), (0, -10)]
CIRCLE_SHIFTS = [
    (radius * np.cos(angle), radius * np.sin(angle))
    for radius in (15, 26, 40)
    for angle in np.arange(1, 16, 2) * np.pi / 8
]


def relative(means: pd.DataFrame) -> pd.Series:
    """Return each machine's mean over sets, as a multiple of the exact machine's."""
    mean = means.mean(skipna=False)
    return (mean / mean[EXACT]).dropna()


def front(seconds: np.ndarray, loss: np.ndarray) -> np.ndarray:
    """Return the machines that no other beats in both, fastest first."""
    order = np.lexsort((loss, seconds))
    best = np.minimum.accumulate(loss[order])
    return order[np.append(True, best[1:] < best[:-1])]


def style(name: str) -> tuple[str, str]:
    """Return the color of a machine and its label."""
    family, _, sizes = name.partition("-")
    if family in FAMILIES and sizes:
        return FAMILIES[family], sizes
    return {OURS: COLORS[0], EXACT: BLACK}.get(name, GRAY), name


def boxes_of_steps(points: np.ndarray, reach: float) -> list[tuple]:
    """Return boxes (left, bottom, right, top) around the steps that go down from point to point."""
    lines = [
        line
        for (left, top), (right, bottom) in pairwise(points)
        for line in ((left, top, right, top), (right, bottom, right, top))
    ]
    return [(a - reach, b - reach, c + reach, d + reach) for a, b, c, d in lines]


def overlap(box: tuple, others: list[tuple]) -> float:
    """Return the area that a box shares with others."""
    left, bottom, right, top = np.array(others).T
    width = np.minimum(right, box[2]) - np.maximum(left, box[0])
    height = np.minimum(top, box[3]) - np.maximum(bottom, box[1])
    return float(np.sum(np.clip(width, 0, None) * np.clip(height, 0, None)))


def place(point: np.ndarray, size: np.ndarray, shift: tuple[float, float]) -> tuple:
    """Return the box of a label of this size, shifted from its marker."""
    center = point + shift + np.sign(np.round(shift)) * (size[0] / 2, 0)
    return (*(center - size / 2), *(center + size / 2))


def draw_labels(ax: Any, seconds: pd.Series, loss: pd.Series) -> None:
    """Write labels where they cover no markers, no steps of the front and no other labels."""
    unit = ax.figure.dpi / 72
    points = ax.transData.transform(np.column_stack([seconds, loss])) / unit
    frame = np.array(ax.bbox.extents) / unit
    outside = [
        (-OUTER_EDGE, -OUTER_EDGE, OUTER_EDGE, frame[1] + 2),
        (-OUTER_EDGE, -OUTER_EDGE, frame[0] + 2, OUTER_EDGE),
        (frame[2], -OUTER_EDGE, OUTER_EDGE, OUTER_EDGE),
    ]
    steps = points[front(seconds.to_numpy(), loss.to_numpy())]
    taken = [(*(p - 4), *(p + 4)) for p in points] + boxes_of_steps(steps, 1) + outside
    for i in np.argsort(loss.to_numpy(), kind="stable"):
        color, text = style(loss.index[i])
        weight = "bold" if loss.index[i] == OURS else "normal"
        label = ax.annotate(
            text, (seconds.iloc[i], loss.iloc[i]), (0, 0), textcoords="offset points",
            ha="center", va="center", fontsize=LABEL_SIZE, color=color, weight=weight,
            arrowprops={"arrowstyle": "-", "color": PALE, "lw": 0.7, "shrinkB": 3},
        )  # fmt: skip
        extent = label.get_window_extent()
        size = np.array([extent.width + 3, extent.height]) / unit
        boxes = [place(points[i], size, shift) for shift in NEAR_SHIFTS + CIRCLE_SHIFTS]
        best = int(np.argmin([overlap(box, taken) for box in boxes]))
        taken.append(boxes[best])
        label.set_position(np.reshape(boxes[best], (2, 2)).mean(axis=0) - points[i])
        label.arrow_patch.set_visible(best >= len(NEAR_SHIFTS))


def draw_panel(ax: Any, seconds: pd.Series, loss: pd.Series) -> None:
    """Draw one marker per machine, and steps through those that no other beats."""
    from matplotlib.ticker import LogLocator

    names = front(seconds.to_numpy(), loss.to_numpy())
    ax.plot(seconds.iloc[names], loss.iloc[names], drawstyle="steps-post", color=PALE, lw=1.5)
    for name in loss.index:
        size = 8 if name == OURS else 5
        ax.plot(seconds[name], loss[name], "o", color=style(name)[0], ms=size, zorder=3)
    for family, color in FAMILIES.items():
        if any(style(name)[0] == color for name in loss.index):
            ax.plot([], [], "o", color=color, ms=5, label=LEGEND[family])
    ax.set_xscale("log")
    ax.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    ax.xaxis.set_major_formatter("{x:g}")
    ax.xaxis.set_minor_formatter("")
    ax.margins(0.13, 0.14)
    ax.tick_params(labelsize=LABEL_SIZE)


def draw(panels: Mapping[int, Mapping[str, pd.DataFrame]], file: Path) -> None:
    """Write a picture with a row of panels for each number of training rows."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    with use_style():
        if not panels:
            raise SystemExit(f"The front needs results of {EXACT} and others on the same sets.")
        width, height = PANEL_INCHES
        figure, axes = plt.subplots(
            len(panels),
            len(TITLES),
            figsize=(width * len(TITLES), height * len(panels)),
            squeeze=False,
            layout="constrained",
        )
        drawn = []
        for line, (rows, means) in zip(axes, panels.items(), strict=True):
            for ax, (measure, title) in zip(line, TITLES.items(), strict=True):
                loss = relative(means[measure])
                drawn.append((ax, means["fit_clock"].mean()[loss.index], loss))
                draw_panel(*drawn[-1])
                n_sets = len(means[measure])
                ax.set_title(f"Mean {title}, at most {rows:,} rows, {n_sets} sets", fontsize=12)
                ax.set_xlabel("mean seconds of a fit", fontsize=11)
                ax.set_ylabel(f"{title} / {title} of {EXACT}", fontsize=11)
        if axes[0, 0].get_legend_handles_labels()[0]:
            axes[0, 0].legend(frameon=False, fontsize=LABEL_SIZE, loc="center right")
        figure.canvas.draw()  # labels are placed when the layout is known
        figure.set_layout_engine("none")
        for panel in drawn:
            draw_labels(*panel)
        file.parent.mkdir(parents=True, exist_ok=True)
        figure.savefig(file)
        plt.close(figure)
