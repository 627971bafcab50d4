"""The onion (002, sec. 18.5.3): arcs of a billiard that continue behind the walls."""

import math

from .compiler import njit

# As in the billiard: if rounding leaves the ball on the wrong side of a wall that it is leaving, it
# then meets this wall at once instead of escaping.
SMALLEST_MARGIN = 1e-100


# Margins are clamped, so no NaN arises; infinities stay as they are.
compiled = njit(
    cache=True,
    nogil=True,
    error_model="numpy",
    fastmath={"nnan", "nsz", "contract", "reassoc"},
)


@compiled
def sort_walls(d, u, first, wall):
    """Put the first walls, sorted by slope, into first (slopes) and wall (their numbers).

    The wall of slope u_j / d_j is met at cot t_j = -u_j / d_j.
    """
    depth = first.shape[0]
    n = 0
    for j in range(d.shape[0]):
        slope = u[j] / d[j]
        if n == depth and slope >= first[n - 1]:
            continue
        n = min(n + 1, depth)
        i = n - 1
        while i > 0 and first[i - 1] > slope:
            first[i] = first[i - 1]
            wall[i] = wall[i - 1]
            i -= 1
        first[i] = slope
        wall[i] = j


@compiled
def add_pieces(y, b, v, first, wall, max_errors, integral, time):
    """Add the pieces of an arc to the sums of their cells.

    All margins are positive after b and negative before -b: on the half circle between them
    every wall is crossed once, and each crossing adds one error.
    """
    n_minus, n_plus = 0, 0
    t, sin, cos = 0.0, 0.0, 1.0
    for i in range(first.shape[0]):
        sin_next = 1.0 / math.sqrt(1.0 + first[i] * first[i])
        cos_next = -first[i] * sin_next
        t_next = math.atan2(sin_next, cos_next)
        along_b, along_v = sin_next - sin, cos - cos_next
        for k in range(b.shape[0]):
            integral[n_minus, n_plus, k] += along_b * b[k] + along_v * v[k]
        time[n_minus, n_plus] += t_next - t
        t, sin, cos = t_next, sin_next, cos_next
        if y[wall[i]] < 0:
            n_minus += 1
        else:
            n_plus += 1
        if n_minus > max_errors or n_plus > max_errors:
            break


@compiled
def move_to_wall(slope, b, v, d, u):
    """Move the ball, with its margins, to the wall with this slope."""
    sin = 1.0 / math.sqrt(1.0 + slope * slope)
    cos = -slope * sin
    for j in range(d.shape[0]):
        d_j = d[j] * cos + u[j] * sin
        u[j] = u[j] * cos - d[j] * sin
        d[j] = max(d_j, SMALLEST_MARGIN)
    for k in range(b.shape[0]):
        b_k = b[k] * cos + v[k] * sin
        v[k] = v[k] * cos - b[k] * sin
        b[k] = b_k


@compiled
def reflect(gram, factor, y, c, v, u):
    """Reflect at wall c: v' = v - 2 <v, z_c> z_c."""
    push = -2.0 * u[c] * y[c]
    for k in range(v.shape[0]):
        v[k] += push * factor[c, k]
    row = gram[c]
    for j in range(u.shape[0]):
        u[j] += push * y[j] * row[j]


@compiled
def scatter_at(factor, y, c, rng, b, v, u, g):
    """Scatter at wall c by the cosine law: v' = (r z_c + g - <g, b> b - <g, z_c> z_c) / norm."""
    rank = b.shape[0]
    g_b, g_z = 0.0, 0.0
    for k in range(rank):
        g[k] = rng.standard_normal()
        g_b += g[k] * b[k]
        g_z += g[k] * factor[c, k] * y[c]
    r = math.sqrt(-2.0 * math.log(1.0 - rng.random()))
    square = 0.0
    for k in range(rank):
        v[k] = g[k] - g_b * b[k] + (r - g_z) * y[c] * factor[c, k]
        square += v[k] * v[k]
    norm = math.sqrt(square)
    for k in range(rank):
        v[k] /= norm
    for j in range(u.shape[0]):
        dot = 0.0
        for k in range(rank):
            dot += factor[j, k] * v[k]
        u[j] = dot * y[j]


@compiled
def peel(
    gram, factor, y, b, v, d, u, n_bounces, scatter, rng,
    max_errors, first, wall, g, integral, time,
):  # fmt: skip
    """Bounce n_bounces times, and follow every arc through the cells outside.

    b, v, d and u move along. Adds to integral[i, j] the integral of the position over the
    pieces with i errors on negative points and j on positive ones, and to time[i, j] their
    lengths. first, wall and g are work space; first and wall have an entry for each wall, or
    2 max_errors + 1 entries: one more crossing than any cell needs.
    """
    for _ in range(n_bounces):
        sort_walls(d, u, first, wall)
        add_pieces(y, b, v, first, wall, max_errors, integral, time)
        # The ball itself stays inside.
        move_to_wall(first[0], b, v, d, u)
        if rng.random() * scatter >= 1.0:
            reflect(gram, factor, y, wall[0], v, u)
        else:
            scatter_at(factor, y, wall[0], rng, b, v, u, g)
