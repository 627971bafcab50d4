"""The billiards of 000 and 002 as published, for comparison.

Both fly on straight lines through the cone {w : <w, z_i> > 0} and compute all margins again
at every bounce, O(m r). Seen from the origin a straight line is a great circle, so the
flights are the same as in the geodesic billiard. They differ in what happens when the ball
escapes from the cone, and in how the mean is formed.
"""

from __future__ import annotations

import math

import numpy as np

from ..geometry.version_space import VersionSpace
from .posterior import Posterior
from .precision import Precision, precision
from .watch import Watch

# Longer flights count as escapes (000's tau_max): this is 84 degrees on the sphere.
TAU_MAX = 10.0
# Give up after this many restarts in a row, each of which points away from the last wall.
MAX_RESTARTS = 10_000
# The error is estimated from this many batches of the trajectory, or up to twice as many.
N_BATCHES = 32
# The flipper's error estimate is trusted up to this R-hat of the batches.
MAX_BATCH_R_HAT = 1.1


def play_herbrich(
    space: VersionSpace,
    start: np.ndarray,
    rng: np.random.Generator,
    watch: Watch,
    *,
    n_bounces: int,
    n_draws: int,
    tol: float,
    tau_max: float = TAU_MAX,
) -> Posterior:
    """Play 000's algorithm 2.

    It stops when the weight that another arc could get in the mean is below `tol`, which
    takes more than 1 / tol bounces. The published text has misprints: the arc xi is |b - b'|,
    the signs in rho_2 are such that mu = 0 gives the second vector, and the first arc, which
    has no mean to compare with, does not count in p_min.
    """
    walls, b = space.walls, start
    v = random_combination(space, rng)
    record = _Record(n_draws, len(walls))
    mean = _ChordMean(b)
    last = -1
    stop = "n_bounces"
    while record.n_bounces < n_bounces:
        for _ in range(MAX_RESTARTS):
            c, tau = _first_wall(walls @ b, walls @ v, last)
            if tau < tau_max or watch.is_over():
                break
            v = random_combination(space, rng)
            if last >= 0 and v @ walls[last] < 0:
                v = -v  # toward version space, eq. 22
        if tau >= tau_max:
            stop = watch.stop or "escaped"
            break
        b_new = b + tau * v  # eq. 23
        b_new /= np.linalg.norm(b_new)
        v = v - 2 * (v @ walls[c]) * walls[c]  # eq. 24
        middle = b + b_new
        middle /= np.linalg.norm(middle)
        xi = float(np.linalg.norm(b_new - b))
        mean.add(middle, xi)
        record.add(c, middle, xi)
        b, last = b_new, c
        if mean.weight_of_another_arc() <= tol:
            stop = "tol"
            break
        if watch.is_over():
            stop = watch.stop
            break
    return record.posterior(space, mean.w, stop)


class _ChordMean:
    """The running mean of 000's algorithm 2, whose weights are chords."""

    def __init__(self, b: np.ndarray):
        self.w = np.zeros_like(b)
        self.total = self.longest = 0.0
        self.p_min = 1.0

    def add(self, middle: np.ndarray, xi: float) -> None:
        """Add the middle of an arc of length xi."""
        if self.total == 0:
            self.w = middle
        else:
            p = float(self.w @ middle)
            rho_1, rho_2 = chord_weights(p, self.total / (self.total + xi))
            self.w = rho_1 * self.w + rho_2 * middle
            self.p_min = min(p, self.p_min)
        self.longest = max(xi, self.longest)
        self.total += xi

    def weight_of_another_arc(self) -> float:
        """Return the largest weight that another arc could get, which the stopping rule uses."""
        return chord_weights(self.p_min, self.total / (self.total + self.longest))[1]


def random_combination(space: VersionSpace, rng: np.random.Generator) -> np.ndarray:
    """Return a unit vector with random coefficients (beta of 000's algorithm 2).

    It is not uniform: it prefers the directions in which training points lie. A ball that
    escapes starts again with it, so the trajectory does not fill version space evenly.
    """
    v = space.combine(rng.uniform(-1, 1, len(space.signs)))
    return v / np.linalg.norm(v)


def chord_weights(p: float, mu: float) -> tuple[float, float]:
    """Return rho_1, rho_2 of 000: s + t weighted by chords, for <s, t> = p.

    rho_1 s + rho_2 t has unit length and |t - it| = mu |t - s|.
    """
    rho_1 = mu * math.sqrt(max(2 - mu**2 * (1 - p), 0.0) / (1 + p)) if p > -1 else 0.0
    return rho_1, 1 - mu**2 * (1 - p) - rho_1 * p


def play_flipper(
    space: VersionSpace,
    start: np.ndarray,
    rng: np.random.Generator,
    watch: Watch,
    *,
    n_bounces: int,
    n_draws: int,
    tol: float,
) -> Posterior:
    """Play 002's flipper (algorithm 18.1).

    The ball is not brought back to the sphere. When it escapes, it starts again from the
    current estimate of the center. 002 stops after a number of bounces; here the flipper also
    stops when the angular error, estimated from batch means, is below `tol`.
    """
    walls, b = space.walls, start
    v = _random_unit(len(b), rng)
    record = _Record(n_draws, len(walls))
    last = -1
    center, weight = start, 0.0
    next_look = 2 * N_BATCHES
    stop = "n_bounces"
    restarts = 0
    while record.n_bounces < n_bounces and restarts < MAX_RESTARTS:
        c, tau = _first_wall(walls @ b, walls @ v, last)
        if not math.isfinite(tau):
            b, v, last = center, _random_unit(len(b), rng), -1
            restarts += 1
            continue
        restarts = 0
        b_new = b + tau * v
        v = v - 2 * (v @ walls[c]) * walls[c]  # eq. 18.25
        ends = [b / np.linalg.norm(b), b_new / np.linalg.norm(b_new)]
        arc = _angle(*ends)
        middle = ends[0] + ends[1]
        middle /= np.linalg.norm(middle)
        center = add_by_angle(center, middle, weight, arc)
        weight += arc
        record.add(c, middle, arc)
        b, last = b_new, c
        if record.n_bounces == next_look:
            next_look *= 2
            estimate = record.precision()
            if estimate.angle <= tol and estimate.r_hat <= MAX_BATCH_R_HAT:
                stop = "tol"
                break
        if watch.is_over():
            stop = watch.stop
            break
    return record.posterior(space, center, stop)


def add_by_angle(a: np.ndarray, b: np.ndarray, weight_a: float, weight_b: float) -> np.ndarray:
    """Add two unit vectors with weights like parallel forces (002, eq. 18.27)."""
    if weight_a + weight_b == 0:
        return a
    phi = _angle(a, b)
    if phi == 0:
        return a
    phi_1 = phi * weight_b / (weight_a + weight_b)
    sum_ = math.cos(phi_1) * a + math.sin(phi_1) / math.sin(phi) * (b - math.cos(phi) * a)
    return sum_ / np.linalg.norm(sum_)


def _first_wall(d: np.ndarray, u: np.ndarray, last: int) -> tuple[int, float]:
    """Return the wall that a straight flight meets first, and when (eq. 21)."""
    tau = np.full(len(d), np.inf)
    ahead = u < 0
    tau[ahead] = np.maximum(-d[ahead] / u[ahead], 0.0)
    if last >= 0:
        tau[last] = np.inf
    c = int(np.argmin(tau))
    return c, float(tau[c])


def _random_unit(rank: int, rng: np.random.Generator) -> np.ndarray:
    v = rng.standard_normal(rank)
    return v / np.linalg.norm(v)


def _angle(a: np.ndarray, b: np.ndarray) -> float:
    """Return the angle between unit vectors, exact for small ones."""
    return 2 * math.atan2(float(np.linalg.norm(a - b)), float(np.linalg.norm(a + b)))


class _Record:
    """Batches and draws of a single trajectory, in bounded memory."""

    def __init__(self, n_draws: int, n_walls: int):
        self.n_bounces = 0
        self.hits = np.zeros(n_walls, dtype=np.int64)
        self.length = 0.0
        self._n_draws = n_draws
        self._draws: list[np.ndarray] = []
        self._every = 1
        self._batches: list[tuple[np.ndarray, float]] = []
        self._per_batch = 1
        self._filled = 0

    def add(self, wall: int, middle: np.ndarray, length: float) -> None:
        """Record an arc by its middle and its length."""
        self.hits[wall] += 1
        self.length += length
        if self.n_bounces % self._every == 0:
            self._draws.append(middle)
            if len(self._draws) == 2 * self._n_draws:
                self._draws = self._draws[::2]
                self._every *= 2
        self.n_bounces += 1
        if self._filled == 0:
            self._batches.append((length * middle, length))
        else:
            integral, time_ = self._batches[-1]
            self._batches[-1] = (integral + length * middle, time_ + length)
        self._filled = (self._filled + 1) % self._per_batch
        if self._filled == 0 and len(self._batches) == 2 * N_BATCHES:
            pairs = zip(self._batches[::2], self._batches[1::2], strict=True)
            self._batches = [(a[0] + b[0], a[1] + b[1]) for a, b in pairs]
            self._per_batch *= 2

    def precision(self) -> Precision:
        """Estimate the error from the batches, as if they were independent."""
        integrals = np.array([integral for integral, _ in self._batches])
        lengths = np.array([length for _, length in self._batches])
        return precision(integrals[:, None], lengths[:, None])

    def posterior(self, space: VersionSpace, w: np.ndarray, stop: str) -> Posterior:
        """Return the result; |w| is the mean resultant length of the trajectory."""
        if not self._batches:
            raise ValueError(
                "The ball escaped from version space without meeting a wall. Use "
                'algorithm="geodesic", which cannot escape, or more time.'
            )
        resultant = np.linalg.norm(sum(i for i, _ in self._batches)) / self.length
        step = max(len(self._draws) // self._n_draws, 1)
        info = {
            **self.precision()._asdict(),
            "n_bounces": self.n_bounces,
            "length": self.length,
            "scatter": 0,
            "hits": self.hits,
            "mixed": self.precision().r_hat <= MAX_BATCH_R_HAT,
            "stop": stop,
        }
        draws = np.array(self._draws[::step])
        means = np.array([integral / length for integral, length in self._batches])
        return Posterior(space.dual(resultant * w), space.dual(draws), space.dual(means), info)
