import numpy as np
import pytest
from scipy import special

from bayespoint._jit import largest
from bayespoint.solvers.weights.multiclass.probabilities import (
    PANEL_NODES,
    decisions,
    log_probabilities,
    probabilities,
)
from multiclass_helpers import KINDS, fit


def rule(n_nodes=PANEL_NODES):
    nodes, weights = np.polynomial.legendre.leggauss(n_nodes)
    return (nodes + 1) / 2, weights / 2


def test_decisions_differ_where_probabilities_saturate():
    mean = np.array([[0.0, -1.0, 1.0], [0.0, 0.0, 0.0], [-30.0, 0, 30], [-300, 0.0, 300]])
    S = np.tile(np.eye(3) - 1 / 3, (4, 1, 1))
    log_p = largest.log_probabilities(mean, S, 1.0, *rule())
    p, decision = probabilities(log_p), decisions(log_p)
    np.testing.assert_allclose(special.ndtr(decision[0]), p[0], atol=1e-12)
    np.testing.assert_allclose(p[1], 1 / 3, atol=1e-9)
    # Decision values still differ where probabilities round to 0 or 1.
    assert decision[3, 2] > decision[2, 2] > 10
    np.testing.assert_allclose(decision[3, 1], -300 / 2, rtol=1e-6)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("noise", [1.0, 1e-6, 0.0])
def test_whatever_comes_probabilities_are_finite(kind, noise):
    rng = np.random.default_rng(0)
    X = np.repeat(rng.standard_normal((12, 2)), 3, axis=0) @ [[1, 1, 0, 1], [0, 0, 0, 1e-9]]
    X[5] = 0
    y = np.tile([0, 1, 3], 12)  # contradictions, collinear features, and a class without rows
    found = fit(kind, X, y, 4, noise=noise, max_iter=30, tol=1e-3)
    assert np.isfinite(found.log_evidence)
    far = np.concatenate([X, 1e6 * X, 1e-200 * X, 0 * X])
    log_p = log_probabilities(far, found.belief, 4, noise)
    p, decision = probabilities(log_p), decisions(log_p)
    assert np.isfinite(decision).all()
    assert p.min() > 0
    assert p.max() < 1
    np.testing.assert_allclose(p.sum(axis=1), 1, atol=1e-12)
    np.testing.assert_array_equal(p.argmax(axis=1), decision.argmax(axis=1))
