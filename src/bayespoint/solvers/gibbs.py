"""The Gibbs sampler: hypotheses from the posterior, with or without label noise."""

from __future__ import annotations

import math
from collections.abc import Callable
from numbers import Integral, Real
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils._param_validation import Interval

from ..geometry.version_space import VersionSpace
from .posterior import Posterior
from .rounds import Rounds, Step
from .solver import GramSolver

# Margins that a chain updates in one compiled call, about 15 to 70 ms. Between calls, solvers
# look at the clock and for Ctrl-C. Each coordinate also costs as much as COORDINATE_COST margins.
MARGINS_PER_CALL = 4_000_000
COORDINATE_COST = 100
# Samples of a chain before the error is estimated for the first time.
FIRST_ROUND_SAMPLES = 64


class Gibbs(GramSolver):
    """Sample the posterior one coordinate at a time.

    Without label noise this samples version space. With label noise the posterior also
    contains hypotheses with training errors; each error makes a hypothesis less probable by
    the same factor.

    Parameters
    ----------
    n_samples : int, default=100_000
        Upper limit on the samples of all chains together (each takes at least one). The
        error falls with their square root; a sample costs 5 to 20 nanoseconds per training
        point and dimension of their span.
    n_chains : int, default=8
        Number of independent chains. They run in parallel threads, and their
        disagreement gives the error bar; each has to find its way from its start.
    n_draws : int, default=256
        Number of hypotheses kept as draws from the posterior, for probabilities and
        votes. Memory and the time of `predict_proba` grow with it.
    tol : float, default=0.05
        Stop when the estimated angle (in radians) between the answer and the true
        Bayes point is below this. Half the angle takes four times the samples.

    Notes
    -----
    The `info` of an answer holds `n_samples`, `errors` (mean number of training errors), `hits`
    (with label noise, samples after the burn-in with an error on each training point; without
    it, how often the point's wall bounded the chosen piece), `angle`, `ess` and `r_hat` (see
    `bayespoint.diagnostics`), `mixed` (whether this error estimate can be trusted), `stop` and
    `seconds`.

    With the prior w ~ N(0, I), which is uniform in direction, the posterior is that prior
    times exp(-beta n), where n is the number of training errors and
    beta = log((1 - eta) / eta) for label noise eta (000, eq. 4). Apart from the errors, a
    coordinate of w given the others is normal. Together with a second, independent normal
    number it is a radius times cos t, where t is uniform, and errors change only where
    the circle crosses walls. So the posterior of t is constant between walls: choose one
    of these pieces by its length and its errors, and a point in it at random. O(m log m)
    for a coordinate, O(r m log m) for a sample, with r the rank of the Gram matrix.

    The pivoted factor of the Gram matrix gives the coordinates, sorted by how much they
    matter. A circle in a random direction would be as short as the most constrained
    coordinate allows, which is 10 to 40 times slower.

    References
    ----------
    Herbrich, Graepel, Campbell (2001), Bayes Point Machines, JMLR 1, sec. 2.
    Murray, Adams, MacKay (2010), Elliptical slice sampling, AISTATS.
    """

    supports_label_noise = True
    _parameter_constraints = {
        "n_samples": [Interval(Integral, 1, None, closed="left")],
        "n_chains": [Interval(Integral, 2, None, closed="left")],
        "n_draws": [Interval(Integral, 2, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
    }

    def __init__(self, *, n_samples=100_000, n_chains=8, n_draws=256, tol=0.05):
        self.n_samples = n_samples
        self.n_chains = n_chains
        self.n_draws = n_draws
        self.tol = tol

    def _solve(self, space, rng, start, n_jobs, deadline, on_round) -> Posterior:
        if start is None and math.isinf(space.error_cost):
            start = space.enter(rng)
        return _Run(self, space, start, rng).run(n_jobs, deadline, on_round)


class Target(NamedTuple):
    """A version space in the form that the compiled loop takes."""

    space: VersionSpace
    columns: np.ndarray  # margins of the unit vectors, one vector in each row
    penalty: np.ndarray  # posterior weights of 0, 1, 2, ... errors

    @classmethod
    def of(cls, space: VersionSpace) -> Target:
        weights = [math.exp(-space.error_cost * n) for n in range(1, len(space.signs) + 1)]
        return cls(space, np.ascontiguousarray(space.walls.T), np.array([1.0, *weights]))


class Leg(NamedTuple):
    """The contribution of a stretch of one chain to the answer."""

    total: np.ndarray  # sum of the unit hypotheses, in coordinates
    n_samples: int
    hits: np.ndarray
    draws: np.ndarray | None  # unit hypotheses at equal intervals, one in each row


def advance(
    target: Target,
    w: np.ndarray,
    rng: np.random.Generator,
    n_samples: int,
    n_draws: int = 1,
    should_stop: Callable[[], bool] = bool,
) -> tuple[np.ndarray, Leg]:
    """Take samples, and keep at least n_draws of them as draws; w does not change.

    Margins are recomputed before each compiled call. Between calls should_stop may end
    the stretch.
    """
    from .._jit.gibbs import sweep

    rank, m = target.columns.shape
    call = max(MARGINS_PER_CALL // (rank * (m + COORDINATE_COST)), 1)
    call = min(call, -(-n_samples // n_draws))
    w, total, hits = w.copy(), np.zeros(rank), np.zeros(m, np.int64)
    draws: list[np.ndarray] = []
    done = 0
    while done < n_samples and not (draws and should_stop()):
        n = min(call, n_samples - done)
        part, part_hits = sweep(target.columns, w, target.space.margins(w), target.penalty, n, rng)
        total += part
        hits += part_hits
        done += n
        draws.append(w / np.linalg.norm(w))
    return w, Leg(total, done, hits, np.array(draws))


class _Run(Rounds):
    """Chains of samples."""

    length_parameter = "n_samples"

    def __init__(self, solver: Gibbs, space: VersionSpace, start, rng: np.random.Generator):
        super().__init__(solver, space, rng, FIRST_ROUND_SAMPLES)
        self.target = Target.of(space)
        self.chains: list[np.ndarray] = [r.standard_normal(space.gram.rank) for r in self.rngs]
        if start is not None:
            # Length and direction are independent: the length can be right from the start.
            lengths = [np.linalg.norm(w) / np.linalg.norm(start) for w in self.chains]
            self.chains = [start * length for length in lengths]

    def _step(self) -> Step:
        return Step(advance, self.target, n_draws=self.n_draws)

    def _size(self, legs: list[Leg]) -> int:
        return max(leg.n_samples for leg in legs)

    def _share(self, leg: Leg) -> tuple[np.ndarray, float]:
        return leg.total, float(leg.n_samples)

    def info(self, stop: str) -> dict[str, Any]:
        kept = [leg for legs in self.rounds[self._kept()] for leg in legs]
        hits = np.sum([leg.hits for leg in kept], axis=0)
        noisy = np.isfinite(self.space.error_cost)
        return {
            **self.precision()._asdict(),
            "n_samples": sum(leg.n_samples for legs in self.rounds for leg in legs),
            "errors": hits.sum() / sum(leg.n_samples for leg in kept) if noisy else 0.0,
            "hits": hits,
            "mixed": self._is_trusted(),
            "stop": stop,
        }
