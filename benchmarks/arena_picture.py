"""Critical-difference picture of `arena.py` (Demšar, JMLR 7, 2006)."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from arena_machines import OURS

from bayespoint.displays import use_style
from bayespoint.evaluation.displays.colors import BLACK, COLORS, GRAY

# Heights in units of one label, downwards from the axis.
RULER, FIRST_BAR, BAR_STEP, LABEL_STEP = -1.35, 0.5, 0.32, 0.8
INCHES_PER_UNIT = 0.32
# Half of the width of a panel, with room for names, as a share of the number of ranks.
LABEL_MARGIN = 0.72
DARK, PALE = "#333333", "#bbbbbb"


def cliques(mean: np.ndarray, width: float) -> list[tuple[float, float]]:
    """Return the largest groups of ranks that lie within the critical difference."""
    mean = np.sort(mean)
    ends = [(first, mean[mean <= first + width].max()) for first in mean]
    # A group that ends where an earlier one ends is part of it.
    return [(a, b) for i, (a, b) in enumerate(ends) if b > a and (i == 0 or b > ends[i - 1][1])]


def depth(n_machines: int, n_bars: int) -> float:
    """Return the height of a panel below its axis."""
    return FIRST_BAR + BAR_STEP * n_bars + LABEL_STEP * ((n_machines + 1) // 2) + 0.3


def draw_axis(ax: Any, n_machines: int, width: float) -> None:
    """Draw the axis of ranks, and above it the critical difference as a ruler."""
    ax.plot([1, n_machines], [0, 0], color=BLACK, lw=1.1, solid_capstyle="butt")
    for tick in np.arange(1, n_machines + 0.25, 0.5):
        whole = tick == int(tick)
        ax.plot([tick, tick], [0, -0.22 if whole else -0.12], color=BLACK, lw=0.9)
        if whole:
            ax.text(tick, -0.32, f"{tick:.0f}", ha="center", va="bottom", fontsize=8.5)
    ax.plot([1, 1 + width], [RULER, RULER], color=DARK, lw=1.1)
    for end in (1, 1 + width):
        ax.plot([end, end], [RULER - 0.14, RULER + 0.14], color=DARK, lw=1.1)
    note = f"critical difference {width:.2f}"
    ax.text(1 + width + 0.12, RULER, note, ha="left", va="center", fontsize=8, color=GRAY)


def draw_panel(ax: Any, title: str, ranks: Any, n_most: int) -> None:
    """Draw the machines along an axis of ranks, best on the left."""
    names, mean, width = ranks.machines, ranks.mean, ranks.critical_difference
    k = len(names)
    bars = cliques(mean, width)
    draw_axis(ax, k, width)
    for i, (low, high) in enumerate(bars):
        y = FIRST_BAR + BAR_STEP * i
        ax.plot([low - 0.06, high + 0.06], [y, y], color=PALE, lw=4, solid_capstyle="round")
    top = FIRST_BAR + BAR_STEP * len(bars) + 0.25
    half = (k + 1) // 2
    for place, i in enumerate(np.argsort(mean, kind="stable")):
        left = place < half
        y = top + LABEL_STEP * (place if left else k - 1 - place)
        edge, align = (0.75, "right") if left else (k + 0.25, "left")
        ours = names[i] == OURS[0]
        color = COLORS[0] if ours else DARK
        lift = 5 if ours else 3
        ax.plot(
            [mean[i], mean[i], edge], [0, y, y], color=color, lw=1.8 if ours else 0.8, zorder=lift
        )
        ax.plot(mean[i], 0, "o", color=color, ms=6.5 if ours else 4.5, zorder=lift)
        weight = "bold" if ours else "normal"
        look = {"va": "center", "fontsize": 9.5, "color": color, "weight": weight}
        label = f"{names[i]}  {mean[i]:.2f}" if left else f"{mean[i]:.2f}  {names[i]}"
        ax.text(edge + (-0.1 if left else 0.1), y, label, ha=align, **look)
    ax.set_title(title, loc="center", fontsize=11, weight="bold", pad=4)
    center, reach = (k + 1) / 2, LABEL_MARGIN * n_most
    ax.set(xlim=(center - reach, center + reach), ylim=(depth(k, len(bars)), RULER - 0.5))
    ax.axis("off")


def draw(panels: Mapping[str, Any], over: str, file: Path) -> None:
    """Write a picture with one panel per measure."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    with use_style():
        heights = [
            depth(len(r.machines), len(cliques(r.mean, r.critical_difference))) - RULER + 1.4
            for r in panels.values()
        ]
        n_most = max(len(r.machines) for r in panels.values())
        figure, axes = plt.subplots(
            len(panels),
            figsize=(8.2, INCHES_PER_UNIT * sum(heights)),
            height_ratios=heights,
            squeeze=False,
            layout="constrained",
        )
        for ax, (title, ranks) in zip(axes[:, 0], panels.items(), strict=True):
            draw_panel(ax, f"Mean rank by {title}, {over} (1 is best)", ranks, n_most)
        file.parent.mkdir(parents=True, exist_ok=True)
        figure.savefig(file)
        plt.close(figure)
