"""Errors of perceptrons that learn from a random perceptron, by statistical mechanics.

Examples are random and the dimension is large; alpha is the number of examples per dimension.
"""

from __future__ import annotations

import numpy as np
from scipy import integrate, optimize
from scipy.special import log_ndtr, ndtr

# Integrals stop here, in standard deviations, because the normal density is negligible beyond.
NORMAL_CUTOFF = 12.0
# Search for the overlap with the teacher between these values.
MIN_OVERLAP, MAX_OVERLAP = 1e-9, 1 - 1e-12


def bayes_error(alpha: float) -> float:
    """Return the error of the center of mass of version space.

    Two random members of version space have the overlap q, and so do a member and the
    teacher, which is itself a member. The center of mass then has the overlap sqrt(q) with
    the teacher. q solves q / sqrt(1 - q) = alpha / pi E[exp(-q x^2 / 2) / H(sqrt(q) x)], with
    x normal and H its upper tail (Opper and Haussler 1991).
    """

    def excess(q: float) -> float:
        def density(x):
            # exp(-x^2 / 2) exp(-q x^2 / 2) / H(sqrt(q) x), without overflow
            return np.exp(-(1 + q) * x**2 / 2 - log_ndtr(-np.sqrt(q) * x))

        mean = integrate.quad(density, -NORMAL_CUTOFF, 3 * NORMAL_CUTOFF, limit=200)[0] / np.sqrt(
            2 * np.pi
        )
        return q / np.sqrt(1 - q) - alpha / np.pi * mean

    q = optimize.brentq(excess, MIN_OVERLAP, MAX_OVERLAP)
    return float(np.arccos(np.sqrt(q)) / np.pi)


def largest_margin_error(alpha: float) -> float:
    """Return the error of the perceptron with the largest margin.

    Unit vectors with the overlap R with the teacher have margins R |g| + sqrt(1 - R^2) h,
    with g and h normal. They can reach the margin k if alpha E[(k - margin)_+^2] is at most
    1 - R^2 (Gordon's inequality, sharp here). The machine has the R with the largest k. The
    margins have a skew normal density.
    """

    def reachable(R: float) -> float:
        slope = R / np.sqrt(1 - R**2)

        def excess(k: float) -> float:
            def density(t):
                return (k - t) ** 2 * np.exp(-(t**2) / 2) * ndtr(slope * t)

            # Below zero the density falls off within one over the slope.
            middle = min(max(-NORMAL_CUTOFF / (1 + slope), -NORMAL_CUTOFF), k)
            parts = ((-NORMAL_CUTOFF, middle), (middle, k))
            total = sum(integrate.quad(density, *part, limit=200)[0] for part in parts)
            return alpha * total * np.sqrt(2 / np.pi) - (1 - R**2)

        return optimize.brentq(excess, -2 * NORMAL_CUTOFF / 3, NORMAL_CUTOFF)

    # Search over the angle, because R is close to one.
    found = optimize.minimize_scalar(
        lambda angle: -reachable(np.cos(angle)),
        bounds=(1e-4, np.pi / 2 - 1e-6),
        method="bounded",
        options={"xatol": 1e-7},
    )
    return float(found.x / np.pi)


def adaline_error(alpha: float) -> float:
    """Return the error of least squares, for more examples than dimensions.

    Along the teacher the coefficient is E|x| = sqrt(2 / pi); the rest of the labels has the
    variance 1 - 2 / pi. Like any noise it adds a random vector across, whose squared length
    is the variance over alpha - 1 (Opper, Kinzel, Kleinz and Nehl 1990 have its limit,
    0.24 / sqrt(alpha)).
    """
    return float(np.arctan(np.sqrt((np.pi / 2 - 1) / (alpha - 1))) / np.pi)
