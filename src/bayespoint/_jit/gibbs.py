"""The Gibbs sampler: one coordinate of a hypothesis at a time, given all others."""

import math

import numpy as np
from numba import njit


@njit(cache=True, nogil=True, error_model="numpy")
def cross(here, radius, s, d):
    """Return the walls that radius cos t meets for t in [0, pi], and the values of t, in order.

    d are the margins at here, and s their derivatives by the coordinate.
    """
    m = d.shape[0]
    wall, t = np.empty(m, np.int64), np.empty(m)
    n = 0
    for j in range(m):
        d_0 = d[j] - here * s[j]
        if abs(d_0) < radius * abs(s[j]):
            wall[n] = j
            t[n] = math.acos(-d_0 / (radius * s[j]))
            n += 1
    order = np.argsort(t[:n])
    return wall[order], t[order]


@njit(cache=True, nogil=True, error_model="numpy")
def weigh(wall, t, s, penalty):
    """Return the cumulative posterior of the pieces of [0, pi] between the walls.

    Passing a wall adds an error if s > 0, and removes one otherwise. penalty[n] is the weight
    of n errors more than the smallest number.
    """
    n = t.shape[0]
    errors = np.zeros(n + 1, np.int64)
    for k in range(n):
        errors[k + 1] = errors[k] + (1 if s[wall[k]] > 0 else -1)
    errors -= errors.min()
    mass = np.empty(n + 1)
    total, begin = 0.0, 0.0
    for k in range(n + 1):
        end = t[k] if k < n else math.pi
        total += penalty[errors[k]] * (end - begin)
        mass[k] = total
        begin = end
    return mass


@njit(cache=True, nogil=True, error_model="numpy")
def sweep(columns, w, d, penalty, n_sweeps, rng):
    """Draw every coordinate of w anew, n_sweeps times; w and its margins d change in place.

    columns[k] are the margins of the k-th unit vector. Returns the sum of the unit
    hypotheses after each sweep, and hits. If errors are forbidden, hits count the walls
    around the chosen pieces, otherwise the errors after each sweep.
    """
    rank, m = columns.shape
    hard = penalty[1] == 0.0
    total = np.zeros(rank)
    hits = np.zeros(m, np.int64)
    for _ in range(n_sweeps):
        square = 0.0
        for k in range(rank):
            # With a second normal number there is a circle, on which the prior is uniform.
            s = columns[k]
            radius = math.hypot(w[k], rng.standard_normal())
            wall, t = cross(w[k], radius, s, d)
            mass = weigh(wall, t, s, penalty)
            n = t.shape[0]
            x = mass[n] * rng.random()
            c = np.searchsorted(mass, x, side="right")
            begin, end = t[c - 1] if c > 0 else 0.0, t[c] if c < n else math.pi
            before = mass[c - 1] if c > 0 else 0.0
            angle = begin + (end - begin) * (x - before) / (mass[c] - before)
            step = radius * math.cos(angle) - w[k]
            w[k] += step
            for j in range(m):
                d[j] += step * s[j]
            square += w[k] * w[k]
            if hard and c > 0:
                hits[wall[c - 1]] += 1
            if hard and c < n:
                hits[wall[c]] += 1
        length = math.sqrt(square)
        for k in range(rank):
            total[k] += w[k] / length
        if not hard:
            for j in range(m):
                hits[j] += d[j] <= 0
    return total, hits
