"""The largest ball in a version space, whose center is the support vector machine (000, sec. 3)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.optimize import nnls


class Ball(NamedTuple):
    """A ball in version space."""

    center: np.ndarray  # a unit vector
    largest_radius: float  # no ball in version space has a larger one


def largest_ball(walls: np.ndarray) -> Ball:
    """Return the ball around the unit vector with the largest smallest margin.

    The largest margin is the distance of the convex hull of the signed points from the origin: a
    least squares problem with non-negative multipliers (Lawson and Hanson 1974, chapter 23).
    Without a version space the radius is zero up to rounding.
    """
    # The last equation keeps the multipliers from vanishing; its scale does not matter.
    rows = np.column_stack([walls, np.ones(len(walls))]).T
    target = np.append(np.zeros(walls.shape[1]), 1.0)
    multipliers, _ = nnls(rows, target, maxiter=100 * len(walls))
    w = multipliers @ walls
    length = float(np.linalg.norm(w))
    return Ball(w / (length or 1.0), length / float(multipliers.sum()))
