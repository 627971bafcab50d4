"""The light trap (002, sec. 18.5.2): mirrors that let light in and never out."""

import math

from .compiler import njit

# As in the billiard.
SMALLEST_MARGIN = 1e-100


@njit(cache=True, nogil=True, error_model="numpy")
def shine(gram, factor, y, b, v, d, u, n_bounces):
    """Follow a ray until every wall was passed; b, v, d and u move along.

    The ray passes a wall from its wrong side (d_i < 0, then one error less) and is reflected
    on its right side. Returns the number of bounces, at most n_bounces.
    """
    m = d.shape[0]
    n_wrong = 0
    for j in range(m):
        if d[j] <= 0.0:
            n_wrong += 1
            d[j] = min(d[j], -SMALLEST_MARGIN)
    for bounce in range(n_bounces):
        if n_wrong == 0:
            return bounce
        c = 0
        for j in range(1, m):
            if u[j] / d[j] < u[c] / d[c]:
                c = j
        cot = -u[c] / d[c]
        sin = 1.0 / math.sqrt(1.0 + cot * cot)
        cos = cot * sin
        passes = d[c] < 0.0
        push = 0.0 if passes else -2.0 * y[c] * (u[c] * cos - d[c] * sin)
        for i in range(b.shape[0]):
            b_i = b[i] * cos + v[i] * sin
            v[i] = v[i] * cos - b[i] * sin + push * factor[c, i]
            b[i] = b_i
        row = gram[c]
        for j in range(m):
            d_j = d[j] * cos + u[j] * sin
            u[j] = u[j] * cos - d[j] * sin + push * y[j] * row[j]
            # Rounding must not carry a ball through a mirror, in either direction.
            d[j] = min(d_j, -SMALLEST_MARGIN) if d[j] < 0.0 else max(d_j, SMALLEST_MARGIN)
        if passes:
            d[c] = SMALLEST_MARGIN
            n_wrong -= 1
    return n_bounces
