"""Figures 18.1 and 18.2 of 002: lines that halve a polygon, and its Bayes point.

In every direction one line, the Bayes line, divides the polygon into parts of equal area. These
lines do not meet in one point. 002 defines the Bayes point by the least squared difference of the
areas beside a line through it, averaged over directions. Here it is compared with the center of
mass and with the center of the largest circle.
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import brentq, minimize

from .experiment import Measured, Outcome, Plan
from .figure_18_3 import CORNERS, center_of_mass, largest_circle, walls_of
from .picture import BLACK, canvas, color

N_DIRECTIONS = 180


def run(plan: Plan) -> Outcome:
    """Draw the Bayes lines, and find the Bayes point."""
    turns = np.pi * np.arange(plan.choose(12, N_DIRECTIONS)) / plan.choose(12, N_DIRECTIONS)
    directions = np.column_stack([np.cos(turns), np.sin(turns)])
    offsets = np.array([halving_offset(CORNERS, v) for v in directions])
    points = {
        "Bayes point": bayes_point(CORNERS, directions),
        "center of mass": center_of_mass(CORNERS),
        "center of the circle": largest_circle(*walls_of(CORNERS))[0],
    }
    best = points["Bayes point"]
    numbers = {
        "largest distance of a Bayes line from the Bayes point": Measured(
            float(np.abs(directions @ best - offsets).max())
        )
    }
    for name, point in points.items():
        root = np.sqrt(mean_squared_difference(CORNERS, directions, point))
        numbers[f"{name}: area difference, % of the polygon"] = Measured(100 * float(root))
        if name != "Bayes point":
            away = float(np.linalg.norm(point - best))
            numbers[f"{name}: distance from the Bayes point"] = Measured(away)
    lines = [
        {"direction": turn, "offset": offset} for turn, offset in zip(turns, offsets, strict=True)
    ]
    return Outcome(numbers, lines, lambda: _draw(directions, offsets, points))


def area(corners: np.ndarray) -> float:
    """Return the area of a polygon."""
    after = np.roll(corners, -1, axis=0)
    return float(np.sum(corners[:, 0] * after[:, 1] - corners[:, 1] * after[:, 0]) / 2)


def part_below(corners: np.ndarray, v: np.ndarray, offset: float) -> np.ndarray:
    """Return the corners of the part of a convex polygon with v @ x < offset."""
    height = corners @ v - offset
    found = []
    for a, b, up, next_up in zip(
        corners, np.roll(corners, -1, axis=0), height, np.roll(height, -1), strict=True
    ):
        if up <= 0:
            found.append(a)
        if up * next_up < 0:
            found.append(a + (b - a) * up / (up - next_up))
    return np.array(found)


def share_below(corners: np.ndarray, v: np.ndarray, offset: float) -> float:
    """Return the share of the area with v @ x < offset."""
    below = part_below(corners, v, offset)
    return area(below) / area(corners) if len(below) > 2 else 0.0


def halving_offset(corners: np.ndarray, v: np.ndarray) -> float:
    """Return the offset of the Bayes line with the normal v."""
    heights = corners @ v
    return brentq(lambda c: share_below(corners, v, c) - 0.5, heights.min(), heights.max())


def mean_squared_difference(corners: np.ndarray, directions: np.ndarray, point) -> float:
    """Return the squared difference of the areas beside lines through a point, averaged."""
    shares = [share_below(corners, v, v @ point) for v in directions]
    return float(np.mean((2 * np.array(shares) - 1) ** 2))


def bayes_point(corners: np.ndarray, directions: np.ndarray) -> np.ndarray:
    """Return the point of the least mean squared difference of areas."""
    return minimize(
        lambda point: mean_squared_difference(corners, directions, point),
        center_of_mass(corners),
        method="Nelder-Mead",
        options={"xatol": 1e-6, "fatol": 1e-12},
    ).x


def _draw(directions, offsets, points):
    figure, axes = canvas(1, 2, sharey=True, height=2.2)
    outline = np.vstack([CORNERS, CORNERS[:1]])
    chosen = len(directions) // 3
    below = part_below(CORNERS, directions[chosen], offsets[chosen])
    axes[0].fill(*below.T, color=color(5), alpha=0.5)
    for v, offset in zip(directions[::3], offsets[::3], strict=True):
        ends = offset * v + np.outer([-9, 9], [-v[1], v[0]])
        axes[1].plot(*ends.T, color="0.6", lw=0.4)
    for ax, title in zip(axes, ("figure 18.1: equal areas", "figure 18.2"), strict=True):
        ax.plot(*outline.T, color=BLACK, lw=1.5)
        ax.set(title=title, aspect="equal", xticks=[], yticks=[])
        ax.set(xlim=(-0.3, 6.3), ylim=(-0.9, 2.2))
    for (name, point), k, marker in zip(points.items(), (2, 3, 0), "DPo", strict=True):
        axes[1].plot(*point, marker, color=color(k), mec="white", ms=7, label=name)
    handles, labels = axes[1].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=3, frameon=False)
    return figure
