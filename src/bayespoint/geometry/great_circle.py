"""Unit vectors, and great circles on the sphere of hypotheses."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from .version_space import VersionSpace

# A margin below this is lost in the rounding of the Gram matrix: a rounding error of an
# entry moves a unit point by the square root of that error.
MIN_RELIABLE_MARGIN = 1e-8
# A vector shorter than this has no reliable direction.
_MIN_UNIT_LENGTH = 1e-12
# Draw another tangent if the projection is shorter than this.
_MIN_TANGENT_LENGTH = 1e-8
# About the cotangent of pi: without a wall ahead, a great circle is followed for half a turn.
_COTANGENT_OF_PI = -1e9


def unit_vector(w: np.ndarray) -> np.ndarray | None:
    """Scale w to unit length; return None if it is not finite or too short."""
    length = float(np.linalg.norm(w))
    return w / length if np.isfinite(length) and length > _MIN_UNIT_LENGTH else None


def random_tangent(w: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return a random unit vector orthogonal to the unit vector w."""
    if len(w) < 2 or not np.isfinite(w).all():
        raise ValueError(f"w should be finite and have two components or more, but is {w}.")
    while True:
        v = rng.standard_normal(len(w))
        # Project twice: after once, rounding may leave a component along w.
        for _ in range(2):
            v -= (v @ w) * w
        length = np.linalg.norm(v)
        if length > _MIN_TANGENT_LENGTH:
            return v / length


def halfway(space: VersionSpace, b: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Move along a great circle from b in the direction v, half the way to the next wall."""
    d, u = space.margins(np.stack([b, v]))
    ahead = d > MIN_RELIABLE_MARGIN
    t = math.atan2(1.0, np.max(-u[ahead] / d[ahead], initial=_COTANGENT_OF_PI)) / 2
    return b * math.cos(t) + v * math.sin(t), v * math.cos(t) - b * math.sin(t)
