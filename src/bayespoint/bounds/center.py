"""How far the center of mass can be from the Bayes point."""

from __future__ import annotations

import math

from ._checks import share

# Where arccos(x) / pi - (1 - x) / 2 is largest.
_WORST_COSINE = math.sqrt(1 - 4 / math.pi**2)


def kappa(epsilon: float) -> float:
    """Return how much worse the center of mass can be than the Bayes point.

    Parameters
    ----------
    epsilon : float
        Smallest absolute value of the cosine between the center of mass and a hypothesis of
        the posterior, between 0 and 1.

    Returns
    -------
    float
        Upper limit of the difference of their errors, on average over hypotheses, where
        the points are spherically Gaussian in feature space. It is 0.105 up to epsilon =
        0.771, and falls to 0 from there on.

    Notes
    -----
    Two hypotheses with cosine x differ on arccos(x) / pi of the points. The center of mass
    minimizes a proxy, (1 - x) / 2. kappa is the largest difference between the two for
    |x| >= epsilon (000, lemma 14). 000 has the formula for epsilon < 0.23 and the constant
    otherwise, which would not fall to 0; 0.23 is 1 - 0.771.

    The difference of errors is at most kappa (theorem 10) if all hypotheses are within a
    right angle of the Bayes point, which epsilon > 0.708 ensures (Afsari 2011). Otherwise
    it is at most 2 kappa, and can indeed be larger than kappa: for a hypothesis with
    probability 0.4095 and two with 0.29525 at angles of +-134 degrees it is 0.121.

    References
    ----------
    Herbrich, Graepel, Campbell (2001), Bayes Point Machines, JMLR 1, theorem 10.
    Afsari (2011), Riemannian L^p center of mass, Proceedings of the AMS 139.

    Examples
    --------
    >>> from bayespoint.bounds import kappa
    >>> [round(kappa(e), 3) for e in (0.0, 0.5, 0.9, 0.99)]
    [0.105, 0.105, 0.094, 0.04]
    """
    share("epsilon", epsilon)
    x = max(epsilon, _WORST_COSINE)
    return math.acos(x) / math.pi - (1 - x) / 2
