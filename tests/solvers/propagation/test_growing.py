"""EP that gains and loses points settles at the fixed point of EP from the beginning."""

import numpy as np
import pytest

from bayespoint.solvers.propagation import growing
from bayespoint.solvers.propagation.growing import GrowingPropagation
from bayespoint.solvers.propagation.on_gram import propagate
from bayespoint.solvers.propagation.sites import Copies

TOL = 1e-9
LIMITS = {"max_iter": 500, "tol": TOL, "damping": 0.9}
FIELDS = ("coef", "cavity_mean", "cavity_variance", "log_evidence")


def problem(weights=False, seed=0, n=40, softness=0.2):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 2))
    distance = ((X[:, None] - X) ** 2).sum(axis=2)
    weight = rng.uniform(0.3, 3, n) if weights else np.ones(n)
    share = softness / (1 + softness)
    matrix = np.exp(-distance) / (1 + softness)
    np.fill_diagonal(matrix, 1 + share * (1 / weight - 1))
    signs = np.where(X[:, 0] + 0.5 * rng.standard_normal(n) > 0, 1, -1)
    return matrix, signs, Copies(weight, np.full(n, share))


def part(given, rows):
    matrix, signs, copies = given
    return matrix[np.ix_(rows, rows)], signs[rows], Copies(copies.weight[rows], copies.noise[rows])


def follow(given, label_noise, seed=0):
    """Learn points, forget some, and learn some again; return the object and its points."""
    rng = np.random.default_rng(seed)
    rows, spare = list(range(15)), list(range(15, 40))
    matrix, signs, copies = part(given, rows)
    outputs = GrowingPropagation(matrix, signs, label_noise, copies, LIMITS)
    for step in range(30):
        if step % 3 < 2:
            rows.append(spare.pop(0))
            outputs.add(*part(given, rows))
        else:
            gone = int(rng.integers(len(rows)))
            spare.append(rows.pop(gone))
            outputs.remove(np.array([gone]), *part(given, rows))
    return outputs, rows


@pytest.mark.parametrize("weights", [False, True])
@pytest.mark.parametrize("label_noise", [0.0, 0.1])
def test_the_fixed_point_is_that_of_all_points_at_once(weights, label_noise):
    given = problem(weights)
    outputs, rows = follow(given, label_noise)
    matrix, signs, copies = part(given, rows)
    fresh = propagate(matrix, signs, label_noise, copies=copies, **LIMITS)
    assert outputs.found.residual <= TOL
    for name in FIELDS:
        # Both match moments to TOL; the fixed point moves by a moderate multiple of it.
        np.testing.assert_allclose(
            getattr(outputs.found, name), getattr(fresh, name), atol=1e4 * TOL
        )


def test_a_part_of_the_sites_is_updated(monkeypatch):
    """Without beginning anew after every point: otherwise it would take O(m^3)."""
    calls = []
    monkeypatch.setattr(growing, "propagate", lambda *a, **k: calls.append(1) or propagate(*a, **k))
    given = problem()
    monkeypatch.setitem(LIMITS, "tol", 1e-2)
    follow(given, 0.0)
    assert len(calls) < 15  # of 31


def test_a_broken_covariance_is_noticed(monkeypatch):
    given = problem()
    outputs, rows = follow(given, 0.0)
    matrix, signs, copies = part(given, rows)
    outputs._covariance.values[0, 1] += 1e-3
    monkeypatch.setattr(growing, "UPDATES_BETWEEN_CHECKS", 1)
    assert outputs._is_worn(matrix)
    outputs._settle(matrix, signs, copies)
    assert not outputs._is_worn(matrix)


def error_of_the_covariance():
    """Return how far the covariance is from (K^-1 + S)^-1 after a point came and one went."""
    given = problem()
    matrix, signs, copies = part(given, range(15))
    outputs = GrowingPropagation(matrix, signs, 0.0, copies, LIMITS)
    outputs._limits = {**LIMITS, "tol": 100.0}  # leave the sites as they are
    outputs.add(*part(given, range(16)))
    rows = np.delete(np.arange(16), 3)
    outputs.remove(np.array([3]), *part(given, rows))
    matrix = part(given, rows)[0]
    law = np.linalg.inv(np.linalg.inv(matrix) + np.diag(outputs._precision))
    return np.abs(outputs._covariance.values - law).max()


def test_the_covariance_is_that_of_the_sites():
    assert error_of_the_covariance() < 1e-12  # 15 well-conditioned points


def test_a_wrong_update_of_the_covariance_breaks_the_law(monkeypatch):
    right = GrowingPropagation._change
    monkeypatch.setattr(
        GrowingPropagation, "_change", lambda self, rows, changes: right(self, rows, 0.9 * changes)
    )
    assert error_of_the_covariance() > 1e-3
