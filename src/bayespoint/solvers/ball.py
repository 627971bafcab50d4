"""A billiard ball: where it is, how it moves, and which walls it meets."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..geometry.gram import ROUNDING
from ..geometry.great_circle import random_tangent
from ..geometry.version_space import VersionSpace

if TYPE_CHECKING:
    from .._jit.billiard import Flight

# Wall updates of a ball in one compiled call, about 20 ms. Between calls, solvers look at the
# clock and for Ctrl-C.
WALL_UPDATES_PER_CALL = 20_000_000
# A margin below this is rounding: the ball is at this wall.
MAX_MARGIN_AT_WALL = 1e-9
# The cost of a wall where two labels balance. It is above zero, so that the wall scatters.
SMALLEST_WALL_COST = 1e-100
# Scattering once in this many bounces means never.
NO_SCATTERING = 2**62


class Ball(NamedTuple):
    """Position and direction of a ball, in coordinates.

    They are orthogonal unit vectors without label noise, and Gaussian vectors with it.
    """

    b: np.ndarray
    v: np.ndarray


class Leg(NamedTuple):
    """The contribution of a stretch of one ball's trajectory to the answer."""

    integral: np.ndarray  # of the position over time
    length: float
    errors: float  # integral of the number of training errors over time
    hits: np.ndarray
    draws: np.ndarray | None  # one position in each row: coordinates, then coefficients


def advance(
    space: VersionSpace,
    ball: Ball,
    rng: np.random.Generator,
    n_bounces: int,
    scatter: int = NO_SCATTERING,
    spacing: float = np.inf,
    n_draws: int = 0,
    should_stop: Callable[[], bool] = bool,
    cost: np.ndarray | None = None,
) -> tuple[Ball, Leg]:
    """Let a ball bounce; the given ball does not change.

    Margins are recomputed from the position at the start, to prevent drift. Between compiled
    calls should_stop may end the flight. Without `cost`, walls cost what `wall_costs` returns.
    """
    from .._jit.billiard import SMALLEST_MARGIN, Flight, Margins, Motion, Schedule, Walls, fly

    gram = space.gram
    cost = wall_costs(space) if cost is None else cost
    d, u = space.margins(np.stack(ball))
    side = np.ones_like(d)
    if space.label_noise > 0:
        # A flight ends at a wall that the ball is leaving: its direction shows the side.
        side[np.where(np.abs(d) > MAX_MARGIN_AT_WALL, d, u) < 0] = -1.0
        d, u = d * side, u * side
    d = np.maximum(d, SMALLEST_MARGIN)
    none = np.zeros_like(d)
    walls = Walls(gram.matrix, gram.factor, gram.extent, space.signs, cost)
    motion, margins = Motion(ball.b, none, ball.v, none), Margins(d, u, side)
    call = max(WALL_UPDATES_PER_CALL // len(d), 1)
    flights: list[Flight] = []
    next_draw = spacing / 2
    while n_bounces > 0 and not (flights and should_stop()):
        n = min(n_bounces, call)
        schedule = Schedule(next_draw, spacing, n_draws)
        flight = Flight(*fly(walls, motion, margins, n, scatter, rng, schedule))
        # Copy the draws, so that the unused part of their arrays is freed.
        base, coef = flight.draw_base.copy(), flight.draw_coef.copy()
        flights.append(flight._replace(draw_base=base, draw_coef=coef))
        motion = Motion(*flight[:4])
        n_bounces -= n
        n_draws -= len(base)
        if n_draws:
            next_draw += len(base) * spacing - flight.length
    return _land(space, ball, flights)


def _land(space: VersionSpace, ball: Ball, flights: list[Flight]) -> tuple[Ball, Leg]:
    """Add up the flights that began with `ball`, with all vectors in coordinates."""
    last = flights[-1]
    jump_base, jump_coef = sum(f.jump_base for f in flights), sum(f.jump_coef for f in flights)
    coef = np.stack([last.b_coef, last.v_coef, jump_coef])
    b, v, jumps = np.stack([last.b_base, last.v_base, jump_base]) + space.combine(coef)
    leg = Leg(
        integral=ball.v - v + jumps,
        length=sum(f.length for f in flights),
        errors=sum(f.errors for f in flights),
        hits=np.sum([f.hits for f in flights], axis=0),
        draws=np.vstack([np.hstack([f.draw_base, f.draw_coef]) for f in flights]),
    )
    if space.label_noise > 0:
        return Ball(b, v), leg
    b /= np.linalg.norm(b)
    v -= (v @ b) * b
    return Ball(b, v / np.linalg.norm(v)), leg


def wall_costs(space: VersionSpace) -> np.ndarray:
    """Return the energy that it takes to pass each wall into error.

    Equal or opposite points share one wall. One of them represents it, with the majority of
    their labels, and the other points cost nothing. If each had its own cost, rounding would
    decide which of two contradictory walls the ball meets first, the one with the loss or the one
    with the gain, and might decide differently on the way back. Points at the origin have no wall.
    """
    matrix, signs = space.gram.matrix, space.signs
    if space.label_noise == 0:
        return np.full(len(signs), np.inf)
    first = np.array([np.argmax(np.abs(row) >= 1 - 4 * ROUNDING) for row in matrix])
    # The label is zero for points at the origin.
    label = signs * np.sign(matrix[first, np.arange(len(signs))])
    votes = np.bincount(first, label, len(signs))[first]
    majority = np.flatnonzero((label != 0) & (label * votes >= 0))
    speaker = majority[np.unique(first[majority], return_index=True)[1]]
    cost = np.zeros(len(signs))
    cost[speaker] = np.maximum(space.error_cost * np.abs(votes[speaker]), SMALLEST_WALL_COST)
    return cost


def new_ball(space: VersionSpace, start: np.ndarray, rng: np.random.Generator) -> Ball:
    """Return a ball at start that flies in a random direction."""
    if space.label_noise == 0:
        return Ball(start, random_tangent(start, rng))
    # The typical length of a Gaussian vector.
    start = start * np.sqrt(space.gram.rank) / np.linalg.norm(start)
    return Ball(start, rng.standard_normal(space.gram.rank))


def guess(space: VersionSpace, rng: np.random.Generator) -> np.ndarray:
    """Return a random hypothesis that makes fewer errors than a draw from the prior.

    It is halfway between a draw from the prior and the sum of all signed points. More effort
    would not pay: a product with the Gram matrix costs as much as m bounces.
    """
    random, toward = rng.standard_normal(space.gram.rank), space.combine(np.ones(len(space.signs)))
    lengths = np.linalg.norm(random), np.linalg.norm(toward)
    return random / lengths[0] + (toward / lengths[1] if lengths[1] > 0 else 0.0)


def unit_rows(vectors: np.ndarray) -> np.ndarray:
    """Scale each row to unit length."""
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
