import numpy as np
from scipy import sparse

from bayespoint.solvers.weights import block_rows
from bayespoint.solvers.weights.anderson import MAX_MIXED_SWEEPS
from bayespoint.solvers.weights.belief import independent, mixed
from bayespoint.solvers.weights.row_order import even_blocks
from weights_helpers import full_rows, rare_categories


def test_products_are_mixed_like_their_sites():
    X, y = rare_categories(500)
    rows, prior = full_rows(X, y), independent(np.ones(X.shape[1]), True)
    belief = prior
    for weights in [1.0], [0.3, 0.7], [0.5, -0.2, 0.7]:
        belief = prior.times(rows.sweep(belief, 0.9))
        rows.mix(np.array(weights))
        product = mixed(np.ones(len(rows.products)), rows.products)
        sites = np.concatenate([b.precision for b in rows.blocks])
        order = np.concatenate([np.arange(len(y))[b] for b in even_blocks(*X.shape)])
        # These weights never extrapolate a precision below zero, where it would be clipped.
        np.testing.assert_allclose(product.precision, (X[order].T * sites) @ X[order], rtol=1e-9)
        belief = prior.times(product)


def test_what_is_remembered_is_small_beside_the_rows(monkeypatch):
    monkeypatch.setattr(block_rows, "MAX_FREE_NUMBERS", 0)
    rng = np.random.default_rng(0)
    prior = independent(np.ones(40), True)
    for n, expected in (60, False), (20_000, True):
        X = rng.standard_normal((n, 40))
        rows = full_rows(X, np.sign(X[:, 0]))
        rows.sweep(prior, 1.0)
        assert (rows.mixable_sweeps > 1) == expected
        state = sum(values.size for values in rows._state())
        assert rows.mixable_sweeps * state <= block_rows.MAX_MEMORY_SHARE * X.size
        # Sparse rows remember the same number of sweeps, so that both give the same result.
        thin = full_rows(sparse.csr_array(X), np.sign(X[:, 0]))
        thin.sweep(prior, 1.0)
        assert thin.mixable_sweeps == rows.mixable_sweeps
    # For rows with few entries, the products of blocks are comparatively large.
    few = sparse.random_array((20_000, 40), density=0.02, random_state=rng, format="csr")
    rows = full_rows(few, np.where(rng.random(20_000) > 0.5, 1.0, -1.0))
    rows.sweep(prior, 1.0)
    products = sum(product.precision.size for product in rows.products)
    assert rows.mixable_sweeps * products <= few.nnz


def test_small_tables_remember_their_sweeps():
    X = np.random.default_rng(0).standard_normal((60, 4))
    rows = full_rows(X, np.sign(X[:, 0]))
    rows.sweep(independent(np.ones(4), True), 1.0)
    assert rows.mixable_sweeps == MAX_MIXED_SWEEPS
