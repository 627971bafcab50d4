"""The Gibbs sampler: hypotheses from the posterior, with or without label noise."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from numbers import Integral, Real
from typing import Any, NamedTuple

import numpy as np
from scipy import linalg
from sklearn.utils._param_validation import Interval

from ..geometry.version_space import VersionSpace
from .posterior import Posterior, mean_length
from .propagation.on_features import propagate
from .rounds import Rounds, Step
from .solver import GramSolver

# Margins that a chain updates in one compiled call, about 5 to 20 ms. Between calls, solvers
# look at the clock and for Ctrl-C. Each coordinate also costs as much as COORDINATE_COST margins.
MARGINS_PER_CALL = 4_000_000
COORDINATE_COST = 100
# Sweeps of expectation propagation that find the axes. Moments that match to a tenth of a
# deviation give axes as good as a converged answer does.
MAX_PASSES = 30
MAX_MISMATCH = 0.1
# Draw margins one by one only if the inverse of the Gram matrix has no larger diagonal: it
# multiplies rounding errors of 1e-16.
MAX_MARGIN_PRECISION = 1e6
# Samples of a chain before the error is estimated for the first time.
FIRST_ROUND_SAMPLES = 64


class Gibbs(GramSolver):
    """Sample the posterior one margin and one coordinate at a time.

    Without label noise this samples version space. With label noise the posterior also
    contains hypotheses with training errors; each error makes a hypothesis less probable by
    the same factor.

    Parameters
    ----------
    n_samples : int, default=100_000
        Upper limit on the samples of all chains together (each takes at least one). The
        error falls with their square root; a sample costs 1 to 3 nanoseconds per training
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
    of these pieces by its length and its errors, and a point in it at random. A sample draws
    all coordinates in turn, in O(r m) with r the rank of the Gram matrix.

    The coordinates are those along the principal axes of a Gaussian approximation of the
    posterior (a few sweeps of expectation propagation, O(m r^2) each). The law is the same for
    any axes, but along these, coordinates hardly depend on each other. If r = m, a sample
    first draws all margins in turn, each of which meets a single wall.

    The answer is the mean of each coordinate given the others, not of the sampled ones:
    it has the same expectation and a smaller variance. The length of w says nothing about
    labels, so dividing by its prior mean gives the mean direction. Only the length of the
    answer comes from the sampled hypotheses.

    References
    ----------
    Herbrich, Graepel, Campbell (2001), Bayes Point Machines, JMLR 1, sec. 2.
    Murray, Adams, MacKay (2010), Elliptical slice sampling, AISTATS.
    Gelfand, Smith (1990), Sampling-Based Approaches to Calculating Marginal Densities, JASA 85
    (means given the other coordinates).

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from bayespoint import BayesPointClassifier
    >>> from bayespoint.solvers import Gibbs
    >>> X, y = make_moons(100, noise=0.3, random_state=0)
    >>> model = BayesPointClassifier(
    ...     "rbf", gamma=1.0, softness=0.1, solver=Gibbs(tol=0.1), random_state=0
    ... ).fit(X, y)
    >>> bool(model.diagnostics_.angle[0] < 0.1)
    True
    """

    supports_label_noise = True
    n_factors = 10
    n_matrices = 7
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
        return _Run(self, space, start, rng, deadline).run(n_jobs, deadline, on_round)


class Target(NamedTuple):
    """A version space in the form that the compiled loop takes: with axes of its own."""

    axes: np.ndarray  # orthonormal, one in each column
    columns: np.ndarray  # margins of the axes, one axis in each row
    inverse: np.ndarray  # of the inner products of the walls; empty if it is not precise
    penalty: np.ndarray  # posterior weights of 0, 1, 2, ... errors

    @classmethod
    def of(cls, space: VersionSpace, deadline: float = math.inf) -> Target:
        axes = posterior_axes(space, deadline)
        columns = np.ascontiguousarray((space.gram.factor @ axes).T * space.signs)
        weights = [math.exp(-space.error_cost * n) for n in range(1, len(space.signs) + 1)]
        return cls(axes, columns, _inverse_gram(space), np.array([1.0, *weights]))


def _inverse_gram(space: VersionSpace) -> np.ndarray:
    """Return the inverse inner products of the walls, or nothing if margins would not be exact."""
    nothing = np.empty((0, 0))
    if space.gram.rank < len(space.signs):
        return nothing
    inverse = np.linalg.inv(space.gram.matrix)
    if not np.diagonal(inverse).max() <= MAX_MARGIN_PRECISION:
        return nothing
    inverse *= space.signs
    inverse *= space.signs[:, None]
    return inverse


def posterior_axes(space: VersionSpace, deadline: float = math.inf) -> np.ndarray:
    """Return the principal axes of the posterior of w, approximated by a Gaussian.

    Given the others, coordinates along these axes hardly depend on each other, so that
    a sweep gives an almost independent sample. Any axes give the same law.
    """
    factor = space.gram.factor
    at_origin = np.diagonal(space.gram.matrix) == 0  # only noise gives these points a variance
    try:
        precision = propagate(
            factor,
            space.signs,
            at_origin.astype(float),
            space.label_noise,
            max_iter=MAX_PASSES,
            tol=MAX_MISMATCH,
            watch=lambda found: time.perf_counter() > deadline,
        ).sites.precision
    except linalg.LinAlgError:  # precisions are too large for a posterior covariance
        precision = np.ones(len(factor))
    scaled = factor * np.sqrt(precision)[:, None]
    return linalg.eigh(scaled.T @ scaled, overwrite_a=True)[1]


class Leg(NamedTuple):
    """The contribution of a stretch of one chain to the answer."""

    means: np.ndarray  # sum of estimates of the mean unit hypothesis, in coordinates
    units: np.ndarray  # sum of the unit hypotheses
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

    Margins are recomputed now and then, because updates round them. Between compiled calls
    should_stop may end the stretch.
    """
    from .._jit.gibbs import sweep

    # Other processes may get arrays in another order of memory, in which products round
    # differently: then chains would part.
    axes, columns, inverse, penalty = (np.array(part, order="C") for part in target)
    rank, m = columns.shape
    refresh = max(MARGINS_PER_CALL // (rank * (m + COORDINATE_COST)), 1)
    call = min(refresh, -(-n_samples // n_draws))
    w, sums, hits = w @ axes, np.zeros((2, rank)), np.zeros(m, np.int64)
    draws: list[np.ndarray] = []
    done = 0
    while done < n_samples and not (draws and should_stop()):
        if done % refresh < call:
            d = w @ columns
        n = min(call, n_samples - done)
        *parts, part_hits = sweep(columns, inverse, w, d, penalty, n, rng)
        sums += parts
        hits += part_hits
        done += n
        draws.append(w / np.linalg.norm(w))
    means, units = sums @ axes.T
    return axes @ w, Leg(means / mean_length(rank), units, done, hits, np.array(draws) @ axes.T)


class _Run(Rounds):
    """Chains of samples."""

    length_parameter = "n_samples"

    def __init__(self, solver: Gibbs, space: VersionSpace, start, rng, deadline: float):
        super().__init__(solver, space, rng, FIRST_ROUND_SAMPLES)
        self.target = Target.of(space, deadline)
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
        return leg.means, float(leg.n_samples)

    def _shares(self) -> tuple[np.ndarray, np.ndarray]:
        """Return means given the rest, but unit hypotheses along the direction of the answer.

        The length of w, which says nothing, varies in this direction alone, so there the mean
        of unit hypotheses is more precise. It is never longer than one.
        """
        totals, times = super()._shares()
        kept = self.rounds[self._kept()]
        units = np.array([[leg.units for leg in legs] for legs in kept]).swapaxes(0, 1)
        answer = totals.sum(axis=(0, 1))
        answer /= np.linalg.norm(answer) or 1.0
        return totals + ((units - totals) @ answer)[..., None] * answer, times

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
