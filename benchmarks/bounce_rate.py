"""How fast the ball bounces: compared with 000's algorithm 2, and with memory bandwidth.

(a) Bounces per second at m = 1000, RBF kernel, softness 0.1, in one thread. The peer is
algorithm 2 of Herbrich, Graepel, Campbell (2001) in dual variables as printed, with every
double sum as a NumPy matrix-vector product: six O(m^2) products per bounce. Both start with
the same ball, and the script checks that they hit the same walls. The peer runs with one
BLAS thread, and again with BLAS's default number of threads.

(b) Microseconds per bounce as a function of m, and the share of it that a loop would take
which moves the same bytes and computes almost nothing: it reads a Gram row, d, u, y and
slope, and writes d, u and slope, 64 bytes per wall. "sync" is the share of a call of
`advance` that goes into recomputing all margins, once per call of the length that the
solver uses.

(c) With label noise: bounces and effective samples per second of the solver, in one thread.

All times are medians of runs that take turns. They are thread times, which other work on the
machine disturbs less than the wall clock. Only BLAS with free threads is measured by the wall
clock; where other work has the cores, these threads wait for each other.
"""
# ruff: noqa: T201

from __future__ import annotations

import time

import numpy as np
from numba import njit
from problems import new_ball, rbf_problem, seconds
from threadpoolctl import threadpool_limits

from bayespoint.solvers import Billiard
from bayespoint.solvers.ball import NO_SCATTERING, WALL_UPDATES_PER_CALL, advance
from bayespoint.solvers.billiard import SCATTER_LENGTH
from bayespoint.solvers.published import TAU_MAX, chord_weights

BYTES_PER_WALL = 64
CHECKED_BOUNCES = 50


def algorithm_2(K, y, gamma, beta, n_bounces, rng):
    """Run 000's algorithm 2; names as in the paper, misprints corrected as in solvers.published."""
    alpha, hits, c = np.zeros_like(gamma), np.zeros(len(y), dtype=int), -1
    Xi = xi_max = 0.0
    p_min = 1.0
    for _ in range(n_bounces):
        while True:
            d, v = K @ gamma, K @ beta
            tau = -d / v  # eq. 21
            tau[(tau <= 0) | (np.arange(len(tau)) == c)] = np.inf
            nearest = int(np.argmin(tau))
            if tau[nearest] < TAU_MAX:
                break
            beta = unit(rng.standard_normal(len(y)), K)
            if c >= 0 and y[c] * (K[c] @ beta) < 0:  # eq. 22
                beta = -beta
        c = nearest
        gamma_new = unit(gamma + tau[c] * beta, K)  # eq. 23
        beta = beta.copy()
        beta[c] -= 2 * v[c] / K[c, c]  # eq. 24
        zeta = unit(gamma + gamma_new, K)
        chord = gamma - gamma_new
        xi = np.sqrt(max(chord @ K @ chord, 0.0))
        p = zeta @ K @ alpha
        rho_1, rho_2 = chord_weights(p, Xi / (Xi + xi))
        alpha = rho_1 * alpha + rho_2 * zeta
        p_min = min(p, p_min) if Xi > 0 else p_min
        xi_max, Xi, gamma = max(xi, xi_max), Xi + xi, gamma_new
        chord_weights(p_min, Xi / (Xi + xi_max))  # the stopping rule
        hits[c] += 1
    return alpha, hits


def unit(coef, K):
    """Normalize a vector given by its coefficients (000, eq. 20)."""
    return coef / np.sqrt(coef @ K @ coef)


@njit(error_model="numpy", fastmath={"nnan", "nsz", "contract", "reassoc"})
def stream(gram, y, d, u, slope, rows):
    """Move the bytes of one bounce per row, with as little arithmetic as possible."""
    for c in rows:
        row = gram[c]
        for j in range(len(d)):
            d[j] += row[j]
            u[j] += y[j]
            slope[j] += 1.0


def compare(m: int = 1000, n_peer: int = 60) -> None:
    """Print (a)."""
    space, rng = rbf_problem(m), np.random.default_rng(1)
    ball = new_ball(space, rng)
    K, y = space.gram.matrix, space.signs
    gamma, beta = space.gram.dual(np.stack(ball))

    def peer():
        return algorithm_2(K, y, gamma, beta, n_peer, np.random.default_rng(2))

    same = np.array_equal(
        algorithm_2(K, y, gamma, beta, CHECKED_BOUNCES, rng)[1],
        advance(space, ball, rng, CHECKED_BOUNCES)[1].hits,
    )
    n_ours = WALL_UPDATES_PER_CALL // m
    scatter = round(SCATTER_LENGTH / (advance(space, ball, rng, n_ours)[1].length / n_ours))
    advance(space, ball, rng, 10, 5)
    all_threads = seconds(peer)[0]
    with threadpool_limits(1, user_api="blas"):
        never, auto, one_thread = seconds(
            lambda: advance(space, ball, rng, n_ours, NO_SCATTERING),
            lambda: advance(space, ball, rng, n_ours, scatter),
            peer,
            clock=time.thread_time,
        )
    rates = {
        "algorithm 2, one BLAS thread": n_peer / one_thread,
        "algorithm 2, BLAS threads free": n_peer / all_threads,
        "bayespoint, no scattering": n_ours / never,
        f"bayespoint, scattering every {scatter}th": n_ours / auto,
    }
    print(f"(a) m = {m}; same walls in the first {CHECKED_BOUNCES} bounces: {same}")
    first, second, *_ = rates.values()
    print(f"{'':36}{'bounces/s':>12}{'ratio':>8}{'(free)':>8}")
    for name, rate in rates.items():
        print(f"{name:36}{rate:12.0f}{rate / first:8.0f}{rate / second:8.0f}")


def scale(sizes=(200, 400, 1000, 2000, 4000)) -> None:
    """Print (b)."""
    print("\n(b)    m  us/bounce  in flight  ns/wall    GB/s  stream GB/s  share   sync")
    in_flight = []
    for m in sizes:
        space, rng = rbf_problem(m), np.random.default_rng(1)
        ball, _ = advance(space, new_ball(space, rng), rng, 2 * m)
        n = WALL_UPDATES_PER_CALL // m
        _, leg = advance(space, ball, rng, n)
        # The rows that the ball reads, in a random order.
        rows = rng.permutation(np.repeat(np.arange(m), leg.hits))
        arrays = [space.gram.matrix, space.signs, *rng.random((3, m)), rows]
        stream(*arrays[:-1], rows[:1])
        call, sync, floor = seconds(
            lambda s=space, b=ball, r=rng, n=n: advance(s, b, r, n),
            lambda s=space, b=ball, r=rng: advance(s, b, r, 1),
            lambda a=arrays: stream(*a),
            clock=time.thread_time,
        )
        flight, floor = (call - sync) / n, floor / n
        in_flight.append(flight)
        moved = BYTES_PER_WALL * m * 1e-9
        print(
            f"{m:8}{call / n * 1e6:11.3f}{flight * 1e6:11.3f}{flight / m * 1e9:9.2f}"
            f"{moved / flight:8.1f}{moved / floor:13.1f}{floor / flight:7.0%}{sync / call:7.0%}"
        )
    slope = np.polyfit(np.log(sizes), np.log(in_flight), 1)[0]
    big = np.ones(2**24)
    copy = seconds(lambda: np.copyto(big[: 2**23], big[2**23 :]), clock=time.thread_time)[0]
    print(f"log-log slope of the flight: {slope:.2f}; main memory: {2**27 / copy * 1e-9:.1f} GB/s")


def noise(m: int = 200, n_bounces: int = 800_000) -> None:
    """Print (c)."""
    print(f"\n(c) m = {m}   bounces/s      ess/s     errors")
    for label_noise in (0.0, 0.01, 0.05, 0.2):
        space = rbf_problem(m)._replace(label_noise=label_noise)
        solver = Billiard(tol=0.0, n_bounces=n_bounces)
        infos = []

        def solve(solver=solver, space=space, infos=infos):
            infos.append(solver.solve(space, np.random.default_rng(1)).info)

        time_used = seconds(solve, repeats=3, clock=time.thread_time)[0]
        info = infos[0]
        rates = info["n_bounces"] / time_used, info["ess"] / time_used
        print(f"eta = {label_noise:4}{rates[0]:12.0f}{rates[1]:11.0f}{info['errors']:11.1f}")


if __name__ == "__main__":
    compare()
    with threadpool_limits(1, user_api="blas"):
        scale()
        noise()
