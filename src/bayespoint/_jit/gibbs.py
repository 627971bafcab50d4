"""The Gibbs sampler: one coordinate of a hypothesis at a time, given all others."""

import math

import numpy as np

from .compiler import njit

# Up to this many walls, insertion sort is faster than argsort, which allocates memory.
MAX_INSERTION_SORT = 64


@njit(cache=True, nogil=True, error_model="numpy")
def cross(here, radius, s, d, words, wall, t):
    """Find the walls that radius cos t meets for t in [0, pi]; return their number n.

    d are the margins at here, and s their derivatives by the coordinate. The first n
    entries of wall and t become the walls and the values of t, in order. words are memory
    for one byte per wall, in words of eight bytes.
    """
    # Few walls are met. The first loop has no branches, so that it takes vector instructions.
    met = words.view(np.bool_)
    for j in range(d.shape[0]):
        met[j] = abs(d[j] - here * s[j]) < radius * abs(s[j])
    n = 0
    for i in range(words.shape[0]):
        if words[i] == 0:
            continue
        for j in range(8 * i, 8 * i + 8):
            if met[j]:
                wall[n] = j
                t[n] = math.acos((here - d[j] / s[j]) / radius)
                n += 1
    if n > MAX_INSERTION_SORT:
        order = np.argsort(t[:n])
        wall[:n], t[:n] = wall[:n][order], t[:n][order]
        return n
    for i in range(1, n):
        j, time, k = wall[i], t[i], i
        while k > 0 and t[k - 1] > time:
            wall[k], t[k] = wall[k - 1], t[k - 1]
            k -= 1
        wall[k], t[k] = j, time
    return n


@njit(cache=True, nogil=True, error_model="numpy")
def weigh(n, wall, t, s, penalty, mass):
    """Compute the cumulative posterior of the n + 1 pieces of [0, pi] between n walls.

    Passing a wall adds an error if s > 0, and removes one otherwise. penalty[n] is the weight
    of n errors more than the smallest number. Returns the mean of cos t.
    """
    errors = mass  # of each piece, relative to the first; then replaced one by one
    errors[0], fewest = 0.0, 0.0
    for k in range(n):
        errors[k + 1] = errors[k] + (1.0 if s[wall[k]] > 0 else -1.0)
        fewest = min(fewest, errors[k + 1])
    total, mean, begin, sine = 0.0, 0.0, 0.0, 0.0
    for k in range(n + 1):
        end = t[k] if k < n else math.pi
        end_sine, weight = math.sin(end), penalty[int(errors[k] - fewest)]
        total += weight * (end - begin)
        mean += weight * (end_sine - sine)
        mass[k] = total
        begin, sine = end, end_sine
    return mean / total


@njit(cache=True, nogil=True, error_model="numpy")
def draw_margins(inverse, d, coef, penalty, rng):
    """Draw every margin d[i] anew, given all others; coef = inverse @ d changes along.

    inverse is the inverse of the matrix of inner products of the walls, so the prior of d[i]
    given the others is normal with variance 1 / inverse[i, i]. Only one wall is met.
    """
    for i in range(d.shape[0]):
        deviation = 1.0 / math.sqrt(inverse[i, i])
        here, other = coef[i] * deviation, rng.standard_normal()
        radius = math.sqrt(here * here + other * other)
        x = rng.random()
        wall = (here - d[i] / deviation) / radius
        if abs(wall) >= 1.0:
            angle = math.pi * x
            if wall > 0 and penalty == 0.0:
                continue  # rounding has put the margin beyond its wall
        else:
            # There is an error beyond t.
            t = math.acos(wall)
            angle = x * (t + penalty * (math.pi - t))
            if angle > t:
                angle = t + (angle - t) / penalty
        step = deviation * (math.cos(angle) * radius - here)
        d[i] += step
        row = inverse[i]
        for j in range(d.shape[0]):
            coef[j] += step * row[j]


@njit(cache=True, nogil=True, error_model="numpy")
def sweep(columns, inverse, w, d, penalty, n_sweeps, rng):
    """Draw all margins, then all coordinates of w anew, n_sweeps times; w and d are changed.

    columns[k] are the margins of the k-th unit vector; inverse is as in `draw_margins`, or
    empty if margins depend on each other, and then they are not drawn. Returns sums over all
    sweeps: the mean of each coordinate, given the others; the unit hypotheses; and hits. If
    errors are forbidden, hits count the walls around the chosen pieces, otherwise the errors
    after each sweep.
    """
    rank, m = columns.shape
    hard = penalty[1] == 0.0
    means, units, hits = np.zeros(rank), np.zeros(rank), np.zeros(m, np.int64)
    words = np.zeros((m + 7) // 8, np.uint64)
    wall, t, mass = np.empty(m, np.int64), np.empty(m), np.empty(m + 1)
    for _ in range(n_sweeps):
        if inverse.size > 0:
            coef = inverse @ d
            draw_margins(inverse, d, coef, penalty[1], rng)
            w[:] = columns @ coef
        for k in range(rank):
            # With a second normal number there is a circle, on which the prior is uniform.
            s, other = columns[k], rng.standard_normal()
            radius = math.sqrt(w[k] * w[k] + other * other)
            n = cross(w[k], radius, s, d, words, wall, t)
            means[k] += radius * weigh(n, wall, t, s, penalty, mass)
            x = mass[n] * rng.random()
            c = 0
            while mass[c] <= x and c < n:
                c += 1
            begin, end = t[c - 1] if c > 0 else 0.0, t[c] if c < n else math.pi
            before = mass[c - 1] if c > 0 else 0.0
            angle = begin + (end - begin) * (x - before) / (mass[c] - before)
            step = radius * math.cos(angle) - w[k]
            w[k] += step
            for j in range(m):
                d[j] += step * s[j]
            if hard and c > 0:
                hits[wall[c - 1]] += 1
            if hard and c < n:
                hits[wall[c]] += 1
        length = math.sqrt(np.sum(w * w))
        for k in range(rank):
            units[k] += w[k] / length
        if not hard:
            for j in range(m):
                hits[j] += d[j] <= 0
    return means, units, hits
