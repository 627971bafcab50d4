"""How far the sampled Bayes point is from the true one."""

from __future__ import annotations

import math

import numpy as np

from ..geometry.great_circle import halfway, random_tangent
from ..geometry.version_space import VersionSpace
from ..solvers.ball import Ball, advance
from ..solvers.precision import Precision, precision

__all__ = ["Precision", "correlation_length", "precision", "sampling_bound"]


def sampling_bound(
    distance: float,
    n_dimensions: int,
    *,
    confidence: float = 0.95,
    low: float = -1.0,
    high: float = 1.0,
    correlation_length: float = 1.0,
) -> int:
    """Return how many bounces are enough for a given precision.

    Parameters
    ----------
    distance : float
        Largest distance allowed between the sampled and the true center of mass.
    n_dimensions : int
        Dimension of version space: the rank of the Gram matrix.
    confidence : float, default=0.95
        Probability that the distance is not exceeded.
    low, high : float
        Interval that contains every component of a hypothesis.
    correlation_length : float, default=1
        Bounces after which the ball has forgotten where it was.

    Returns
    -------
    int
        Number of bounces. The bound holds for any distribution, so it is far larger than
        needed in practice: `Billiard` measures its error instead.

    Notes
    -----
    n (high - low)^2 / (2 distance^2) ln(2 n / (1 - confidence)), from Hoeffding's
    inequality for each of n components (002, eqs. 18.13 and 18.29).

    Examples
    --------
    >>> sampling_bound(0.1, n_dimensions=100)
    165881
    """
    if not distance > 0 or not 0 < confidence < 1 or n_dimensions < 1 or not high > low:
        raise ValueError(
            "sampling_bound needs distance > 0, 0 < confidence < 1, n_dimensions >= 1 and "
            f"high > low, but got distance={distance}, confidence={confidence}, "
            f"n_dimensions={n_dimensions}, low={low}, high={high}."
        )
    independent = n_dimensions * (high - low) ** 2 / (2 * distance**2)
    independent *= math.log(2 * n_dimensions / (1 - confidence))
    return math.ceil(independent * correlation_length)


def correlation_length(
    space: VersionSpace,
    rng: np.random.Generator,
    *,
    n_pairs: int = 20,
    displacement: float = 1e-3,
    warm_up: int = 1000,
    max_bounces: int = 1000,
) -> float:
    """Return the bounces until neighboring trajectories part (002's Lambda).

    Pairs of balls start close to each other, in slightly different directions. Once they
    hit different walls they count as uncorrelated.

    Parameters
    ----------
    space : VersionSpace
        The version space in which they bounce.
    rng : numpy.random.Generator
        Source of randomness.
    n_pairs : int, default=20
        Number of pairs to average over.
    displacement : float, default=1e-3
        Angle between the two positions and between the two directions at the start. The
        walls are flat, so neighbors part at a constant speed, not exponentially: a tenth
        of the angle makes the result about ten times longer. The billiard is not chaotic,
        which is why `Billiard` scatters.
    warm_up : int, default=1000
        Bounces before each measurement.
    max_bounces : int, default=1000
        Give up on a pair after this many bounces, and count this number for it.

    Returns
    -------
    float
        Mean number of bounces.

    Examples
    --------
    >>> import numpy as np
    >>> from bayespoint.datasets import make_teacher
    >>> from bayespoint.diagnostics import correlation_length
    >>> from bayespoint.geometry.gram import unit_gram
    >>> from bayespoint.geometry.version_space import VersionSpace
    >>> X, y, _ = make_teacher(30, 5, random_state=0)
    >>> space = VersionSpace(unit_gram(X @ X.T, 0.0), y)
    >>> 1 < correlation_length(space, np.random.default_rng(0), n_pairs=3, warm_up=100) < 1000
    True
    """
    space = space._replace(label_noise=0.0)
    start = space.enter(rng)
    if space.gram.rank == 1:
        return float(max_bounces)
    ball = Ball(start, random_tangent(start, rng))
    counts = []
    for _ in range(n_pairs):
        ball, _ = advance(space, ball, rng, warm_up, scatter=max(warm_up // 2, 1))
        # A bounce ends at a wall; half an arc further the ball is inside.
        middle = Ball(*halfway(space, *ball))
        neighbor = _displaced(middle, displacement, rng)
        counts.append(_common_bounces(space, middle, neighbor, max_bounces, rng))
    return float(np.mean(counts))


def _common_bounces(space, one: Ball, other: Ball, max_bounces: int, rng) -> int:
    """Count bounces until two balls meet different walls."""
    for count in range(max_bounces):
        one, leg = advance(space, one, rng, 1)
        other, other_leg = advance(space, other, rng, 1)
        if not np.array_equal(leg.hits, other_leg.hits):
            return count
    return max_bounces


def _displaced(ball: Ball, angle: float, rng) -> Ball:
    """Turn position and direction by about this angle in random directions."""
    b = ball.b + angle * random_tangent(ball.b, rng)
    b /= np.linalg.norm(b)
    v = ball.v + angle * random_tangent(ball.b, rng)
    v -= (v @ b) * b
    return Ball(b, v / np.linalg.norm(v))
