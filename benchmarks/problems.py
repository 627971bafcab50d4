"""Problems that several benchmarks share, and how to time things on a busy machine."""

from __future__ import annotations

import time

import numpy as np
from sklearn.metrics.pairwise import rbf_kernel

from bayespoint.geometry.gram import unit_gram
from bayespoint.geometry.great_circle import random_tangent
from bayespoint.geometry.version_space import VersionSpace
from bayespoint.solvers.ball import Ball


def rbf_problem(n_points: int, softness: float = 0.1, gamma: float = 0.1) -> VersionSpace:
    """Noisy exclusive-or in ten dimensions under an RBF kernel."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n_points, 10))
    y = np.sign(X[:, 0] * X[:, 1] + 0.3 * rng.standard_normal(n_points))
    return VersionSpace(unit_gram(rbf_kernel(X, gamma=gamma), softness), y)


def perceptron_problem(n_dimensions: int, n_points: int) -> VersionSpace:
    """Random points with the labels of a random teacher through the origin."""
    rng = np.random.default_rng(n_dimensions)
    X = rng.standard_normal((n_points, n_dimensions))
    y = np.sign(X @ rng.standard_normal(n_dimensions))
    return VersionSpace(unit_gram(X @ X.T, 0.0), y)


def new_ball(space: VersionSpace, rng: np.random.Generator, start=None) -> Ball:
    """Return a ball in version space with a random direction."""
    b = space.enter(rng) if start is None else start
    return Ball(b, random_tangent(b, rng))


def seconds(*functions, repeats: int = 7, clock=time.perf_counter) -> list[float]:
    """Return the median time of each function; they take turns, so that all share the noise.

    On a busy machine `clock=time.thread_time`, the CPU time of the thread, varies less; on an
    idle one it is the same.
    """
    times = [[] for _ in functions]
    for _ in range(repeats):
        for function, record in zip(functions, times, strict=True):
            began = clock()
            function()
            record.append(clock() - began)
    return [float(np.median(record)) for record in times]


def cosine(a: np.ndarray, b: np.ndarray) -> float:
    """Return the cosine of the angle between two vectors."""
    return float(a @ b / np.sqrt((a @ a) * (b @ b)))
