"""How soon the Bayes point is found, compared with hopsy's sampler for truncated Gaussians.

The problem: 200 points under an RBF kernel with softness, f ~ N(0, K), signs * f > 0.
The time is measured until the running mean of one chain first points within cosine 0.99 of the
true mean, in the inner product of feature space: <w, w'> = f' K^-1 f'. Both start from the same
hypothesis, in one thread. The time includes everything after the kernel matrix: for us scaling,
the Cholesky factor and finding the start; for hopsy the problem and its Cholesky factor, while
the start is given. It does not include numba's compilation (cached on disk after the first use)
and the comparison with the truth.

hopsy's `TruncatedGaussianProposal` is a Gibbs sampler: a step is a sweep over all whitened
coordinates and recomputes all slacks for each, O(m^3). It whitens by itself, so the coordinates
of the problem make no difference, and all its steps are accepted. Its best thinning is none,
because then every state enters the mean. It has no other parameters.

The truth is a long run of our sampler. As a check it is compared with a long run of hopsy,
whose own precision shows in the cosine between its two halves.
"""
# ruff: noqa: T201

from __future__ import annotations

import time
import warnings

import numpy as np
from problems import cosine, new_ball, rbf_problem
from scipy.linalg import solve_triangular
from threadpoolctl import threadpool_limits

from bayespoint.geometry.gram import unit_gram
from bayespoint.geometry.version_space import VersionSpace
from bayespoint.solvers import Billiard
from bayespoint.solvers.ball import advance
from bayespoint.solvers.billiard import SCATTER_LENGTH

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # packages that hopsy imports warn
    import hopsy

N_POINTS = 200
TARGET = 0.99
BLOCK = 500  # bounces between two comparisons with the truth
SWEEPS = 10  # sweeps between two comparisons


class Clock:
    """Add up the seconds of the blocks that it surrounds."""

    total = 0.0

    def __enter__(self):
        self.began = time.perf_counter()

    def __exit__(self, *_):
        self.total += time.perf_counter() - self.began


def our_time(space: VersionSpace, truth: np.ndarray, seed: int) -> tuple[float, int]:
    """Return seconds and bounces to the target."""
    rng, clock = np.random.default_rng(seed), Clock()
    with clock:
        # Softness is in the matrix already; scaling and factoring are timed.
        space = VersionSpace(unit_gram(space.gram.matrix, 0.0), space.signs)
        ball = new_ball(space, rng)
    integral, n_bounces, scatter = 0.0, 0, BLOCK
    while n_bounces == 0 or cosine(integral, truth) < TARGET:
        with clock:
            ball, leg = advance(space, ball, rng, BLOCK, scatter)
            integral, n_bounces = integral + leg.integral, n_bounces + BLOCK
            # Scatter at least once per block: `advance` draws a new waiting time in each call.
            scatter = min(round(SCATTER_LENGTH * BLOCK / leg.length), BLOCK)
    return clock.total, n_bounces


class Peer:
    """hopsy on the same posterior, starting from the same hypothesis."""

    def __init__(self, space: VersionSpace, seed: int):
        m = len(space.signs)
        matrix = space.gram.matrix * np.outer(space.signs, space.signs)
        # A Gaussian vector in m dimensions is about sqrt(m) long.
        start = np.sqrt(m) * space.margins(space.enter(np.random.default_rng(0)))
        self.space, self.clock = space, Clock()
        self.rng = hopsy.RandomNumberGenerator(seed)
        with self.clock:
            model = hopsy.Gaussian(np.zeros(m), matrix)
            problem = hopsy.Problem(-np.eye(m), np.zeros(m), model, starting_point=start)
            self.chain = hopsy.MarkovChain(
                problem, hopsy.TruncatedGaussianProposal, starting_point=start
            )

    def draw(self, n_sweeps: int) -> np.ndarray:
        """Return hypotheses in our coordinates: factor w = signs * f."""
        with self.clock:
            _, states = hopsy.sample(self.chain, self.rng, n_sweeps, thinning=1)
        gram, pivots = self.space.gram, self.space.gram.pivots
        f = (states[0] * self.space.signs)[:, pivots]
        return solve_triangular(gram.factor[pivots], f.T, lower=True).T


def peer_time(space: VersionSpace, truth: np.ndarray, seed: int) -> tuple[float, int]:
    """Return seconds and sweeps to the target."""
    peer, total, n_sweeps = Peer(space, seed), 0.0, 0
    while n_sweeps == 0 or cosine(total, truth) < TARGET:
        total, n_sweeps = total + peer.draw(SWEEPS).sum(axis=0), n_sweeps + SWEEPS
    return peer.clock.total, n_sweeps


def main(softness: float, n_seeds: int = 9, check_sweeps: int = 12_000) -> None:
    """Print the comparison for one problem."""
    space = rbf_problem(N_POINTS, softness)
    reference = Billiard(n_bounces=16_000_000, tol=0.003).solve(space, np.random.default_rng(0))
    truth = space.combine(reference.coef)
    draws = Peer(space, 99).draw(check_sweeps)[check_sweeps // 20 :]
    halves = [half.mean(axis=0) for half in np.array_split(draws, 2)]
    our_time(space, truth, 99)
    runs = [(our_time(space, truth, s), peer_time(space, truth, s)) for s in range(n_seeds)]
    ours, peers = np.median(runs, axis=0)
    ratios = [peer[0] / our[0] for our, peer in runs]
    start = cosine(space.enter(np.random.default_rng(0)), truth)
    print(f"softness {softness}: cosine of the start with the truth {start:.3f}")
    print(f"  bayespoint {ours[0] * 1e3:8.1f} ms {ours[1]:8.0f} bounces")
    print(f"  hopsy      {peers[0] * 1e3:8.1f} ms {peers[1]:8.0f} sweeps")
    print(
        f"  ratio: median {np.median(ratios):.0f}, {min(ratios):.0f} to {max(ratios):.0f} "
        f"in {n_seeds} seeds"
    )
    print(
        f"  check: reference and hopsy {cosine(truth, draws.mean(axis=0)):.5f}, "
        f"halves of hopsy {cosine(*halves):.5f}, estimated angle of the reference "
        f"{reference.info['angle']:.4f}"
    )


if __name__ == "__main__":
    print(f"hopsy {hopsy.__version__}, {N_POINTS} points, time to cosine {TARGET}, medians")
    with threadpool_limits(1):
        main(softness=0.1)
        main(softness=0.0, check_sweeps=6_000)
