"""The kernel billiard: a ball that visits all of version space."""

from __future__ import annotations

import time
from collections.abc import Callable
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from joblib import Parallel, delayed
from sklearn.base import BaseEstimator
from sklearn.utils._param_validation import Interval, StrOptions

from .._threads import one_blas_thread
from ..interrupt import interrupts
from ..version_space import VersionSpace, random_tangent
from .posterior import Posterior
from .precision import Precision, precision
from .published import play_flipper, play_herbrich

if TYPE_CHECKING:
    from .._jit.billiard import Flight

# Wall updates of a ball in one compiled call, some 20 ms: time limits and interrupts are
# seen to between calls.
CALL_WORK = 20_000_000
# Bounces of a ball before the error is estimated for the first time (or as many as there
# are walls), and the factor by which the trajectory grows until the next time.
FIRST_ROUND = 500
GROWTH = 1.5
# Bounces of the flight that sets the pace of the first round.
PILOT = 100
# This share of the trajectory, the oldest, is left out: all balls start in one place.
BURN_IN = 0.1
# With scatter="auto" a ball is scattered about once in this length of trajectory. Much
# more often makes it a random walker, much more rarely keeps it from forgetting how
# its speed was shared among the walls at the start (docs/architecture.md).
SCATTER_LENGTH = 1.5 * np.pi
# Before the error estimate is believed: scatterings of each ball that it is based on,
# and the largest R-hat.
ENOUGH_SCATTERINGS = 10
MIXED = 1.05

NEVER = 2**62


class Billiard(BaseEstimator):
    """Sample version space with a billiard ball.

    Balls fly along great circles of the unit sphere and are reflected by the walls of
    version space, the hyperplanes of the training points. Averaged over time, their
    position is the center of mass of version space: the Bayes point.

    Parameters
    ----------
    n_bounces : int, default=4_000_000
        Upper limit on the bounces of all balls together (each makes at least one). The
        error falls with the square root of the bounces; a bounce costs about a
        nanosecond a training point.
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
        direction, drawn such that the uniform distribution is preserved. This makes the
        billiard ergodic; without it (None) the answer depends on the starting point.
        "auto" scatters about once in three quarters of a circle.
    algorithm : {"geodesic", "herbrich", "flipper"}, default="geodesic"
        "geodesic" is exact. "herbrich" is 000's algorithm 2 and "flipper" is 002's
        algorithm 18.1, as published: approximations to compare with. They run a
        single ball, and `scatter` and `n_chains` do not apply to them. The `tol` of
        "herbrich" is its own: the weight of the last arc in the mean.

    Notes
    -----
    On a great circle b cos t + v sin t the margin of constraint i is d_i cos t + u_i
    sin t, so the first wall is the largest -u_i / d_i; after a reflection the margins
    of v change by a multiple of one row of the Gram matrix: O(m) a bounce. Between
    bounces dv/dt = -b, so the integral of b over the whole trajectory is the sum of all
    changes of v at the walls, up to its two ends: O(1) a bounce and exact. Scattering
    costs O(m r), with r the rank of the Gram matrix.

    References
    ----------
    Herbrich, Graepel, Campbell (2001), Bayes Point Machines, JMLR 1, sec. 3.1.
    Ruján, Marchand (2000), Computing the Bayes Kernel Classifier, in: Advances in Large
    Margin Classifiers, MIT Press.
    """

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

    def solve(
        self,
        space: VersionSpace,
        rng: np.random.Generator,
        *,
        start: np.ndarray | None = None,
        n_jobs: int | None = None,
        deadline: float = np.inf,
        on_round: Callable[[dict[str, Any]], bool] | None = None,
    ) -> Posterior:
        """Sample the posterior of a version space.

        Parameters
        ----------
        space : VersionSpace
            What to sample.
        rng : numpy.random.Generator
            Source of randomness. The answer does not depend on `n_jobs`.
        start : array of shape (rank,), default=None
            A hypothesis in version space; found by `space.enter` if not given.
        n_jobs : int, default=None
            Threads for the balls.
        deadline : float, default=inf
            Value of `time.perf_counter()` at which to return the answer so far.
        on_round : callable, default=None
            Called now and then with a dict of what is known; a true answer stops.

        Returns
        -------
        Posterior
            Its `info` holds `n_bounces`, `length` (of the trajectory), `hits` (bounces
            on each wall), `angle`, `ess`, `r_hat` (see `bayespoint.diagnostics`),
            `mixed` (whether that error can be believed), `scatter`, `stop` (why it ended)
            and `seconds`.
        """
        self._validate_params()
        began = time.perf_counter()
        with one_blas_thread():
            b = space.enter(rng) if start is None else start
            if space.gram.rank == 1:
                posterior = _only_hypothesis(space, b)
            elif self.algorithm == "geodesic":
                posterior = _Game(self, space, b, rng).play(n_jobs, deadline, on_round)
            else:
                posterior = self._play_published(space, b, rng, deadline)
        if on_round is not None and (space.gram.rank == 1 or self.algorithm != "geodesic"):
            on_round(posterior.info)
        posterior.info["seconds"] = time.perf_counter() - began
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
    """Where a ball is and where it goes: orthogonal unit vectors, in coordinates."""

    b: np.ndarray
    v: np.ndarray


class Leg(NamedTuple):
    """What a stretch of one ball's trajectory contributes to the answer."""

    integral: np.ndarray  # of the position over time
    length: float
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
) -> tuple[Ball, Leg]:
    """Let a ball bounce; the ball given is left as it was.

    Margins are computed anew from the position at the start, which is the
    re-synchronisation against drift. Between compiled calls should_stop may end it.
    """
    from .._jit.billiard import NEVER_ZERO, Flight, fly

    gram = space.gram
    d, u = space.margins(np.stack(ball))
    d = np.maximum(d, NEVER_ZERO)
    none = np.zeros_like(d)
    state = (ball.b, none, ball.v, none)
    call = max(CALL_WORK // len(d), 1)
    flights: list[Flight] = []
    next_draw = spacing / 2
    while n_bounces > 0 and not (flights and should_stop()):
        n = min(n_bounces, call)
        walls = (gram.matrix, gram.factor, gram.extent, space.signs)
        flight = Flight(*fly(*walls, *state, d, u, n, scatter, rng, next_draw, spacing, n_draws))
        # Copies, so that the unused part of the arrays for draws is not kept.
        base, coef = flight.draw_base.copy(), flight.draw_coef.copy()
        flights.append(flight._replace(draw_base=base, draw_coef=coef))
        state = flight[:4]
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
        hits=np.sum([f.hits for f in flights], axis=0),
        draws=np.vstack([np.hstack([f.draw_base, f.draw_coef]) for f in flights]),
    )
    b /= np.linalg.norm(b)
    v -= (v @ b) * b
    return Ball(b, v / np.linalg.norm(v)), leg


class _Game:
    """Balls, and what they have done so far in rounds of growing length."""

    def __init__(self, solver: Billiard, space: VersionSpace, start, rng: np.random.Generator):
        self.solver = solver
        self.space = space
        self.rngs = rng.spawn(solver.n_chains)
        self.balls = [Ball(start, random_tangent(start, r)) for r in self.rngs]
        self.scatter = NEVER if solver.scatter is None else solver.scatter
        self.spacing = np.inf
        self.rounds: list[list[Leg]] = []
        self.sizes: list[int] = []  # bounces of each ball in each round
        self.draws: list[list[np.ndarray]] = [[]]
        self.first = max(FIRST_ROUND, len(space.signs))
        if self.scatter == "auto":
            self.scatter = self.first
        # A short flight that does not count tells how long an arc is.
        _, pilot = advance(space, self.balls[0], rng.spawn(1)[0], PILOT)
        self._adapt([pilot])

    def play(self, n_jobs, deadline, on_round) -> Posterior:
        limit = max(self.solver.n_bounces // self.solver.n_chains, 1)
        stop = ""
        with (
            interrupts() as self.interrupted,
            # Threads, whatever backend is active: balls share walls, generators and clock.
            Parallel(n_jobs, require="sharedmem") as parallel,
        ):
            while not stop:
                played = sum(self.sizes)
                n_bounces = min(max(int((GROWTH - 1) * played), self.first), limit - played)
                stop = self._round(parallel, n_bounces, deadline)
                if not self.rounds:
                    raise KeyboardInterrupt
                stop = stop or self._verdict(limit)
                if on_round is not None and on_round(self.info(stop)):
                    stop = stop or "callback"
        return self.posterior(stop)

    def _round(self, parallel, n_bounces: int, deadline: float) -> str:
        """Let all balls bounce n_bounces times, or less if time is up."""
        n_draws = -(-self.solver.n_draws // self.solver.n_chains)

        def should_stop() -> bool:
            return bool(self.interrupted) or time.perf_counter() > deadline

        try:
            results = parallel(
                delayed(advance)(
                    self.space,
                    ball,
                    rng,
                    n_bounces,
                    self.scatter,
                    self.spacing,
                    n_draws,
                    should_stop,
                )
                for ball, rng in zip(self.balls, self.rngs, strict=True)
            )
        except KeyboardInterrupt:
            return "interrupted"
        self.balls = [ball for ball, _ in results]
        legs = [leg for _, leg in results]
        self.rounds.append([leg._replace(draws=None) for leg in legs])
        self.sizes.append(int(np.mean([leg.hits.sum() for leg in legs])))
        # The draws of the last two rounds: a round may end before it has enough.
        self.draws = [self.draws[-1], [leg.draws for leg in legs if leg.draws is not None]]
        self._adapt(legs)
        if self.interrupted:
            return "interrupted"
        return "max_time" if time.perf_counter() > deadline else ""

    def _adapt(self, legs: list[Leg]) -> None:
        """Set how often to scatter and to draw in the next round."""
        n_draws = -(-self.solver.n_draws // self.solver.n_chains)
        length = sum(leg.length for leg in legs) / sum(leg.hits.sum() for leg in legs)
        if self.solver.scatter == "auto":
            self.scatter = max(round(SCATTER_LENGTH / length), 1)
        upcoming = max((GROWTH - 1) * sum(self.sizes), self.first)
        self.spacing = length * upcoming / n_draws

    def _believed(self) -> bool:
        """Tell whether the balls have moved enough for their error to be known."""
        scatterings = sum(self.sizes[self._first_kept() :]) / self.scatter
        scattered = (
            scatterings >= ENOUGH_SCATTERINGS
            or self.solver.scatter != "auto"
            or self.space.gram.rank == 2
        )
        return bool(scattered and len(self.rounds) > 1 and self.precision().r_hat <= MIXED)

    def _verdict(self, limit: int) -> str:
        if self.precision().angle <= self.solver.tol and self._believed():
            return "tol"
        return "n_bounces" if sum(self.sizes) >= limit else ""

    def _first_kept(self) -> int:
        """Return the round that begins after the burn-in."""
        ends = np.cumsum(self.sizes)
        first = int(np.searchsorted(ends, BURN_IN * ends[-1])) + 1
        return min(first, len(self.sizes) - 1)

    def _integrals(self) -> tuple[np.ndarray, np.ndarray]:
        kept = self.rounds[self._first_kept() :]
        integrals = np.array([[leg.integral for leg in legs] for legs in kept])
        lengths = np.array([[leg.length for leg in legs] for legs in kept])
        return integrals.swapaxes(0, 1), lengths.T

    def precision(self) -> Precision:
        return precision(*self._integrals())

    def info(self, stop: str) -> dict[str, Any]:
        return {
            **self.precision()._asdict(),
            "n_bounces": int(sum(leg.hits.sum() for legs in self.rounds for leg in legs)),
            "length": float(sum(leg.length for legs in self.rounds for leg in legs)),
            "scatter": self.scatter,
            "hits": sum(leg.hits for legs in self.rounds for leg in legs),
            "mixed": self._believed(),
            "stop": stop,
        }

    def posterior(self, stop: str) -> Posterior:
        integrals, lengths = self._integrals()
        mean = integrals.sum(axis=(0, 1)) / lengths.sum()
        chains = integrals.sum(axis=1) / lengths.sum(axis=1)[:, None]
        dual = self.space.dual
        return Posterior(dual(mean), dual(self._draws()), dual(chains), self.info(stop))

    def _draws(self) -> np.ndarray:
        """Return n_draws hypotheses from the end of the trajectories, fewer if need be."""
        older, latest = (np.concatenate(d) if d else np.empty((0, 0)) for d in self.draws)
        drawn = (
            latest
            if len(latest) >= self.solver.n_draws or not len(older)
            else np.vstack([older, latest])
        )
        if not len(drawn):
            return np.array([ball.b for ball in self.balls])
        chosen = np.linspace(0, len(drawn) - 1, min(len(drawn), self.solver.n_draws)).astype(int)
        base, coef = np.hsplit(drawn[chosen], [self.space.gram.rank])
        draws = base + self.space.combine(coef)
        return draws / np.linalg.norm(draws, axis=1, keepdims=True)


def _only_hypothesis(space: VersionSpace, w: np.ndarray) -> Posterior:
    """Return the answer when all training points lie on one line."""
    coef = space.dual(w)
    info = {
        "angle": 0.0,
        "ess": np.inf,
        "r_hat": 1.0,
        "n_bounces": 0,
        "length": 0.0,
        "scatter": 0,
        "hits": np.zeros(len(space.signs), dtype=np.int64),
        "mixed": True,
        "stop": "tol",
    }
    both = np.stack([coef, coef])
    return Posterior(coef, both, both, info)
