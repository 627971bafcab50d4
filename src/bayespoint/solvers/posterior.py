"""What every solver returns: a sampled or approximated posterior."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import special


class Posterior(NamedTuple):
    """The mean of the hypotheses in version space, draws of them, and what is known.

    `coef` are the coefficients of the mean hypothesis on the signed unit constraints:
    w = sum_i coef_i z_i, where |w| <= 1 is the mean resultant length of the unit
    hypotheses. `draws` are the coefficients of single unit hypotheses, one a row.
    `chains` are the coefficients of the means of independent parts of the sample, one a
    row: their spread is the sampling error.
    `info` holds numbers and arrays for people (see `bayespoint.diagnostics`).
    """

    coef: np.ndarray
    draws: np.ndarray
    chains: np.ndarray
    info: dict[str, Any]


def mean_length(rank: int) -> float:
    """Return the mean length of w ~ N(0, I) in so many dimensions.

    The posterior of the length is the prior: it says nothing about the labels. So the
    mean of w is this times the mean of its direction.
    """
    return float(np.sqrt(2) * np.exp(special.gammaln((rank + 1) / 2) - special.gammaln(rank / 2)))
