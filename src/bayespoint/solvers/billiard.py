"""The kernel billiard: a ball that visits all of version space."""

from __future__ import annotations

from collections.abc import Callable
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy import special
from sklearn.utils._param_validation import Interval, StrOptions

from .._runtime.interrupt import interrupts
from ..geometry.gram import ROUNDING
from ..geometry.great_circle import random_tangent
from ..geometry.version_space import VersionSpace
from .posterior import Posterior, mean_length
from .precision import Precision, precision
from .published import play_flipper, play_herbrich
from .rounds import GROWTH, Rounds, Step
from .solver import GramSolver

if TYPE_CHECKING:
    from .._jit.billiard import Flight

# Wall updates of a ball in one compiled call, some 20 ms: time limits and interrupts are
# seen to between calls.
CALL_WORK = 20_000_000
# Bounces of a ball before the error is estimated for the first time (or as many as there
# are walls).
FIRST_ROUND = 500
# Bounces of the flight that sets the pace of the first round.
PILOT = 100
# With scatter="auto" a ball is scattered about once in this length of trajectory. Much
# more often makes it a random walker, much more rarely keeps it from forgetting how
# its speed was shared among the walls at the start (docs/architecture.md).
SCATTER_LENGTH = 1.5 * np.pi
# With label noise balls start with many errors. What they gain on their way to few makes
# them too fast, and every scattering takes half of that. So the first round, which does
# not count, is at least this long, and scatters more often.
WARM_UP_LENGTH = 8 * np.pi
WARM_UP_SCATTER_LENGTH = np.pi / 4
# Before the error estimate is believed: scatterings of each ball that it is based on.
ENOUGH_SCATTERINGS = 10
# A margin below this is rounding: the ball is at this wall.
AT_WALL = 1e-9
# The cost of a wall with as many labels for as against: more than nothing, so that it scatters.
HARDLY_ANYTHING = 1e-100

NEVER = 2**62


class Billiard(GramSolver):
    """Sample version space with a billiard ball.

    Balls fly along great circles of the unit sphere and are reflected by the walls of
    version space, the hyperplanes of the training points. Averaged over time, their
    position is the center of mass of version space: the Bayes point. With label noise
    a ball that is fast enough passes a wall, and loses speed; it gains that speed on its
    way back.

    Parameters
    ----------
    n_bounces : int, default=4_000_000
        Upper limit on the bounces of all balls together (each makes at least one). The
        error falls with the square root of the bounces; a bounce costs about a
        nanosecond a training point. To pass a wall counts as a bounce.
    n_chains : int, default=8
        Number of independent balls (002's "ideal gas"). They run in parallel threads,
        and their disagreement gives the error bar; each has to find its way from the
        common start.
    n_draws : int, default=256
        Number of hypotheses kept as draws from the posterior, for probabilities and
        votes. Memory and the time of `predict_proba` grow with it.
    tol : float, default=0.05
        Stop when the estimated angle (in radians) between the answer and the true
        Bayes point is below this. Half the angle takes four times the bounces.
    scatter : int, "auto" or None, default="auto"
        One in so many bounces, at random, lets the ball leave the wall in a random
        direction, drawn such that the posterior is preserved. This makes the
        billiard ergodic; without it (None) the answer depends on the starting point.
        "auto" scatters about once in three quarters of a circle.
    algorithm : {"geodesic", "herbrich", "flipper"}, default="geodesic"
        "geodesic" is exact. "herbrich" is 000's algorithm 2 and "flipper" is 002's
        algorithm 18.1, as published: approximations to compare with. They run a
        single ball, and `scatter` and `n_chains` do not apply to them. The `tol` of
        "herbrich" is its own: the weight of the last arc in the mean. Only "geodesic"
        knows label noise.

    Notes
    -----
    The `info` of an answer holds `n_bounces`, `length` (of the trajectory, in radians), `hits`
    (bounces on each wall), `errors` (mean number of training errors; a point at the origin
    counts half), `angle`, `ess` and `r_hat` (see `bayespoint.diagnostics`), `mixed` (whether
    this error estimate can be trusted), `scatter`, `stop` and `seconds`.

    On a great circle b cos t + v sin t the margin of constraint i is d_i cos t + u_i
    sin t, so the first wall is the largest -u_i / d_i; after a reflection the margins
    of v change by a multiple of one row of the Gram matrix: O(m) a bounce. Between
    bounces dv/dt = -b, so the integral of b over the whole trajectory is the sum of all
    changes of v at the walls, up to its two ends: O(1) a bounce and exact. Scattering
    costs O(m r), with r the rank of the Gram matrix.

    With label noise eta a vector w that makes n errors has the posterior N(w; 0, I)
    exp(-beta n), beta = log((1 - eta) / eta) (000, eq. 4), and its direction that of unit
    hypotheses. The ball has Gaussian position and velocity, and keeps its energy
    (|w|^2 + |v|^2) / 2 + beta n: it flies on ellipses w cos t + v sin t, and
    passes a wall where it is right if its normal speed s has s^2 / 2 > beta. The same
    equations hold, and the same O(m).

    With small eta and contradictory labels, balls may stay where they happened to come
    to: between two cells with few errors may lie cells with more, which the ball enters
    with probability (eta / (1 - eta))^k for k more errors. R-hat tells, as each ball
    has its own start.

    References
    ----------
    Herbrich, Graepel, Campbell (2001), Bayes Point Machines, JMLR 1, sec. 3.1.
    Ruján, Marchand (2000), Computing the Bayes Kernel Classifier, in: Advances in Large
    Margin Classifiers, MIT Press.
    """

    supports_label_noise = True
    _parameter_constraints = {
        "n_bounces": [Interval(Integral, 1, None, closed="left")],
        "n_chains": [Interval(Integral, 2, None, closed="left")],
        "n_draws": [Interval(Integral, 2, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
        "scatter": [Interval(Integral, 1, None, closed="left"), StrOptions({"auto"}), None],
        "algorithm": [StrOptions({"geodesic", "herbrich", "flipper"})],
    }

    def __init__(
        self,
        *,
        n_bounces=4_000_000,
        n_chains=8,
        n_draws=256,
        tol=0.05,
        scatter="auto",
        algorithm="geodesic",
    ):
        self.n_bounces = n_bounces
        self.n_chains = n_chains
        self.n_draws = n_draws
        self.tol = tol
        self.scatter = scatter
        self.algorithm = algorithm

    def _solve(self, space, rng, start, n_jobs, deadline, on_round) -> Posterior:
        if space.label_noise > 0 and self.algorithm != "geodesic":
            raise ValueError(
                f"algorithm={self.algorithm!r} cannot pass walls, but label_noise is "
                f'{space.label_noise}. Use algorithm="geodesic", or softness instead of noise.'
            )
        # Where all points are at the origin there is nothing to learn, noise or not.
        if start is None and (space.label_noise == 0 or space.gram.rank == 0):
            start = space.enter(rng)
        if space.gram.rank == 1:
            posterior = _on_a_line(space, start, self.n_draws, rng)
        elif self.algorithm == "geodesic":
            return _Game(self, space, start, rng).run(n_jobs, deadline, on_round)
        else:
            posterior = self._play_published(space, start, rng, deadline)
        if on_round is not None:
            on_round(posterior.info)
        return posterior

    def _play_published(self, space: VersionSpace, b, rng, deadline: float) -> Posterior:
        play = {"herbrich": play_herbrich, "flipper": play_flipper}[self.algorithm]
        with interrupts() as interrupted:
            return play(
                space,
                b,
                rng,
                n_bounces=self.n_bounces,
                n_draws=self.n_draws,
                tol=self.tol,
                deadline=deadline,
                interrupted=interrupted,
            )


class Ball(NamedTuple):
    """Where a ball is and where it goes, in coordinates.

    Orthogonal unit vectors without label noise, Gaussian vectors with it.
    """

    b: np.ndarray
    v: np.ndarray


class Leg(NamedTuple):
    """What a stretch of one ball's trajectory contributes to the answer."""

    integral: np.ndarray  # of the position over time
    length: float
    errors: float  # integral of their number over time
    hits: np.ndarray
    draws: np.ndarray | None  # coordinates and coefficients of positions, side by side


def advance(
    space: VersionSpace,
    ball: Ball,
    rng: np.random.Generator,
    n_bounces: int,
    scatter: int = NEVER,
    spacing: float = np.inf,
    n_draws: int = 0,
    should_stop: Callable[[], bool] = bool,
    cost: np.ndarray | None = None,
) -> tuple[Ball, Leg]:
    """Let a ball bounce; the ball given is left as it was.

    Margins are computed anew from the position at the start, which is the
    re-synchronisation against drift. Between compiled calls should_stop may end it.
    The cost of walls is that of `wall_costs` if not given.
    """
    from .._jit.billiard import SMALLEST_MARGIN, Flight, Margins, Motion, Schedule, Walls, fly

    gram = space.gram
    cost = wall_costs(space) if cost is None else cost
    d, u = space.margins(np.stack(ball))
    side = np.ones_like(d)
    if space.label_noise > 0:
        # A flight ends at a wall, which the ball is leaving: its direction tells the side.
        side[np.where(np.abs(d) > AT_WALL, d, u) < 0] = -1.0
        d, u = d * side, u * side
    d = np.maximum(d, SMALLEST_MARGIN)
    none = np.zeros_like(d)
    walls = Walls(gram.matrix, gram.factor, gram.extent, space.signs, cost)
    motion, margins = Motion(ball.b, none, ball.v, none), Margins(d, u, side)
    call = max(CALL_WORK // len(d), 1)
    flights: list[Flight] = []
    next_draw = spacing / 2
    while n_bounces > 0 and not (flights and should_stop()):
        n = min(n_bounces, call)
        schedule = Schedule(next_draw, spacing, n_draws)
        flight = Flight(*fly(walls, motion, margins, n, scatter, rng, schedule))
        # Copies, so that the unused part of the arrays for draws is not kept.
        base, coef = flight.draw_base.copy(), flight.draw_coef.copy()
        flights.append(flight._replace(draw_base=base, draw_coef=coef))
        motion = Motion(*flight[:4])
        n_bounces -= n
        n_draws -= len(base)
        if n_draws:
            next_draw += len(base) * spacing - flight.length
    return _land(space, ball, flights)


def _land(space: VersionSpace, ball: Ball, flights: list[Flight]) -> tuple[Ball, Leg]:
    """Sum up flights that began with ball, all vectors in coordinates."""
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

    Equal or opposite points have one wall, which one of them is to stand for, with the
    majority of their labels; the others cost nothing. If each had its own cost, it would
    be up to rounding which of two contradictory walls the ball meets first, that
    with the loss or that with the gain, and it might be another one on the way back.
    Points at the origin have no wall.
    """
    matrix, signs = space.gram.matrix, space.signs
    if space.label_noise == 0:
        return np.full(len(signs), np.inf)
    first = np.array([np.argmax(np.abs(row) >= 1 - 4 * ROUNDING) for row in matrix])
    # Zero for points at the origin.
    label = signs * np.sign(matrix[first, np.arange(len(signs))])
    votes = np.bincount(first, label, len(signs))[first]
    majority = np.flatnonzero((label != 0) & (label * votes >= 0))
    speaker = majority[np.unique(first[majority], return_index=True)[1]]
    cost = np.zeros(len(signs))
    cost[speaker] = np.maximum(space.error_cost * np.abs(votes[speaker]), HARDLY_ANYTHING)
    return cost


def new_ball(space: VersionSpace, start: np.ndarray, rng: np.random.Generator) -> Ball:
    """Return a ball at start that flies in a random direction."""
    if space.label_noise == 0:
        return Ball(start, random_tangent(start, rng))
    # The length that a Gaussian vector typically has.
    start = start * np.sqrt(space.gram.rank) / np.linalg.norm(start)
    return Ball(start, rng.standard_normal(space.gram.rank))


def guess(space: VersionSpace, rng: np.random.Generator) -> np.ndarray:
    """Return a random hypothesis that makes fewer errors than one from the prior.

    It is halfway between one from the prior and the sum of all signed points. More
    effort would not pay: a product with the Gram matrix is as dear as m bounces.
    """
    random, toward = rng.standard_normal(space.gram.rank), space.combine(np.ones(len(space.signs)))
    lengths = np.linalg.norm(random), np.linalg.norm(toward)
    return random / lengths[0] + (toward / lengths[1] if lengths[1] > 0 else 0.0)


class _Game(Rounds):
    """Balls that bounce."""

    limit = "n_bounces"

    def __init__(self, solver: Billiard, space: VersionSpace, start, rng: np.random.Generator):
        super().__init__(solver, space, rng, max(FIRST_ROUND, len(space.signs)))
        self.cost = wall_costs(space)
        self.chains: list[Ball] = [
            new_ball(space, guess(space, r) if start is None else start, r) for r in self.rngs
        ]
        self.scatter = NEVER if solver.scatter is None else solver.scatter
        self.spacing = np.inf
        if self.scatter == "auto":
            self.scatter = self.first
        # A short flight that does not count tells how long an arc is.
        _, pilot = advance(space, self.chains[0], rng.spawn(1)[0], PILOT, cost=self.cost)
        if space.label_noise == 0:
            self._adapt([pilot])
        else:
            self.first = max(self.first, round(WARM_UP_LENGTH * PILOT / pilot.length))
            self._adapt([pilot], WARM_UP_SCATTER_LENGTH)

    def _step(self) -> Step:
        pace = {"scatter": self.scatter, "spacing": self.spacing, "n_draws": self.n_draws}
        return Step(advance, self.space, cost=self.cost, **pace)

    def _size(self, legs: list[Leg]) -> int:
        return int(np.mean([leg.hits.sum() for leg in legs]))

    def _share(self, leg: Leg) -> tuple[np.ndarray, float]:
        return leg.integral, leg.length

    def _adapt(self, legs: list[Leg], scatter_length: float = SCATTER_LENGTH) -> None:
        """Set how often to scatter and to draw in the next round."""
        length = sum(leg.length for leg in legs) / sum(leg.hits.sum() for leg in legs)
        if self.solver.scatter == "auto":
            self.scatter = max(round(scatter_length / length), 1)
            if self.space.label_noise > 0:
                # A ball between near walls makes tiny arcs and must not wait for its energy.
                self.scatter = min(self.scatter, self.first)
        upcoming = max((GROWTH - 1) * sum(self.sizes), self.first)
        self.spacing = length * upcoming / self.n_draws

    def _believed(self) -> bool:
        scatterings = sum(self.sizes[self._kept()]) / self.scatter
        scattered = (
            scatterings >= ENOUGH_SCATTERINGS
            or self.solver.scatter != "auto"
            or (self.space.gram.rank == 2 and self.space.label_noise == 0)
        )
        return bool(scattered and super()._believed())

    def precision(self) -> Precision:
        integrals, lengths = self._shares()
        # In units of the root mean square length of a position.
        unit = 1.0 if self.space.label_noise == 0 else np.sqrt(self.space.gram.rank)
        return precision(integrals / unit, lengths)

    def info(self, stop: str) -> dict[str, Any]:
        kept = [leg for legs in self.rounds[self._kept()] for leg in legs]
        return {
            **self.precision()._asdict(),
            "errors": float(sum(leg.errors for leg in kept) / sum(leg.length for leg in kept)),
            "n_bounces": int(sum(leg.hits.sum() for legs in self.rounds for leg in legs)),
            "length": float(sum(leg.length for legs in self.rounds for leg in legs)),
            "scatter": self.scatter,
            "hits": sum(leg.hits for legs in self.rounds for leg in legs),
            "mixed": self._believed(),
            "stop": stop,
        }

    def means(self) -> tuple[np.ndarray, np.ndarray]:
        mean, chains = super().means()
        if self.space.label_noise == 0:
            return mean, chains
        # Length and direction of a Gaussian vector are independent, with label noise too, so
        # E[w] is the mean unit hypothesis times the mean length (of the chi distribution).
        # Sampling error must not make the former longer than one.
        longest = max(mean_length(self.space.gram.rank), np.linalg.norm(mean))
        return mean / longest, chains / longest

    def drawn(self) -> tuple[np.ndarray, int]:
        drawn, n_chains = super().drawn()
        if not len(drawn):
            # Where the balls are, which is on the sphere already without label noise.
            draws = np.array([ball.b for ball in self.chains])
            return draws if self.space.label_noise == 0 else unit_rows(draws), len(draws)
        base, coef = np.hsplit(drawn, [self.space.gram.rank])
        return unit_rows(base + self.space.combine(coef)), n_chains


def unit_rows(vectors: np.ndarray) -> np.ndarray:
    """Scale vectors, one a row, to unit length."""
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def _on_a_line(space: VersionSpace, start, n_draws: int, rng: np.random.Generator) -> Posterior:
    """Return the exact answer when all training points lie on one line."""
    if space.label_noise == 0:
        coef, share, errors = space.dual(start), 1.0, 0.0
        directions = np.ones(2)
    else:
        one, other = np.sum(space.margins(np.array([[1.0], [-1.0]])) < 0, axis=1)
        share = float(special.expit(space.error_cost * (other - one)))
        errors = share * one + (1 - share) * other
        coef = space.dual(np.ones(1))
        directions = rng.permutation(np.where(np.arange(n_draws) < share * n_draws, 1.0, -1.0))
    mean = (2 * share - 1) * coef
    info = {
        "angle": 0.0,
        "ess": np.inf,
        "r_hat": 1.0,
        "errors": float(errors),
        "n_bounces": 0,
        "length": 0.0,
        "scatter": 0,
        "hits": np.zeros(len(space.signs), dtype=np.int64),
        "mixed": True,
        "stop": "tol",
    }
    return Posterior(mean, np.outer(directions, coef), np.stack([mean, mean]), info)
