"""The centers of benchmarks/centers.py, on version spaces with known ones."""

import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.append(str(Path(__file__).parents[1] / "benchmarks"))

import centers

from bayespoint.solvers.largest_ball import largest_margin
from helpers import angle_between, orthant_space, teacher_space


def sticks_out(walls, center, axes, rng):
    """Return by how much points of an ellipsoid leave the cone or the unit ball."""
    u = rng.standard_normal((2000, len(center)))
    points = center + u / np.linalg.norm(u, axis=1, keepdims=True) @ axes.T
    return max(-(points @ walls.T).min(), np.linalg.norm(points, axis=1).max() - 1)


def largest_inside(walls, center, axes):
    """Return the logarithm of the volume of an ellipsoid, shrunk until it is inside."""
    low, high = 0.0, 2.0
    for _ in range(20):
        middle = (low + high) / 2
        out = sticks_out(walls, center, middle * axes, np.random.default_rng(0))
        low, high = (low, middle) if out > 0 else (middle, high)
    return np.linalg.slogdet(low * axes)[1] if low else -np.inf


@pytest.mark.parametrize("space", [teacher_space(8, 2, seed=0), teacher_space(12, 3, seed=1)])
def test_no_ellipsoid_is_larger(space, rng):
    """Ellipsoids near the largest one are smaller, once they are shrunk to fit."""
    center, axes = centers.largest_ellipsoid(space.walls, largest_margin(space))
    assert sticks_out(space.walls, center, axes, rng) < 1e-5
    volume, others = np.linalg.slogdet(axes)[1], []
    for _ in range(50):
        size = 10 ** rng.uniform(-4, -1)
        other = center + size * rng.standard_normal(len(center))
        around = axes + size * rng.standard_normal(axes.shape)
        others.append(largest_inside(space.walls, other, around))
    # 2000 points of a surface may miss a little that sticks out.
    assert volume - 1 < max(others) < volume + 0.01


@pytest.mark.parametrize("r", [2, 3])
def test_the_ellipsoid_of_an_orthant_is_on_its_diagonal(r):
    space = orthant_space(r)
    center, axes = centers.largest_ellipsoid(space.walls, largest_margin(space))
    diagonal = space.walls.sum(axis=0)
    assert angle_between(center, diagonal) < 1e-3
    if r == 2:  # any ellipse that touches both axes and the circle is no larger
        best = 0.0
        for d in np.linspace(0.4, 0.6, 101):  # centers (d, d), symmetric about the diagonal
            for s in np.linspace(-0.9, 0.9, 61):
                # A covariance with diagonal d^2 touches both axes; s is its correlation.
                cov = d**2 * np.array([[1, s], [s, 1]])
                t = np.linspace(0, 2 * np.pi, 60)
                curve = d + np.linalg.cholesky(cov) @ [np.cos(t), np.sin(t)]
                if np.hypot(*curve).max() <= 1:
                    best = max(best, np.sqrt(np.linalg.det(cov)))
        assert np.prod(np.diagonal(axes)) == pytest.approx(best, rel=0.02)


def test_a_small_run(capsys, monkeypatch):
    monkeypatch.setattr(sys, "argv", ["centers.py", "--problems", "2", "--sizes", "6,2"])
    centers.main()
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 2 + 5
    assert "billiard | 0.000" in lines[-1]
