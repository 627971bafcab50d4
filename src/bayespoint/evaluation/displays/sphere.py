"""Version spaces on the unit sphere in three dimensions: corners, center, projection."""

from __future__ import annotations

from itertools import combinations, pairwise

import numpy as np

# Rounding error of products of unit vectors: a corner may lie this far behind a wall.
ROUNDING_TOLERANCE = 1e-9
# Points drawn on each piece of a great circle.
POINTS_PER_ARC = 40


def corners(walls: np.ndarray, inside: np.ndarray) -> np.ndarray:
    """Return the corners of a cone, as unit vectors in order around a point inside."""
    pairs = np.array(list(combinations(range(len(walls)), 2)))
    crossing = np.cross(walls[pairs[:, 0]], walls[pairs[:, 1]])
    length = np.linalg.norm(crossing, axis=1, keepdims=True)
    distinct = length[:, 0] > ROUNDING_TOLERANCE
    crossing = (crossing / np.maximum(length, ROUNDING_TOLERANCE))[distinct]
    crossing = np.vstack([crossing, -crossing])
    crossing = crossing[(crossing @ walls.T).min(axis=1) > -ROUNDING_TOLERANCE]
    around = np.arctan2(*(crossing @ _tangents(inside).T).T)
    order = np.argsort(around)
    # Walls of equal points cross other walls in the same corner.
    new = np.diff(around[order], prepend=-np.inf) > ROUNDING_TOLERANCE
    return crossing[order][new]


def unit(vector: np.ndarray) -> np.ndarray:
    """Return a vector of length one."""
    return vector / np.linalg.norm(vector)


def great_circle(wall: np.ndarray) -> np.ndarray:
    """Return points on the great circle of a wall."""
    turn = np.linspace(0, 2 * np.pi, 8 * POINTS_PER_ARC)
    return np.column_stack([np.cos(turn), np.sin(turn)]) @ _tangents(wall)


def arcs(stations: np.ndarray) -> np.ndarray:
    """Return points on the great circles from each station to the next."""
    share = np.linspace(0, 1, POINTS_PER_ARC)[:, None]
    legs = []
    for one, other in pairwise(stations):
        angle = 2 * np.arctan2(np.linalg.norm(one - other), np.linalg.norm(one + other))
        tangent = other - (other @ one) * one
        tangent = tangent / max(np.linalg.norm(tangent), np.finfo(float).tiny)
        legs.append(np.cos(share * angle) * one + np.sin(share * angle) * tangent)
    return np.concatenate(legs)


class LambertProjection:
    """The equal-area projection of the sphere around a center."""

    def __init__(self, center: np.ndarray, spread: np.ndarray):
        self.center = center
        tangents = _tangents(center)
        # The first axis is the one along which `spread` is longest.
        self.basis = np.linalg.svd((spread - spread.mean(axis=0)) @ tangents.T)[2] @ tangents

    def __call__(self, points: np.ndarray) -> np.ndarray:
        scale = np.sqrt(2 / np.maximum(1 + points @ self.center, ROUNDING_TOLERANCE))
        return scale[:, None] * (points @ self.basis.T)


def _tangents(point: np.ndarray) -> np.ndarray:
    """Return two unit vectors that are orthogonal to a point and to each other."""
    return np.linalg.svd(point[None])[2][1:]
