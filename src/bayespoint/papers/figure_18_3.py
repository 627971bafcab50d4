"""Figures 18.3 and 18.4 of 002: a polygon, its largest circle, its center of mass, a ball.

This billiard table is flat, and the ball is reflected as in a mirror. Its mean position is
compared with the center of mass, which has a formula.
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import linprog

from .experiment import Outcome, Plan, average
from .picture import BLACK, canvas, color

# An elongated polygon, as in the paper.
CORNERS = np.array([[0.0, 0.0], [4.0, -0.6], [6.0, 0.4], [5.6, 1.3], [2.0, 1.9], [0.3, 1.1]])
N_BOUNCES = 1000


def run(plan: Plan) -> Outcome:
    """Play billiards in the polygon from many starts."""
    n_bounces, n_balls = plan.choose(200, N_BOUNCES), plan.choose(8, 100)
    walls, offsets = walls_of(CORNERS)
    center, (circle, radius) = center_of_mass(CORNERS), largest_circle(walls, offsets)
    seeds = [plan.seed + i for i in range(n_balls)]
    items = [(walls, offsets, random_point(walls, offsets, s), n_bounces, s) for s in seeds]
    paths = plan.repeat(play, items, "balls")
    means = np.array([mean_position(path) for path in paths])
    numbers = {
        "mean of the ball minus center of mass, x": average(means[:, 0] - center[0]),
        "mean of the ball minus center of mass, y": average(means[:, 1] - center[1]),
        "distance of one ball's mean after the bounces": average(
            np.linalg.norm(means - center, axis=1)
        ),
        "center of the circle minus center of mass, x": average([circle[0] - center[0]]),
    }
    lines = [{"seed": s, "x": x, "y": y} for s, (x, y) in zip(seeds, means, strict=True)]
    note = f"{n_bounces} bounces, {n_balls} balls."
    return Outcome(numbers, lines, lambda: _draw(center, circle, radius, paths[0]), (note,))


def walls_of(corners: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return unit normals that point inwards, and offsets: inside is normal @ x > offset."""
    along = np.roll(corners, -1, axis=0) - corners
    normals = np.column_stack([-along[:, 1], along[:, 0]])
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    return normals, np.sum(normals * corners, axis=1)


def center_of_mass(corners: np.ndarray) -> np.ndarray:
    """Return the center of mass of a polygon, as a sum over triangles with the origin."""
    after = np.roll(corners, -1, axis=0)
    areas = corners[:, 0] * after[:, 1] - corners[:, 1] * after[:, 0]
    return (corners + after).T @ areas / (3 * areas.sum())


def largest_circle(walls: np.ndarray, offsets: np.ndarray) -> tuple[np.ndarray, float]:
    """Return center and radius of the largest circle inside, by a linear program."""
    rows = np.column_stack([-walls, np.ones(len(walls))])
    x, y, radius = linprog([0, 0, -1], rows, -offsets, bounds=(None, None)).x
    return np.array([x, y]), float(radius)


def random_point(walls, offsets, seed: int) -> np.ndarray:
    """Return a uniform point of the polygon: a billiard keeps this distribution."""
    rng = np.random.default_rng([seed, 1])
    while True:
        x = rng.uniform(CORNERS.min(axis=0), CORNERS.max(axis=0))
        if (walls @ x > offsets).all():
            return x


def play(walls, offsets, start, n_bounces: int, seed: int) -> np.ndarray:
    """Return the points where a ball starts and bounces."""
    turn = np.random.default_rng(seed).uniform(0, 2 * np.pi)
    x, v, path = start, np.array([np.cos(turn), np.sin(turn)]), [start]
    for _ in range(n_bounces):
        speed = walls @ v
        nearing = speed < -1e-12
        times = np.where(nearing, (offsets - walls @ x) / np.where(nearing, speed, 1.0), np.inf)
        # Rounding may have put the ball slightly behind the wall that it leaves.
        wall = int(np.argmin(np.maximum(times, 0.0)))
        x = x + max(times[wall], 0.0) * v
        v = v - 2 * speed[wall] * walls[wall]
        path.append(x)
    return np.array(path)


def mean_position(path: np.ndarray) -> np.ndarray:
    """Return the mean over time: the midpoints of the flights, weighted by their lengths."""
    lengths = np.linalg.norm(np.diff(path, axis=0), axis=1)
    return lengths @ (path[1:] + path[:-1]) / (2 * lengths.sum())


def _draw(center, circle, radius, path):
    from matplotlib.patches import Circle

    figure, axes = canvas(1, 2, sharey=True, height=2.2)
    outline = np.vstack([CORNERS, CORNERS[:1]])
    axes[0].add_patch(Circle(circle, radius, fc=color(5), ec=color(0), alpha=0.5))
    axes[1].plot(*path[:200].T, color="0.5", lw=0.4)
    for ax, title in zip(axes, ("figure 18.3", "figure 18.4: 200 bounces"), strict=True):
        ax.plot(*outline.T, color=BLACK, lw=1.5)
        ax.plot(*circle, "o", color=color(0), ms=6, label="center of the circle")
        ax.plot(*center, "P", color=color(3), ms=9, mec="white", label="center of mass")
        ax.set(title=title, aspect="equal", xticks=[], yticks=[])
    axes[1].plot(*mean_position(path), "D", color=color(2), mec="white", label="mean of the ball")
    handles, labels = axes[1].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=3, frameon=False)
    return figure
