"""The kernel billiard: a ball that visits all of version space."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any

import numpy as np
from scipy import special
from sklearn.utils._param_validation import Interval, StrOptions

from ..geometry.version_space import VersionSpace
from .ball import NO_SCATTERING, Ball, Leg, advance, guess, new_ball, unit_rows, wall_costs
from .posterior import Posterior, mean_length
from .precision import Precision, precision
from .published import play_flipper, play_herbrich
from .rounds import ROUND_GROWTH, Rounds, Step
from .solver import GramSolver
from .watch import watching

# Bounces of a ball before the error is estimated for the first time, or one per wall if more.
FIRST_ROUND_BOUNCES = 500
# Bounces of the short flight that measures the length of an arc before the first round.
PILOT_BOUNCES = 100
# With scatter="auto" a ball is scattered about once in this length of trajectory, in radians.
# Scattering much more often makes it a random walk. Scattering much less often keeps it from
# forgetting how its speed was divided among the walls at the start (docs/notes/billiard.md).
SCATTER_LENGTH = 1.5 * np.pi
# With label noise, balls start with many errors. The energy that they gain on the way to few
# errors makes them too fast, and each scattering removes half of it. So the first round, which
# does not count, has at least this length in radians, and scatters more often.
WARM_UP_LENGTH = 8 * np.pi
WARM_UP_SCATTER_LENGTH = np.pi / 4
# The error estimate is trusted only after this many scatterings of each ball.
MIN_SCATTERINGS = 10


class Billiard(GramSolver):
    """Sample version space with a billiard ball.

    Balls fly along great circles of the unit sphere and are reflected by the walls of
    version space, the hyperplanes of the training points. Averaged over time, their
    position is the center of mass of version space: the Bayes point. With label noise
    a ball that is fast enough passes a wall and loses speed, which it regains on its
    way back.

    Parameters
    ----------
    n_bounces : int, default=4_000_000
        Upper limit on the bounces of all balls together (each makes at least one). The
        error falls with the square root of the bounces; a bounce costs about a
        nanosecond per training point. Passing a wall counts as a bounce.
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
        On average one in this many bounces lets the ball leave the wall in a random
        direction, drawn such that the posterior is preserved. This makes the
        billiard ergodic; without it (None) the answer depends on the starting point.
        "auto" scatters about once in three quarters of a circle.
    algorithm : {"geodesic", "herbrich", "flipper"}, default="geodesic"
        "geodesic" is exact. "herbrich" is 000's algorithm 2 and "flipper" is 002's
        algorithm 18.1, as published: approximations to compare with. They run a
        single ball, and `scatter` and `n_chains` do not apply to them. For "herbrich", `tol`
        means the weight of the last arc in the mean. Only "geodesic" supports label noise.

    Notes
    -----
    The `info` of an answer holds `n_bounces`, `length` (of the trajectory, in radians), `hits`
    (bounces on each wall), `errors` (mean number of training errors; a point at the origin
    counts half), `angle`, `ess` and `r_hat` (see `bayespoint.diagnostics`), `mixed` (whether
    this error estimate can be trusted), `scatter`, `stop` and `seconds`.

    On a great circle b cos t + v sin t the margin of constraint i is d_i cos t + u_i
    sin t, so the first wall is the largest -u_i / d_i; after a reflection the margins
    of v change by a multiple of one Gram row: O(m) per bounce. Between bounces
    dv/dt = -b, so the integral of b over the whole trajectory is the sum of all
    changes of v at the walls, up to its two ends: O(1) per bounce and exact. Scattering
    costs O(m r), with r the rank of the Gram matrix.

    With label noise eta a vector w that makes n errors has the posterior N(w; 0, I)
    exp(-beta n), beta = log((1 - eta) / eta) (000, eq. 4), and its direction has the
    posterior of unit hypotheses. The ball has Gaussian position and velocity, and keeps its
    energy (|w|^2 + |v|^2) / 2 + beta n: it flies on ellipses w cos t + v sin t, and
    passes a wall where it is right if its normal speed s has s^2 / 2 > beta. The
    equations are the same, and so is the cost, O(m).

    With small eta and contradictory labels, balls may be trapped: between two cells with few
    errors may lie cells with more, which a ball enters with probability (eta / (1 - eta))^k
    for k more errors. R-hat shows this, as each ball has its own start.

    References
    ----------
    Herbrich, Graepel, Campbell (2001), Bayes Point Machines, JMLR 1, sec. 3.1.
    Ruján, Marchand (2000), Computing the Bayes Kernel Classifier, in: Advances in Large
    Margin Classifiers, MIT Press.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from bayespoint import BayesPointClassifier
    >>> from bayespoint.solvers import Billiard
    >>> X, y = make_moons(100, noise=0.3, random_state=0)
    >>> model = BayesPointClassifier(
    ...     "rbf", gamma=1.0, softness=0.1, solver=Billiard(tol=0.1), random_state=0
    ... ).fit(X, y)
    >>> bool(model.diagnostics_.angle[0] < 0.1)
    True
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
        # If all points are at the origin, there is nothing to learn: `enter` says so.
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

    def _play_published(self, space: VersionSpace, start, rng, deadline: float) -> Posterior:
        play = {"herbrich": play_herbrich, "flipper": play_flipper}[self.algorithm]
        limits = {"n_bounces": self.n_bounces, "n_draws": self.n_draws, "tol": self.tol}
        with watching(deadline, None) as watch:
            return play(space, start, rng, watch, **limits)


class _Game(Rounds):
    """Bouncing balls, in rounds."""

    length_parameter = "n_bounces"

    def __init__(self, solver: Billiard, space: VersionSpace, start, rng: np.random.Generator):
        super().__init__(solver, space, rng, max(FIRST_ROUND_BOUNCES, len(space.signs)))
        self.cost = wall_costs(space)
        self.chains: list[Ball] = [
            new_ball(space, guess(space, r) if start is None else start, r) for r in self.rngs
        ]
        self.scatter = NO_SCATTERING if solver.scatter is None else solver.scatter
        self.spacing = np.inf
        if self.scatter == "auto":
            self.scatter = self.first
        # A short flight that does not count measures the length of an arc.
        _, pilot = advance(space, self.chains[0], rng.spawn(1)[0], PILOT_BOUNCES, cost=self.cost)
        if space.label_noise == 0:
            self._adapt([pilot])
        else:
            self.first = max(self.first, round(WARM_UP_LENGTH * PILOT_BOUNCES / pilot.length))
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
                # A ball between close walls makes tiny arcs. It must not wait long to lose energy.
                self.scatter = min(self.scatter, self.first)
        upcoming = max((ROUND_GROWTH - 1) * sum(self.sizes), self.first)
        self.spacing = length * upcoming / self.n_draws

    def _is_trusted(self) -> bool:
        scatterings = sum(self.sizes[self._kept()]) / self.scatter
        scattered = (
            scatterings >= MIN_SCATTERINGS
            or self.solver.scatter != "auto"
            or (self.space.gram.rank == 2 and self.space.label_noise == 0)
        )
        return bool(scattered and super()._is_trusted())

    def precision(self) -> Precision:
        integrals, lengths = self._shares()
        # Measure positions in units of their root mean square length.
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
            "mixed": self._is_trusted(),
            "stop": stop,
        }

    def means(self) -> tuple[np.ndarray, np.ndarray]:
        mean, chains = super().means()
        if self.space.label_noise == 0:
            return mean, chains
        # Length and direction of a Gaussian vector are independent, with label noise too. So
        # E[w] is the mean unit hypothesis times the mean length (of the chi distribution).
        # Sampling error must not make the mean unit hypothesis longer than one.
        longest = max(mean_length(self.space.gram.rank), np.linalg.norm(mean))
        return mean / longest, chains / longest

    def drawn(self) -> tuple[np.ndarray, int]:
        drawn, n_chains = super().drawn()
        if not len(drawn):
            # Return the positions of the balls; without label noise they are on the sphere.
            draws = np.array([ball.b for ball in self.chains])
            return draws if self.space.label_noise == 0 else unit_rows(draws), len(draws)
        base, coef = np.hsplit(drawn, [self.space.gram.rank])
        return unit_rows(base + self.space.combine(coef)), n_chains


def _on_a_line(space: VersionSpace, start, n_draws: int, rng: np.random.Generator) -> Posterior:
    """Return the exact answer for training points that all lie on one line."""
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
