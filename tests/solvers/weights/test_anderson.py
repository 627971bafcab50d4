"""Mixing sites of several sweeps must change the speed of convergence, not the result."""

import numpy as np
import pytest

from bayespoint.solvers.weights import anderson
from bayespoint.solvers.weights.anderson import MAX_MIXED_SWEEPS, SiteMemory
from bayespoint.solvers.weights.belief import Belief, independent, mixed
from bayespoint.solvers.weights.full_rows import FullRows
from bayespoint.solvers.weights.iterate import iterate
from bayespoint.solvers.weights.prior_scale import PriorScale
from bayespoint.solvers.weights.rows import Rows
from weights_helpers import full_rows, rare_categories


class Apart(Rows):
    """Rows in several parts that learn at the same time, independently of each other."""

    damping = FullRows.damping

    def __init__(self, X, y, n):
        self.parts = [full_rows(X[i::n], y[i::n]) for i in range(n)]

    @property
    def mixable_sweeps(self):
        return min(part.mixable_sweeps for part in self.parts)

    def sweep(self, belief, share):
        return mixed(np.ones(len(self.parts)), [p.sweep(belief, share) for p in self.parts])

    def mix(self, weights):
        for part in self.parts:
            part.mix(weights)

    def log_constant(self, belief):
        return sum(part.log_constant(belief) for part in self.parts)


@pytest.mark.parametrize(
    ("n_parts", "scaled"),
    [
        pytest.param(1, False, id="known prior"),
        pytest.param(4, True, id="prior by evidence, 4 parts"),
        pytest.param(1, True, id="prior by evidence", marks=pytest.mark.slow),
        pytest.param(4, False, id="known prior, 4 parts", marks=pytest.mark.slow),
    ],
)
def test_it_arrives_at_the_same_place_in_fewer_sweeps(monkeypatch, n_parts, scaled):
    X, y = rare_categories()
    prior = independent(np.ones(X.shape[1]), True)
    tol, fits = 1e-10, {}
    for n_mixed in 0, MAX_MIXED_SWEEPS:
        monkeypatch.setattr(anderson, "MAX_MIXED_SWEEPS", n_mixed)
        scale = PriorScale(np.ones(X.shape[1]), 1.0, 0.0, 1) if scaled else None
        fits[n_mixed] = iterate(Apart(X, y, n_parts), prior, 10_000, tol, scale=scale)
    alone, mixing = fits.values()
    assert alone.change <= tol
    assert mixing.change <= tol
    # The error left in a slow mode is the last step times rate / (1 - rate), below 1000 here.
    assert mixing.belief.distance(alone.belief) < 1000 * tol
    assert mixing.log_evidence == pytest.approx(alone.log_evidence, abs=1e-6)
    assert mixing.n_iter < 0.7 * alone.n_iter


def test_weights_of_a_mixture_cancel_the_moves_of_a_linear_map():
    # Linear sweeps x -> A x + b are solved as soon as the mixture holds one sweep more than
    # there are dimensions.
    rng = np.random.default_rng(3)
    d = 4
    A = rng.standard_normal((d, d)) / 4
    fixed = rng.standard_normal(d)

    class Linear(Rows):
        mixable_sweeps = d + 2

        def __init__(self):
            self.memory, self.x = SiteMemory(), np.zeros(d)

        def sweep(self, belief, share):
            self.x = fixed + A @ (self.x - fixed)
            return Belief(np.zeros((d, d)), self.x.copy())

        def mix(self, weights):
            state = [self.x]
            self.memory.mix(state, weights)

        def log_constant(self, belief):
            return 0.0

    prior = independent(np.ones(d), True)
    found = iterate(Linear(), prior, 1000, 1e-10, start=Belief(prior.precision, 0.1 * fixed))
    np.testing.assert_allclose(found.belief.mean(), fixed, atol=1e-9)
    # Two sweeps too far away to be mixed, d + 1 for d dimensions, and one to notice the end.
    assert found.n_iter <= d + 5


def test_memory_is_a_list_of_the_latest_states():
    rng = np.random.default_rng(0)
    memory, past = SiteMemory(), []
    n_weights = [
        1,
        2,
        3,
        4,
        1,
        1,
        2,
        3,
        2,
        3,
        *range(4, MAX_MIXED_SWEEPS + 1),
        MAX_MIXED_SWEEPS,
        MAX_MIXED_SWEEPS,
        MAX_MIXED_SWEEPS,
    ]
    for n in n_weights:
        state = [rng.standard_normal((2, 3)), rng.standard_normal(4)]
        past = [*past, [values.copy() for values in state]][-n:]
        weights = rng.standard_normal(n)
        memory.mix(state, weights)
        for k, values in enumerate(state):
            twin = sum(w * old[k] for w, old in zip(weights, past, strict=True))
            np.testing.assert_allclose(values, twin, rtol=1e-12, atol=1e-12)
