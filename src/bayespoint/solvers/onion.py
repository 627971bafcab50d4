"""The onion: a billiard in version space that also averages the cells around it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .._runtime.interrupt import interrupts
from .._runtime.threads import one_blas_thread
from ..geometry.great_circle import random_tangent
from ..geometry.version_space import VersionSpace
from .ball import WALL_UPDATES_PER_CALL, Ball, advance
from .billiard import PILOT_BOUNCES, SCATTER_LENGTH
from .precision import precision
from .rounds import BURN_IN_SHARE

# Number of independent balls; their disagreement gives the error.
N_BALLS = 8


class Layers(NamedTuple):
    """Integrals over the pieces of arcs, by errors on negative and positive points."""

    integrals: np.ndarray  # (n_balls, n_negative, n_positive, rank), of the position
    times: np.ndarray  # (n_balls, n_negative, n_positive)
    length: float  # of all half circles together

    def means(self) -> np.ndarray:
        """Return the mean hypothesis of every cell, NaN for cells that no ray has met."""
        with np.errstate(invalid="ignore"):
            return self.integrals.sum(axis=0) / self.times.sum(axis=0)[..., None]

    def angles(self) -> np.ndarray:
        """Return the estimated error of the directions of the means, infinite if unknown."""
        angles = np.full(self.times.shape[1:], np.inf)
        for cell in np.ndindex(angles.shape):
            times = self.times[(slice(None), *cell)]
            if times.min() > 0:
                integrals = self.integrals[(slice(None), *cell)]
                angles[cell] = precision(integrals[:, None], times[:, None]).angle
        return angles


def peel_onion(
    space: VersionSpace,
    start: np.ndarray,
    rng: np.random.Generator,
    *,
    n_bounces: int,
    max_errors: int,
) -> Layers:
    """Average hypotheses with few training errors along the rays of a billiard.

    Parameters
    ----------
    space, start, rng
        Where the balls bounce, a hypothesis in it, and the source of randomness.
    n_bounces : int
        Bounces of all balls together, after burn-in.
    max_errors : int
        Errors on either class up to which rays are followed.

    Notes
    -----
    An arc that starts at b on a wall of version space would, if no wall stopped it, be at
    -b after half a circle. It crosses every wall once, and the sorted crossings cut the half
    circle into pieces with 0, 1, ..., m - 1 errors. Finding the first k of m crossings
    takes O(m) on average, and adding up a piece O(r): O(m + k r) per bounce.

    Entry (0, 0) is the Bayes point. The other entries are means over their cells, where a
    hypothesis w counts in proportion to the solid angle under which it sees version space.
    They favor hypotheses near version space. A cell need not be convex or connected, and its
    mean may make other errors than the hypotheses in it. docs/notes/onion.md has the proof.

    References
    ----------
    Ruján, Marchand (2000), Computing the Bayes Kernel Classifier, sec. 18.5.3.
    """
    shape = (max_errors + 1, max_errors + 1)
    times = np.zeros((N_BALLS, *shape))
    integrals = np.zeros((N_BALLS, *shape, space.gram.rank))
    if space.gram.rank == 1:  # a single hypothesis, which cannot move
        times[:, 0, 0], integrals[:, 0, 0] = 1.0, start
        return Layers(integrals, times, float(N_BALLS))
    per_ball = -(-n_bounces // N_BALLS)
    with interrupts() as interrupted, one_blas_thread():
        scatter = _scatter_interval(space, start, rng)
        for generator, integral, time in zip(rng.spawn(N_BALLS), integrals, times, strict=True):
            ball = Ball(start, random_tangent(start, generator))
            # After that the ball is at a wall, where arcs begin.
            ball, _ = advance(space, ball, generator, 1 + int(BURN_IN_SHARE * per_ball), scatter)
            n = max(WALL_UPDATES_PER_CALL // integral.size, 1)
            for done in range(0, per_ball, n):
                if interrupted:
                    break
                todo = min(n, per_ball - done)
                ball = follow(space, ball, generator, todo, scatter, integral, time)
    if interrupted:
        raise KeyboardInterrupt
    return Layers(integrals, times, np.pi * per_ball * N_BALLS)


def _scatter_interval(space: VersionSpace, start: np.ndarray, rng: np.random.Generator) -> int:
    """Return the number of bounces between scatterings, from a short flight."""
    ball = Ball(start, random_tangent(start, rng))
    _, pilot = advance(space, ball, rng, PILOT_BOUNCES)
    return max(round(SCATTER_LENGTH * PILOT_BOUNCES / pilot.length), 1)


def follow(
    space: VersionSpace,
    ball: Ball,
    rng: np.random.Generator,
    n_bounces: int,
    scatter: int,
    integral: np.ndarray,
    time: np.ndarray,
) -> Ball:
    """Let a ball bounce, and add the pieces of its rays to integral and time."""
    from .._jit.billiard import SMALLEST_MARGIN
    from .._jit.onion import peel

    b, v = ball.b.copy(), ball.v.copy()
    d, u = space.margins(np.stack(ball))
    d = np.maximum(d, SMALLEST_MARGIN)
    gram = space.gram
    max_errors = len(time) - 1
    depth = min(2 * max_errors + 1, len(d))
    room = np.empty(depth), np.empty(depth, dtype=np.int64), np.empty(len(b))
    walls = gram.matrix, gram.factor, space.signs
    peel(*walls, b, v, d, u, n_bounces, scatter, rng, max_errors, *room, integral, time)
    b /= np.linalg.norm(b)
    v -= (v @ b) * b
    return Ball(b, v / np.linalg.norm(v))


def express(rows, space: VersionSpace, means: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the pivot points, and mean hypotheses as coefficients on them."""
    gram = space.gram
    met = ~np.isnan(means[..., 0])
    coef = np.full((*met.shape, gram.rank), np.nan)
    to_points = (space.signs / gram.lengths)[gram.pivots]
    coef[met] = space.dual(means[met])[:, gram.pivots] * to_points
    return rows[gram.pivots], coef
