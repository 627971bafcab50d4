"""Figure 5 of 000: the parameter space as softness grows.

The coefficients of unit hypotheses lie on an ellipsoid. Its axes are the inverse square roots
of the eigenvalues of the Gram matrix. Three points in the plane have rank two, so one axis
would be infinite; softness turns the ellipsoid into a ball.
"""

from __future__ import annotations

import numpy as np

from .experiment import Measured, Outcome, Plan
from .picture import WIDTH, color

SOFTNESSES = (0.01, 0.1, 1.0, 10.0)


def run(plan: Plan) -> Outcome:
    """Measure the axes for each softness."""
    axes = {softness: axes_of(softness, plan.seed) for softness in SOFTNESSES}
    numbers = {
        f"longest axis in the shortest, softness {softness:g}": Measured(lengths[2] / lengths[0])
        for softness, lengths in axes.items()
    }
    lines = [
        {"softness": softness, **{f"axis_{k}": length for k, length in enumerate(lengths)}}
        for softness, lengths in axes.items()
    ]
    return Outcome(numbers, lines, lambda: _draw(axes))


def axes_of(softness: float, seed: int) -> np.ndarray:
    """Return the axes of the ellipsoid, the shortest first, scaled to the volume of a unit ball."""
    points = np.random.default_rng(seed).standard_normal((3, 2))
    points /= np.linalg.norm(points, axis=1, keepdims=True)
    eigenvalues = np.linalg.eigvalsh(points @ points.T + softness * np.eye(3))
    axes = 1 / np.sqrt(eigenvalues[::-1])
    return axes / np.prod(axes) ** (1 / 3)


def _draw(axes: dict[float, np.ndarray]):
    from matplotlib.figure import Figure

    figure = Figure(figsize=(WIDTH, 2.4), layout="constrained")
    turn, tilt = np.meshgrid(np.linspace(0, 2 * np.pi, 40), np.linspace(0, np.pi, 20))
    ball = np.stack([np.sin(tilt) * np.cos(turn), np.sin(tilt) * np.sin(turn), np.cos(tilt)])
    for k, (softness, lengths) in enumerate(axes.items()):
        ax = figure.add_subplot(1, len(axes), k + 1, projection="3d")
        surface = lengths[::-1, None, None] * ball
        ax.plot_surface(*surface, color=color(0), alpha=0.8, rstride=1, cstride=1, lw=0)
        reach = max(lengths)
        ax.set(xlim=(-reach, reach), ylim=(-reach, reach), zlim=(-reach, reach))
        ax.set(xticks=[], yticks=[], zticks=[], title=f"softness {softness:g}")
        ax.set_box_aspect((1, 1, 1), zoom=1.2)
    return figure
