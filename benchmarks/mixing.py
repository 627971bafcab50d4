"""What makes the ball mix: 002's two ideas, measured in bounces.

Ruján and Marchand (002, sec. 18.5.1) name two remedies for a ball that mixes slowly: a
reflecting sphere around the center, inside version space, and random scattering at the
walls. The second is `advance(..., scatter=k)`: one in k bounces, at random, leaves the wall
in a random direction (cosine law), which preserves the uniform distribution. The first is
written below: a cap {w : <w, center> >= cos(radius)} that reaches 0.9 of the way to the
nearest wall. A cap is symmetric, so version space without it has the same center. The cap is
put around the true center, which favors the idea. Its bounces count.

For each variant there are 32 runs from random places in version space. The table has: the
root mean square of the angle between their means and the truth after N bounces and after 4 N
("falls": the ratio, 0.5 for a ball that forgets its past, 1 for one that does not); the
bounces to an angle of 0.05, if the angle falls like one over the square root; and the mean
length of the mean, which is the mean resultant length of version space. The truth is a run of
up to ten million bounces with scattering.

The last problem has nearly orthogonal points. For orthogonal ones a bounce changes the sign
of one u_i and nothing else, so d_i^2 + u_i^2 never changes: the plain ball is not ergodic, and
its mean resultant length is 2 sqrt(2) / pi = 0.900 instead of sqrt(2 / pi) = 0.798 (for many
points). Moreover d_i = A |cos(t + phase)| returns after a length of pi. A ball that is
scattered regularly, once in a multiple of pi, is then always scattered in the same place, and
is not ergodic either. So scatterings come at random.
"""
# ruff: noqa: T201

from __future__ import annotations

import math

import numpy as np
from numba import njit
from problems import new_ball, perceptron_problem, rbf_problem
from threadpoolctl import threadpool_limits

from bayespoint.solvers import Billiard
from bayespoint.solvers.ball import NO_SCATTERING, advance

N_RUNS = 32
ANGLE = 0.05
REACH = 0.9  # radius of the sphere, relative to the distance of the nearest wall

# name, version space, N
PROBLEMS = [
    ("perceptron, 3 dimensions, 20 points", lambda: perceptron_problem(3, 20), 1_000),
    ("perceptron, 10 dimensions, 50 points", lambda: perceptron_problem(10, 50), 5_000),
    ("perceptron, 50 dimensions, 200 points", lambda: perceptron_problem(50, 200), 10_000),
    ("RBF, 200 points, softness 0.1", lambda: rbf_problem(200, 0.1), 10_000),
    ("RBF, 200 points, nearly orthogonal", lambda: rbf_problem(200, 0.0, gamma=2.0), 10_000),
]


@njit(error_model="numpy")
def fly_around(walls, center, radius, b, v, n_bounces):
    """Bounce between walls and the cap; b and v are changed in place."""
    integral, length, on_cap = np.zeros(len(b)), 0.0, 0
    rim = math.cos(radius)
    for _ in range(n_bounces):
        d, u = walls @ b, walls @ v
        wall = np.argmin(u / np.maximum(d, 1e-100))
        t = math.atan2(max(d[wall], 1e-100), -u[wall])
        normal = walls[wall]
        # On the way <w, center> = top cos(t - t_top); it enters the cap where that is rim.
        top = math.hypot(b @ center, v @ center)
        if v @ center > 0 and top > rim:
            t_cap = math.atan2(v @ center, b @ center) - math.acos(rim / top)
            if t_cap < t:
                t = max(t_cap, 0.0)
                end = b * math.cos(t) + v * math.sin(t)
                normal = center - (center @ end) * end
                normal /= np.linalg.norm(normal)
                on_cap += 1
        integral += b * math.sin(t) + v * (1 - math.cos(t))
        length += t
        b[:], v[:] = b * math.cos(t) + v * math.sin(t), v * math.cos(t) - b * math.sin(t)
        v -= 2 * (v @ normal) * normal
        b /= np.linalg.norm(b)
        v -= (v @ b) * b
        v /= np.linalg.norm(v)
    return integral, length, on_cap


def run_sphere(space, ball, rng, n_bounces, center):
    """Return the ball, integral, length and hits of the cap for a plain ball and a cap."""
    b, v = ball.b.copy(), ball.v.copy()
    radius = REACH * nearest_wall(space, center)
    return type(ball)(b, v), *fly_around(space.walls, center, radius, b, v, n_bounces)


def run_scatter(space, ball, rng, n_bounces, every):
    """Return the ball, integral, length and hits of the cap, always zero here."""
    ball, leg = advance(space, ball, rng, n_bounces, every)
    return ball, leg.integral, leg.length, 0


def nearest_wall(space, w):
    """Return the angle between w and the nearest wall."""
    return np.arcsin(space.margins(w).min())


def measure(run, setting, space, starts, truth, n_bounces):
    """Return the angle after N and 4 N bounces, the mean resultant and hits of the cap."""
    angles, lengths, hits = [], [], 0
    for seed, start in enumerate(starts):
        rng = np.random.default_rng(seed)
        ball, total, time, record = new_ball(space, rng, start), 0.0, 0.0, []
        for _ in range(4):
            ball, integral, length, on_cap = run(space, ball, rng, n_bounces, setting)
            total, time, hits = total + integral, time + length, hits + on_cap
            across = np.linalg.norm(total - (total @ truth) * truth)
            record.append(math.atan2(across, total @ truth))
        angles.append(record)
        lengths.append(np.linalg.norm(total) / time)
    rms = np.sqrt(np.mean(np.square(angles), axis=0))
    return rms[0], rms[-1], np.mean(lengths), hits


def compare(name, space, n_bounces):
    """Print all variants for one problem."""
    rng = np.random.default_rng(0)
    arc = advance(space, new_ball(space, rng), rng, n_bounces)[1].length / n_bounces
    once_in = {f"once in {x} pi": round(x * np.pi / arc) for x in (0.5, 1.5, 2.0)}
    solver = Billiard(
        n_bounces=10**7, n_draws=4 * N_RUNS, tol=5e-4, scatter=once_in["once in 1.5 pi"]
    )
    posterior = solver.solve(space, rng)
    truth = space.combine(posterior.coef)
    resultant = np.linalg.norm(truth)
    truth /= resultant
    draws = space.combine(posterior.draws)
    starts = draws[draws @ truth < np.cos(nearest_wall(space, truth))][:N_RUNS]
    rates = {f"every {k}": k for k in (1, 10, 100)} | once_in | {"never": NO_SCATTERING}
    variants = {label: (run_scatter, k) for label, k in rates.items()}
    variants["never, but a sphere"] = (run_sphere, truth)
    print(f"\n{name}; mean resultant length {resultant:.3f}, N = {n_bounces}")
    print(f"{'scatter':20}{'angle':>8}{'at 4N':>8}{'falls':>7}{'needs':>10}{'resultant':>11}")
    for label, (run, setting) in variants.items():
        first, last, length, hits = measure(run, setting, space, starts, truth, n_bounces)
        needs = 4 * n_bounces * (last / ANGLE) ** 2
        row = f"{first:8.4f}{last:8.4f}{last / first:7.2f}{needs:10.0f}{length:11.3f}"
        print(f"{label:20}{row}", flush=True)
    print(f"share of bounces on the sphere: {hits / (4 * n_bounces * len(starts)):.1g}")


if __name__ == "__main__":
    with threadpool_limits(1):
        for name, make, n_bounces in PROBLEMS:
            compare(name, make(), n_bounces)
