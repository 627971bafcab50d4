import numpy as np
import pytest

from bayespoint.papers.figure_18_3 import (
    CORNERS,
    center_of_mass,
    largest_circle,
    mean_position,
    play,
    random_point,
    walls_of,
)


def test_center_of_mass_agrees_with_random_points_in_the_polygon(rng):
    walls, offsets = walls_of(CORNERS)
    points = rng.uniform(CORNERS.min(axis=0), CORNERS.max(axis=0), (200_000, 2))
    inside = points[(points @ walls.T > offsets).all(axis=1)]
    allowed = 4 * inside.std(axis=0) / np.sqrt(len(inside))
    assert (np.abs(inside.mean(axis=0) - center_of_mass(CORNERS)) < allowed).all()


def test_circle_touches_three_walls_from_inside():
    walls, offsets = walls_of(CORNERS)
    center, radius = largest_circle(walls, offsets)
    distances = walls @ center - offsets
    assert distances.min() == pytest.approx(radius)
    assert np.isclose(distances, radius).sum() >= 3


def test_ball_stays_inside_and_its_mean_is_the_center():
    walls, offsets = walls_of(CORNERS)
    start = largest_circle(walls, offsets)[0]
    paths = [play(walls, offsets, start, 500, seed) for seed in range(20)]
    assert min((path @ walls.T - offsets).min() for path in paths) > -1e-9
    means = np.array([mean_position(path) for path in paths])
    error = means.std(axis=0, ddof=1) / np.sqrt(20)
    assert (np.abs(means.mean(axis=0) - center_of_mass(CORNERS)) < 4 * error).all()
    # The center of the circle would not pass.
    assert (np.abs(means.mean(axis=0) - start) > 4 * error).any()


def test_starts_are_inside_and_differ():
    walls, offsets = walls_of(CORNERS)
    starts = np.array([random_point(walls, offsets, seed) for seed in range(50)])
    assert (starts @ walls.T > offsets).all()
    assert len(np.unique(starts, axis=0)) == 50
