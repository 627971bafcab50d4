"""Sites after several sweeps are mixed, which must change how fast a fit arrives, not where."""

import numpy as np
import pytest
from scipy import sparse

from bayespoint.solvers.weights import linear
from bayespoint.solvers.weights.linear import (
    MIXED,
    Belief,
    FullRows,
    Rows,
    Scale,
    _Memory,
    even_blocks,
    independent,
    iterate,
    mixed,
)


def rare_categories(n=3000, seed=0):
    """Return rows of which few have each category: sweeps alone are slow there."""
    rng = np.random.default_rng(seed)
    category = np.minimum(rng.geometric(0.25, n), 12) - 1
    X = np.column_stack([rng.standard_normal((n, 3)), np.eye(12)[category] * 20])
    wanted = X[:, 0] + rng.standard_normal(n) + np.where(category > 6, 5.0, 0.0)
    return X, np.where(wanted > 0, 1.0, -1.0)


def full_rows(X, y):
    return FullRows(X, y, np.ones(len(y)), 1.0, even_blocks(*X.shape))


class Apart(Rows):
    """Rows in several parts that learn at once, none of which knows of the others."""

    damping = FullRows.damping

    def __init__(self, X, y, n):
        self.parts = [full_rows(X[i::n], y[i::n]) for i in range(n)]

    @property
    def remembers(self):
        return min(part.remembers for part in self.parts)

    def sweep(self, belief, share):
        return mixed(np.ones(len(self.parts)), [p.sweep(belief, share) for p in self.parts])

    def mix(self, weights):
        for part in self.parts:
            part.mix(weights)

    def log_constant(self, belief):
        return sum(part.log_constant(belief) for part in self.parts)


@pytest.mark.parametrize("scaled", [False, True], ids=["known prior", "prior by evidence"])
@pytest.mark.parametrize("n_parts", [1, 4])
def test_it_arrives_at_the_same_place_in_fewer_sweeps(monkeypatch, n_parts, scaled):
    X, y = rare_categories()
    prior = independent(np.ones(X.shape[1]), True)
    tol, fits = 1e-10, {}
    for n_mixed in 0, MIXED:
        monkeypatch.setattr(linear, "MIXED", n_mixed)
        scale = Scale(np.ones(X.shape[1]), 1.0, 0.0, 1) if scaled else None
        fits[n_mixed] = iterate(Apart(X, y, n_parts), prior, 10_000, tol, scale=scale)
    alone, mixing = fits.values()
    assert alone.change <= tol
    assert mixing.change <= tol
    # What is left of a slow mode is the last step times rate / (1 - rate), below 1000 here.
    assert mixing.belief.distance(alone.belief) < 1000 * tol
    assert mixing.log_evidence == pytest.approx(alone.log_evidence, abs=1e-6)
    assert mixing.n_iter < 0.7 * alone.n_iter


def test_weights_of_a_mixture_cancel_the_moves_of_a_linear_map():
    # Sweeps that are linear, x -> A x + b, in as many dimensions as can be remembered less
    # one, have been solved when all are in the mixture.
    rng = np.random.default_rng(3)
    d = 4
    A = rng.standard_normal((d, d)) / 4
    fixed = rng.standard_normal(d)

    class Linear(Rows):
        remembers = d + 2

        def __init__(self):
            self.memory, self.x = _Memory(), np.zeros(d)

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
    # One that is too far to be remembered, d + 1 for as many dimensions, and one to see it.
    assert found.n_iter <= d + 4


def test_memory_is_a_list_of_the_latest_states():
    rng = np.random.default_rng(0)
    memory, past = _Memory(), []
    n_weights = [1, 2, 3, 4, 1, 1, 2, 3, 2, 3, *range(4, MIXED + 1), MIXED, MIXED, MIXED]
    for n in n_weights:
        state = [rng.standard_normal((2, 3)), rng.standard_normal(4)]
        past = [*past, [values.copy() for values in state]][-n:]
        weights = rng.standard_normal(n)
        memory.mix(state, weights)
        for k, values in enumerate(state):
            twin = sum(w * old[k] for w, old in zip(weights, past, strict=True))
            np.testing.assert_allclose(values, twin, rtol=1e-12, atol=1e-12)


def test_products_go_with_the_sites_that_are_mixed():
    X, y = rare_categories(500)
    rows, prior = full_rows(X, y), independent(np.ones(X.shape[1]), True)
    belief = prior
    for weights in [1.0], [0.3, 0.7], [0.5, -0.2, 0.7]:
        belief = prior.times(rows.sweep(belief, 0.9))
        rows.mix(np.array(weights))
        product = mixed(np.ones(len(rows.products)), rows.products)
        sites = np.concatenate([b.precision for b in rows.blocks])
        order = np.concatenate([np.arange(len(y))[b] for b in even_blocks(*X.shape)])
        # Extrapolated precisions are cut at zero, which these weights do not need.
        np.testing.assert_allclose(product.precision, (X[order].T * sites) @ X[order], rtol=1e-9)
        belief = prior.times(product)


def test_what_is_remembered_is_small_beside_the_rows():
    rng = np.random.default_rng(0)
    prior = independent(np.ones(40), True)
    for n, expected in (60, False), (20_000, True):
        X = rng.standard_normal((n, 40))
        rows = full_rows(X, np.sign(X[:, 0]))
        rows.sweep(prior, 1.0)
        assert (rows.remembers > 1) == expected
        state = sum(values.size for values in rows._state())
        assert rows.remembers * state <= linear.MEMORY * X.size
        # Sparse rows remember as much, so that both give the same.
        thin = full_rows(sparse.csr_array(X), np.sign(X[:, 0]))
        thin.sweep(prior, 1.0)
        assert thin.remembers == rows.remembers
    # Products of their blocks are large beside rows with few entries.
    few = sparse.random_array((20_000, 40), density=0.02, random_state=rng, format="csr")
    rows = full_rows(few, np.where(rng.random(20_000) > 0.5, 1.0, -1.0))
    rows.sweep(prior, 1.0)
    products = sum(product.precision.size for product in rows.products)
    assert rows.remembers * products <= few.nnz
