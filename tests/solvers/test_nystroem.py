"""The solver for landmarks: its draws, its report, and its parameters."""

import numpy as np
import pytest

from bayespoint.solvers import EP, Nystroem
from bayespoint.solvers.propagation.on_features import propagate
from ep_problems import feature_problem


def test_draws_are_those_of_the_gaussian():
    features, signs, noise = feature_problem(100, 4)
    solver = Nystroem(n_draws=20_000, tol=1e-8)
    posterior = solver.solve(features, signs, noise, np.random.default_rng(0))
    np.testing.assert_allclose(np.linalg.norm(posterior.draws, axis=1), 1)
    found = propagate(features, signs, noise, tol=1e-8)
    direct = np.random.default_rng(1).multivariate_normal(
        found.mean, found.root @ found.root.T, 20_000
    )
    direct /= np.linalg.norm(direct, axis=1)[:, None]
    # Two means of 20,000 draws with deviations of at most one; allow five standard errors.
    gap = np.abs(posterior.draws.mean(axis=0) - direct.mean(axis=0)).max()
    assert gap < 5 * np.sqrt(2 / 20_000)


def test_diagnostics_are_those_of_ep():
    features, signs, noise = feature_problem(40, 4)
    info = Nystroem().solve(features, signs, noise, np.random.default_rng(0)).info
    assert {"angle", "ess", "mixed", "n_iter", "residual", "log_evidence", "hits"} <= info.keys()
    assert info["stop"] == "tol"
    late = Nystroem().solve(features, signs, noise, np.random.default_rng(0), deadline=0.0)
    assert late.info["stop"] == "max_time"
    assert Nystroem(max_iter=1).solve(features, signs, noise, np.random.default_rng(0)).info[
        "stop"
    ] == ("max_iter")
    assert EP().n_draws == Nystroem().n_draws


@pytest.mark.parametrize(
    "parameter", [{"n_landmarks": 0}, {"max_iter": 0}, {"tol": -1}, {"n_draws": 1}], ids=str
)
def test_parameters_are_checked(parameter):
    with pytest.raises(ValueError, match=next(iter(parameter))):
        Nystroem(**parameter).solve(*feature_problem(10, 2), np.random.default_rng(0))
