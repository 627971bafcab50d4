"""Simulation-based calibration (Talts et al., 2018) of every solver.

Draw a hypothesis from the prior and labels from the likelihood, then solve. The
hypothesis is then one more draw from the posterior: for any function of hypothesis and
data, its rank among the solver's draws is uniform.
"""

import numpy as np
import pytest
from scipy import linalg, stats
from sklearn.base import BaseEstimator

from bayespoint.geometry.gram import unit_gram
from bayespoint.geometry.version_space import VersionSpace
from bayespoint.solvers import EP, Billiard, Gibbs

N_POINTS, N_DIMENSIONS = 12, 4
N_DRAWS, N_BINS = 19, 10
# With a new seed, uniform ranks fail by chance with this probability.
SIGNIFICANCE = 1e-4

# One draw from each of 19 independent chains, after 64 samples.
GIBBS = Gibbs(n_samples=64 * N_DRAWS, n_chains=N_DRAWS, n_draws=N_DRAWS, tol=0)
# One draw from each of 19 balls, after 1500 bounces.
BILLIARD = Billiard(n_bounces=1_500 * N_DRAWS, n_chains=N_DRAWS, n_draws=N_DRAWS, tol=0)
GAUSSIAN = EP(n_draws=N_DRAWS)

HARD, SOFT, FLIP, BOTH = (0.0, 0.0), (0.3, 0.0), (0.0, 0.15), (0.3, 0.15)  # softness, noise


def unit_points(n, rng):
    X = rng.standard_normal((n, N_DIMENSIONS))
    return X / np.linalg.norm(X, axis=1, keepdims=True)


def ranks_of_one_truth(solver, softness, label_noise, rng):
    """Return the ranks of a true hypothesis among draws from its posterior.

    Add one dimension of feature space for each training point. Then the noise on the outputs
    is part of the hypothesis: the points become (x_i, sqrt(softness) e_i). Scaled to unit
    length, they are the rows of the factor in a basis of their span.
    """
    X, (x,) = unit_points(N_POINTS, rng), unit_points(1, rng)
    w = rng.standard_normal(N_DIMENSIONS)
    outputs = X @ w + np.sqrt(softness) * rng.standard_normal(N_POINTS)
    flipped = rng.random(N_POINTS) < label_noise
    y = np.where((outputs > 0) != flipped, 1.0, -1.0)

    space = VersionSpace(unit_gram(X @ X.T, softness), y, label_noise=label_noise)
    posterior = solver.solve(space, rng)
    assert posterior.draws.shape == (N_DRAWS, N_POINTS)
    factor, rank = space.gram.factor, space.gram.rank
    draws = space.combine(posterior.draws)
    truth = linalg.lstsq(factor, outputs / np.sqrt(1 + softness))[0]
    truth /= np.linalg.norm(truth)

    # The output at x has two parts. Inside the span, the length of a Gaussian hypothesis is
    # independent of its direction; outside, the posterior equals the prior.
    inside = linalg.lstsq(factor, X @ x / np.sqrt(1 + softness))[0]
    lengths = stats.chi.rvs(rank, size=N_DRAWS, random_state=rng)
    outside = np.sqrt(max(1 - inside @ inside, 0)) * rng.standard_normal(N_DRAWS)
    # Two functions that depend on the data, as the likelihood does: margins, and errors with
    # ties broken at random.
    jitter = rng.random(N_DRAWS + 1)
    both = space.margins(np.vstack([truth, draws]))
    errors = np.sum(both <= 0, axis=1) + jitter
    sums = both.sum(axis=1)
    return {
        "output": np.sum(lengths * (draws @ inside) + outside < w @ x),
        "margins": np.sum(sums[1:] < sums[0]),
        "errors": np.sum(errors[1:] < errors[0]),
    }


def calibration(solver, case, n, seed=0):
    """Return p-values of uniform ranks, one per function."""
    rng = np.random.default_rng(seed)
    ranks = [ranks_of_one_truth(solver, *case, rng) for _ in range(n)]
    p_values = {}
    for name in ranks[0]:
        counts = np.bincount([r[name] for r in ranks], minlength=N_DRAWS + 1)
        p_values[name] = stats.chisquare(counts.reshape(N_BINS, -1).sum(axis=1)).pvalue
    return p_values


@pytest.mark.parametrize("case", [HARD, SOFT, FLIP, BOTH], ids=["hard", "soft", "flip", "both"])
def test_gibbs_is_calibrated(case):
    p_values = calibration(GIBBS, case, n=100)
    assert min(p_values.values()) > SIGNIFICANCE, p_values


@pytest.mark.parametrize("case", [HARD, SOFT, FLIP, BOTH], ids=["hard", "soft", "flip", "both"])
def test_billiard_is_calibrated(case):
    p_values = calibration(BILLIARD, case, n=100)
    assert min(p_values.values()) > SIGNIFICANCE, p_values


@pytest.mark.parametrize("case", [HARD, SOFT, FLIP, BOTH], ids=["hard", "soft", "flip", "both"])
def test_ep_is_calibrated_at_new_points(case):
    # The Gaussian is approximate, and its draws cross walls. But its predictions at a new
    # point are calibrated, as far as 1000 problems can show.
    p_values = calibration(GAUSSIAN, case, n=100)
    assert p_values["output"] > SIGNIFICANCE, p_values
    assert p_values["errors"] < SIGNIFICANCE, p_values


@pytest.mark.slow
@pytest.mark.parametrize("case", [HARD, SOFT, FLIP, BOTH], ids=["hard", "soft", "flip", "both"])
def test_ep_is_calibrated_at_length(case):
    assert calibration(GAUSSIAN, case, n=300, seed=1)["output"] > SIGNIFICANCE


@pytest.mark.slow
@pytest.mark.parametrize(
    ("solver", "case"),
    [(solver, case) for solver in (GIBBS, BILLIARD) for case in (HARD, SOFT, FLIP, BOTH)],
    ids=str,
)
def test_calibrated_at_length(solver, case):
    p_values = calibration(solver, case, n=300, seed=1)
    assert min(p_values.values()) > SIGNIFICANCE, p_values


class WrongNoise(BaseEstimator):
    """Assume a label noise that differs from the true one."""

    def __init__(self, label_noise):
        self.label_noise = label_noise

    def solve(self, space, rng):
        return GIBBS.solve(space._replace(label_noise=self.label_noise), rng)


class Spread(BaseEstimator):
    """Return draws that differ too much, or too little, from their mean."""

    def __init__(self, factor):
        self.factor = factor

    def solve(self, space, rng):
        posterior = GIBBS.solve(space, rng)
        draws = space.combine(posterior.draws)
        mean = draws.mean(axis=0)
        draws = mean + self.factor * (draws - mean)
        draws /= np.linalg.norm(draws, axis=1, keepdims=True)
        return posterior._replace(draws=space.dual(draws))


@pytest.mark.parametrize(
    ("solver", "case", "noticed_by"),
    [
        (WrongNoise(0.03), FLIP, "errors"),
        (WrongNoise(0.35), FLIP, "margins"),
        pytest.param(WrongNoise(0.03), BOTH, "margins", marks=pytest.mark.slow),
        (Spread(3.0), FLIP, "margins"),
        pytest.param(Spread(0.1), FLIP, "output", marks=pytest.mark.slow),
        pytest.param(Spread(0.1), SOFT, "margins", marks=pytest.mark.slow),
    ],
    ids=str,
)
def test_broken_solvers_are_not(solver, case, noticed_by):
    assert calibration(solver, case, n=100)[noticed_by] < SIGNIFICANCE
