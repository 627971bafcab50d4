"""002's correlation length Lambda against the number of training examples.

Lambda is the mean number of bounces after which two balls, which start close to each other, first
bounce on different walls. 002 asks whether it depends on the number m of examples: if not, the
billiard would be the fastest method known. Two families are measured: a linear teacher in a fixed
dimension, and an rbf kernel, whose rank grows with m.
"""

from __future__ import annotations

import numpy as np
from sklearn.metrics.pairwise import rbf_kernel

from ..datasets.known_answers import make_teacher
from ..geometry.gram import unit_gram
from ..geometry.version_space import VersionSpace
from .experiment import Measured, Outcome, Plan, average
from .picture import canvas, curve

SIZES = (25, 50, 100, 200, 400)
N_FEATURES = 20
# Angles between the balls at the start.
DISTANCES = (1e-2, 1e-3)
N_BALLS = 100
MAX_BOUNCES = 100_000
FAMILIES = ("linear, 20 dimensions", "rbf, rank m")


def run(plan: Plan) -> Outcome:
    """Measure Lambda for growing training sets."""
    sizes, n_balls = plan.choose(SIZES[:2], SIZES), plan.choose(3, N_BALLS)
    settings = [(family, m) for family in FAMILIES for m in sizes]
    items = [(*s, d, plan.seed + i) for s in settings for d in DISTANCES for i in range(n_balls)]
    counts = np.reshape(
        plan.repeat(bounces_together, items, "pairs"),
        (len(FAMILIES), len(sizes), len(DISTANCES), n_balls),
    )
    numbers: dict[str, Measured] = {}
    for f, family in enumerate(FAMILIES):
        for d, distance in enumerate(DISTANCES):
            for k in sorted({0, len(sizes) - 1}):
                key = f"{family}: Lambda from {distance:g} rad, {sizes[k]} examples"
                numbers[key] = average(counts[f, k, d])
            numbers[f"{family}: power of m, from {distance:g} rad"] = power(sizes, counts[f, :, d])
    lines = [
        {"family": item[0], "examples": item[1], "distance": item[2], "seed": item[3], "bounces": n}
        for item, n in zip(items, counts.ravel(), strict=True)
    ]
    note = f"{n_balls} pairs of balls for each number of examples, each in a new version space."
    return Outcome(numbers, lines, lambda: _draw(sizes, counts), (note,))


def power(sizes, counts: np.ndarray) -> Measured:
    """Return the slope of log Lambda against log m, by weighted least squares, with its error."""
    means = np.array([average(row) for row in counts])
    weights = means[:, 0] / means[:, 1]  # one over the error of log Lambda
    design = np.column_stack([np.ones(len(sizes)), np.log(sizes)]) * weights[:, None]
    covariance = np.linalg.inv(design.T @ design)
    slope = (covariance @ design.T @ (np.log(means[:, 0]) * weights))[1]
    return Measured(float(slope), float(np.sqrt(covariance[1, 1])), counts.size)


def bounces_together(family: str, n_samples: int, distance: float, seed: int) -> int:
    """Return after how many bounces two close balls bounce on different walls."""
    X, y, _ = make_teacher(n_samples, N_FEATURES, seed)
    matrix = X @ X.T if family == FAMILIES[0] else rbf_kernel(X, gamma=1 / N_FEATURES)
    space = VersionSpace(unit_gram(matrix, 0.0), y.astype(float))
    rng = np.random.default_rng(seed)
    start = space.enter(rng)
    v = _across(rng.standard_normal(len(start)), start)
    other = _unit(start + distance * _across(rng.standard_normal(len(start)), start))
    turned = _across(v + distance * _across(rng.standard_normal(len(start)), start), other)
    balls = [(start, v, -1), (other, turned, -1)]
    for n in range(MAX_BOUNCES):
        balls = [bounce(space.walls, *ball) for ball in balls]
        if balls[0][2] != balls[1][2]:
            return n
    return MAX_BOUNCES


def bounce(walls: np.ndarray, b: np.ndarray, v: np.ndarray, last: int):
    """Fly along a great circle to the next wall and reflect; return the ball and the wall."""
    times = np.arctan2(walls @ b, -(walls @ v))
    times[times < 0] += np.pi
    if last >= 0:
        times[last] = np.pi
    wall = int(times.argmin())
    t = times[wall]
    b, v = np.cos(t) * b + np.sin(t) * v, np.cos(t) * v - np.sin(t) * b
    v = v - 2 * (walls[wall] @ v) * walls[wall]
    b = _unit(b)
    return b, _across(v, b), wall


def _unit(w: np.ndarray) -> np.ndarray:
    return w / np.linalg.norm(w)


def _across(v: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return the unit vector along the part of v that is orthogonal to b."""
    return _unit(v - (v @ b) * b)


def _draw(sizes, counts: np.ndarray):
    figure, axes = canvas(1, len(FAMILIES), sharey=True)
    for ax, family, table in zip(axes, FAMILIES, counts, strict=True):
        for d, distance in enumerate(DISTANCES):
            means = np.array([average(row) for row in table[:, d]])
            label = f"start {distance:g} rad apart"
            curve(ax, sizes, means[:, 0], 3 * d, label, error=means[:, 1])
        ax.set(title=family, xlabel="examples", xscale="log", yscale="log")
        ax.set_xticks(sizes, [str(m) for m in sizes])
        ax.minorticks_off()
    axes[0].set_ylabel("bounces until they part")
    axes[0].legend()
    return figure
