"""The result of every solver: a sampled or approximated posterior."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import special


class Posterior(NamedTuple):
    """The mean of the hypotheses in version space, draws, and information for users.

    `coef` are the coefficients of the mean hypothesis on the signed unit constraints:
    w = sum_i coef_i z_i, where |w| <= 1 is the mean resultant length of the unit
    hypotheses. `draws` are the coefficients of single unit hypotheses, one in each row. They
    come from `draw_chains` chains, one chain after the other, the same number from each.
    `chains` are the coefficients of the means of independent parts of the sample, one in
    each row: their spread is the sampling error.
    `info` holds numbers and arrays for users (see `bayespoint.diagnostics`).

    Examples
    --------
    >>> from bayespoint import BayesPointClassifier, solvers
    >>> class Mine:  # a solver of your own returns one
    ...     def solve(self, space, rng, **options):
    ...         found = solvers.EP().solve(space, rng, **options)
    ...         return solvers.Posterior(found.coef, found.draws, found.chains, found.info)
    >>> model = BayesPointClassifier("rbf", gamma=1.0, softness=0.1, solver=Mine())
    >>> model.fit([[0.0], [1.0]], ["no", "yes"]).predict([[2.0]])
    array(['yes'], dtype='<U3')
    """

    coef: np.ndarray
    draws: np.ndarray
    chains: np.ndarray
    info: dict[str, Any]
    draw_chains: int = 1


def info_without_error(n_walls: int) -> dict[str, Any]:
    """Return the info of a solver that does not know the error of its answer."""
    return {
        "angle": np.nan,
        "ess": np.nan,
        "r_hat": np.nan,
        "n_bounces": 0,
        "length": 0.0,
        "scatter": 0,
        "hits": np.zeros(n_walls, dtype=np.int64),
        "mixed": False,
        "stop": "done",
    }


def gather(chains: list[np.ndarray], n_draws: int) -> tuple[np.ndarray, int]:
    """Return the latest n_draws draws of all chains together, or fewer if there are not enough.

    Also returns the number of chains, or 1 if chains do not have the same number of draws.
    """
    each, rest = divmod(n_draws, len(chains))
    if rest == 0 and min(len(chain) for chain in chains) >= each:
        return np.concatenate([chain[len(chain) - each :] for chain in chains]), len(chains)
    drawn = np.concatenate(chains)
    chosen = np.linspace(0, len(drawn) - 1, min(len(drawn), n_draws)).astype(int)
    return drawn[chosen], 1


def stack_chains(chains: list[np.ndarray]) -> np.ndarray:
    """Return the chain means of several outputs in one array of shape (outputs, chains, m).

    Outputs that stopped at different times may have different numbers of chain means. Then
    neighboring means are averaged until every output has the smallest of these numbers, which
    preserves the estimate of the sampling error.
    """
    n_chains = min(len(means) for means in chains)
    return np.array([_merge(means, n_chains) for means in chains])


def _merge(means: np.ndarray, n: int) -> np.ndarray:
    """Average neighbors such that n means remain."""
    if len(means) == n:
        return means
    return np.array([part.mean(axis=0) for part in np.array_split(means, n)])


def mean_length(rank: float) -> float:
    """Return the mean length of w ~ N(0, I) in `rank` dimensions.

    The length does not influence the labels, so its posterior is the prior, and the mean of w
    is this length times the mean direction.
    """
    return float(np.sqrt(2) * np.exp(special.gammaln((rank + 1) / 2) - special.gammaln(rank / 2)))
