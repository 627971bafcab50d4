"""The geodesic billiard: one Gram row and one pass over the walls per bounce."""

import math
from typing import NamedTuple

import numpy as np

from .compiler import njit

# No margin falls below this. If rounding leaves the ball on the wrong side of a wall that it
# is leaving, it then meets this wall at once instead of escaping. The square of this number
# is still far from underflow.
SMALLEST_MARGIN = 1e-100
LARGEST_INT = np.int64(2**63 - 1)
# Longest wait for a scattering, in bounces: such a wait never ends, and fits an integer.
LONGEST_WAIT = 4e18


class Walls(NamedTuple):
    """The walls of version space, one for each training point x_i with label y_i.

    Their normals are z_i = y_i x_i. Either all costs are infinite, and b and v stay
    orthogonal unit vectors; or all are finite, b and v are Gaussian vectors, and a ball
    that is fast enough passes.
    """

    gram: np.ndarray  # gram[i, j] = <x_i, x_j>
    factor: np.ndarray  # factor[i, : extent[i]] are the coordinates of x_i
    extent: np.ndarray
    y: np.ndarray
    cost: np.ndarray  # the energy it costs to be on the wrong side of each wall


class Motion(NamedTuple):
    """Position b and direction v, each as coordinates plus coefficients on the z_i."""

    b_base: np.ndarray
    b_coef: np.ndarray
    v_base: np.ndarray
    v_coef: np.ndarray


class Margins(NamedTuple):
    """Where the ball is, seen from the walls."""

    d: np.ndarray  # <b, side_i z_i>, all > 0
    u: np.ndarray  # <v, side_i z_i>
    side: np.ndarray  # -1 where the ball is on the wrong side of wall i, else 1


class Schedule(NamedTuple):
    """When to take draws: at times first, first + spacing, ..."""

    first: float
    spacing: float
    n_draws: int


class Flight(NamedTuple):
    """The end and the results of a flight; `fly` returns them as a plain tuple.

    (Compiled code would make a named tuple by running Python code, where a pending signal
    could raise an exception that compiled code does not expect.)

    Vectors are pairs of coordinates and of coefficients: x = x_base + sum_i x_coef_i z_i.
    """

    b_base: np.ndarray  # the position at the end
    b_coef: np.ndarray
    v_base: np.ndarray  # the direction at the end
    v_coef: np.ndarray
    jump_base: np.ndarray  # all changes of v at walls: as dv/dt = -b in between,
    jump_coef: np.ndarray  # the integral of b is v at the start - v at the end + jumps
    length: float
    errors: float  # integral of the number of training errors over time
    hits: np.ndarray  # bounces on each wall
    draw_base: np.ndarray  # positions at equal intervals of time, one in each row
    draw_coef: np.ndarray


# Margins are clamped, so no NaN arises and "nnan" is safe. Infinities may arise, so "ninf"
# stays off. The python error model would put a test for division by zero into the loops, which
# keeps them from being vectorized.
#
# `fly` is one function on purpose. Every way to split it into compiled steps (called, inlined by
# LLVM or by numba, even only the rare ones) made a bounce 10 to 60 ns slower, which is 10 to 30 %
# at 20 to 200 walls.
@njit(
    cache=True,
    nogil=True,
    error_model="numpy",
    fastmath={"nnan", "nsz", "contract", "reassoc"},
)
def fly(walls, motion, margins, n_bounces, scatter, rng, schedule):
    """Bounce n_bounces times, about every scatter-th time in a random direction.

    The ball starts with `motion`; `margins` are its margins, and move along.
    """
    gram, factor, extent, y, cost = walls
    b, b_coef, v, v_coef = motion
    d, u, side = margins
    first, spacing, n_draws = schedule
    m = d.shape[0]
    rank = b.shape[0]
    # Position and direction turn in a plane that only changes at bounces: with fixed P and Q,
    # b = P cos + Q sin and v = Q cos - P sin. So a bounce need not touch their coordinates, and a
    # reflection changes one coefficient of each.
    p_base, q_base = b.copy(), v.copy()
    p, q = b_coef.copy(), v_coef.copy()
    turn_cos, turn_sin = 1.0, 0.0
    jump_base, jump_coef = np.zeros(rank), np.zeros(m)
    hits = np.zeros(m, np.int64)
    draw_base, draw_coef = np.empty((n_draws, rank)), np.empty((n_draws, m))
    g, g_margin, slope = np.empty(rank), np.empty(m), np.empty(m)
    bits = slope.view(np.int64)
    drawn = 0
    length, errors = 0.0, 0.0
    on_sphere = cost[0] == np.inf
    sign = y * side
    n_wrong = 0
    for j in range(m):
        n_wrong += side[j] < 0.0
    # Bounces until the next scattering: geometric, so that flights need no memory of each other,
    # and no rhythm can match the rhythm of a trajectory.
    log_reflect = math.log1p(-1.0 / scatter)
    wait = 1 + min(math.log(1.0 - rng.random()) / log_reflect, LONGEST_WAIT)
    g_b, g_z, norm = 0.0, 0.0, 1.0

    for j in range(m):
        slope[j] = u[j] / d[j]
    for _ in range(n_bounces):
        # Find the first wall: cot t = max_j -u_j / d_j. Doubles, with the lower bits of negative
        # ones flipped, are ordered like integers, whose minimum the compiler vectorizes.
        lowest = LARGEST_INT
        for j in range(m):
            lowest = min(lowest, bits[j] ^ ((bits[j] >> 63) & LARGEST_INT))
        lowest ^= (lowest >> 63) & LARGEST_INT
        c = 0
        while c < m - 1 and bits[c] != lowest:
            c += 1
        cot = -slope[c]
        sin = 1.0 / math.sqrt(1.0 + cot * cot)
        cos = cot * sin
        arrival = length + math.atan2(sin, cos)

        # Take draws at equal times; at bounces they would crowd the walls.
        while drawn < n_draws and first + drawn * spacing < arrival:
            t = first + drawn * spacing - length
            draw_cos = turn_cos * math.cos(t) - turn_sin * math.sin(t)
            draw_sin = turn_sin * math.cos(t) + turn_cos * math.sin(t)
            for i in range(rank):
                draw_base[drawn, i] = p_base[i] * draw_cos + q_base[i] * draw_sin
            for j in range(m):
                draw_coef[drawn, j] = p[j] * draw_cos + q[j] * draw_sin
            drawn += 1

        # Move to the wall.
        errors += n_wrong * (arrival - length)
        length = arrival
        hits[c] += 1
        turn_cos, turn_sin = turn_cos * cos - turn_sin * sin, turn_sin * cos + turn_cos * sin
        row = gram[c]

        # The normal component of v on arrival is negative. A wall that costs nothing is no wall,
        # or coincides with another wall. Rounding decides which of the two the ball meets first,
        # so a ball that arrives between them does not have the law of scattering.
        if cost[c] > 0.0:
            wait -= 1
        scattered = wait < 1
        if not scattered:
            normal = u[c] * cos - d[c] * sin
        else:
            # Scatter: the ball arrives with -r z_c + g - <g, b> b - <g, z_c> z_c instead of v, with
            # g normal and r Rayleigh. This is the law of balls that arrive at a wall from all
            # directions, so it preserves the posterior. On the sphere it is scaled to unit length;
            # Gaussian vectors need neither this nor the projection on b.
            wait = 1 + min(math.log(1.0 - rng.random()) / log_reflect, LONGEST_WAIT)
            g_square, g_b = 0.0, 0.0
            for i in range(rank):
                g[i] = rng.standard_normal()
                g_square += g[i] * g[i]
                b_i = p_base[i] * turn_cos + q_base[i] * turn_sin
                v_i = q_base[i] * turn_cos - p_base[i] * turn_sin
                g_b += g[i] * b_i
                jump_base[i] -= v_i
                p_base[i] = b_i
            for j in range(m):
                dot = 0.0
                for i in range(extent[j]):
                    dot += factor[j, i] * g[i]
                g_margin[j] = dot * sign[j]
                b_j = p[j] * turn_cos + q[j] * turn_sin
                g_b += g_margin[j] * b_j
                jump_coef[j] -= q[j] * turn_cos - p[j] * turn_sin
                p[j] = b_j
            r = math.sqrt(-2.0 * math.log(1.0 - rng.random()))
            g_z = g_margin[c]
            if on_sphere:
                norm = math.sqrt(max(g_square - g_b * g_b - g_z * g_z, 0.0) + r * r)
            else:
                g_b, norm = 0.0, 1.0
            normal = -r

        # Reflect; or pass if the energy suffices, from right to wrong or from wrong to right. Then
        # margins are measured from the new cell, which the ball enters from outside.
        leave = -normal
        energy = normal * normal - 2.0 * side[c] * cost[c]
        if energy > 0.0:
            leave = math.sqrt(energy)
            normal, g_z = -normal, -g_z
            d[c], u[c], g_margin[c] = -d[c], -u[c], -g_margin[c]
            side[c], sign[c] = -side[c], -sign[c]
            n_wrong -= int(side[c])

        if not scattered:
            # v' = v + push z_c, with z_c towards the cell; kick is along the labeled z_c.
            push = leave - normal
            kick = push if side[c] > 0.0 else -push
            p[c] -= kick * turn_sin
            q[c] += kick * turn_cos
            jump_coef[c] += kick
            push *= sign[c]
            for j in range(m):
                d_j = d[j] * cos + u[j] * sin
                u_j = u[j] * cos - d[j] * sin + push * sign[j] * row[j]
                d_j = d_j if d_j > SMALLEST_MARGIN else SMALLEST_MARGIN
                d[j] = d_j
                u[j] = u_j
                slope[j] = u_j / d_j
        else:
            push = (leave - g_z) / norm
            for i in range(rank):
                q_base[i] = (g[i] - g_b * p_base[i]) / norm
                jump_base[i] += q_base[i]
            for j in range(m):
                q[j] = -g_b * p[j] / norm
                jump_coef[j] += q[j]
            kick = push if side[c] > 0.0 else -push
            q[c] += kick
            jump_coef[c] += kick
            turn_cos, turn_sin = 1.0, 0.0
            push *= sign[c]
            for j in range(m):
                d_j = d[j] * cos + u[j] * sin
                u_j = (g_margin[j] - g_b * d_j) / norm + push * sign[j] * row[j]
                d_j = d_j if d_j > SMALLEST_MARGIN else SMALLEST_MARGIN
                d[j] = d_j
                u[j] = u_j
                slope[j] = u_j / d_j

    return (
        p_base * turn_cos + q_base * turn_sin,
        p * turn_cos + q * turn_sin,
        q_base * turn_cos - p_base * turn_sin,
        q * turn_cos - p * turn_sin,
        jump_base,
        jump_coef,
        length,
        errors,
        hits,
        draw_base[:drawn],
        draw_coef[:drawn],
    )
