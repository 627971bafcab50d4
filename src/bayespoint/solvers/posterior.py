"""What every solver returns: a sampled or approximated posterior."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import special


class Posterior(NamedTuple):
    """The mean of the hypotheses in version space, draws of them, and what is known.

    `coef` are the coefficients of the mean hypothesis on the signed unit constraints:
    w = sum_i coef_i z_i, where |w| <= 1 is the mean resultant length of the unit
    hypotheses. `draws` are the coefficients of single unit hypotheses, one a row: those
    of `draw_chains` chains, equally many of each, one chain after the other.
    `chains` are the coefficients of the means of independent parts of the sample, one a
    row: their spread is the sampling error.
    `info` holds numbers and arrays for people (see `bayespoint.diagnostics`).
    """

    coef: np.ndarray
    draws: np.ndarray
    chains: np.ndarray
    info: dict[str, Any]
    draw_chains: int = 1


def gather(chains: list[np.ndarray], n_draws: int) -> tuple[np.ndarray, int]:
    """Return n_draws of the latest draws of all chains, fewer if need be.

    And of how many chains they are, one if there are not equally many of each.
    """
    each, rest = divmod(n_draws, len(chains))
    if rest == 0 and min(len(chain) for chain in chains) >= each:
        return np.concatenate([chain[len(chain) - each :] for chain in chains]), len(chains)
    drawn = np.concatenate(chains)
    chosen = np.linspace(0, len(drawn) - 1, min(len(drawn), n_draws)).astype(int)
    return drawn[chosen], 1


def mean_length(rank: int) -> float:
    """Return the mean length of w ~ N(0, I) in so many dimensions.

    The posterior of the length is the prior: it says nothing about the labels. So the
    mean of w is this times the mean of its direction.
    """
    return float(np.sqrt(2) * np.exp(special.gammaln((rank + 1) / 2) - special.gammaln(rank / 2)))
