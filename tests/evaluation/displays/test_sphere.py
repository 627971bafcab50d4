"""Geometry of the sphere: corners, arcs and an equal-area projection."""

import numpy as np

from bayespoint.evaluation.displays.sphere import (
    LambertProjection,
    arcs,
    corners,
    great_circle,
)


def test_corners_of_the_orthant():
    walls = np.vstack([np.eye(3), np.eye(3), [[0.6, 0.8, 0.0]]])  # duplicates, one redundant
    found = corners(walls, np.ones(3) / np.sqrt(3))
    assert len(found) == 3
    np.testing.assert_allclose(np.sort(found.argmax(axis=1)), [0, 1, 2])
    np.testing.assert_allclose(np.sort(found, axis=1), [[0, 0, 1]] * 3, atol=1e-12)


def test_projection_keeps_distances_from_the_center(rng):
    center = np.array([0.0, 0.6, 0.8])
    points = rng.standard_normal((20, 3))
    points /= np.linalg.norm(points, axis=1, keepdims=True)
    flat = LambertProjection(center, points)(points)
    np.testing.assert_allclose(
        np.linalg.norm(flat, axis=1), 2 * np.sin(np.arccos(points @ center) / 2)
    )


def test_circles_are_on_their_wall_and_on_the_sphere():
    wall = np.array([0.0, 0.6, 0.8])
    circle = great_circle(wall)
    np.testing.assert_allclose(circle @ wall, 0, atol=1e-12)
    np.testing.assert_allclose(np.linalg.norm(circle, axis=1), 1)
    np.testing.assert_allclose(circle[0], circle[-1])


def test_arcs_are_the_shortest_way():
    stations = np.eye(3)
    path = arcs(stations)
    np.testing.assert_allclose(np.linalg.norm(path, axis=1), 1)
    for corner in stations:
        assert np.abs(path - corner).sum(axis=1).min() < 1e-12
    # Two quarters of a great circle, each drawn as 39 equal chords.
    steps = 2 * np.arcsin(np.linalg.norm(np.diff(path, axis=0), axis=1) / 2)
    np.testing.assert_allclose(steps.sum(), np.pi)
