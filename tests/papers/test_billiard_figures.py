"""Geometry that the experiments do themselves, against slow twins."""

import numpy as np
import pytest

from bayespoint.geometry.gram import unit_gram
from bayespoint.geometry.version_space import VersionSpace
from bayespoint.papers.figure_5 import axes_of
from bayespoint.papers.figure_18_3 import (
    CORNERS,
    center_of_mass,
    largest_circle,
    mean_position,
    play,
    walls_of,
)
from bayespoint.papers.figure_18_13 import bounces_until_escape


def test_center_of_mass_agrees_with_points_thrown_at_the_polygon(rng):
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


def test_ball_escapes_from_a_wide_cone_only():
    """With obtuse walls a ball soon flies away; between steep ones it bounces on."""
    wide = VersionSpace(unit_gram(np.eye(3), 0.0), np.ones(3))
    assert bounces_until_escape(wide, 0, 800) <= 3 * 8
    # Points near the plane of the first two coordinates leave a narrow slit.
    rows = np.array([[1.0, 0.02], [-1.0, 0.02]])
    narrow = VersionSpace(unit_gram(rows @ rows.T, 0.0), np.ones(2))
    assert bounces_until_escape(narrow, 0, 8000) > 8 * 10


def test_softness_makes_the_ellipsoid_a_ball():
    ratios = [axes_of(softness, 0)[2] / axes_of(softness, 0)[0] for softness in (0.01, 1, 1000)]
    assert ratios[0] > ratios[1] > ratios[2]
    assert ratios[2] < 1.01
    assert np.prod(axes_of(0.1, 3)) == pytest.approx(1.0)
