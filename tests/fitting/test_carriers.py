"""Carriers: outputs within their limits, the slow obvious twin, exact in the limit."""

import os

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics.pairwise import laplacian_kernel, rbf_kernel

from bayespoint.fitting import carriers as carriers_module
from bayespoint.fitting.carriers import NotCarriedError, choose_carriers

SEED = int(os.environ.get("BAYESPOINT_TEST_SEED", "0"))
# Rounding of sums of a few hundred products, times the condition of a triangle: with distances
# from the span of at least sqrt(1e-11), a coefficient loses at most six digits.
ROUNDING = 1e-8


def problem(n=120, n_outputs=2, seed=SEED, kernel=laplacian_kernel, gamma=0.5):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 3))
    K = kernel(X, gamma=gamma)
    return K, K @ rng.standard_normal((n, n_outputs))


def changes(K, outputs, found):
    return np.abs(K[:, found.rows] @ found.coef - outputs).max(axis=1)


def greedy_twin(K, outputs, limits):
    """Solve the whole system again for each new carrier, the one that is furthest off."""
    rows, left = [], outputs
    while not rows or np.any(np.abs(left).max(axis=1) > limits):
        rows.append(int(np.argmax(np.abs(left).max(axis=1) / limits)))
        coef = np.linalg.solve(K[np.ix_(rows, rows)], outputs[rows])
        left = outputs - K[:, rows] @ coef
    return np.array(rows), coef


@given(seed=st.integers(0, 10**6), n=st.integers(1, 60), exponent=st.floats(-6, 1))
@settings(max_examples=15, deadline=None)
def test_changes_are_within_their_limits(seed, n, exponent):
    K, outputs = problem(n, 3, seed)
    limits = 10**exponent * np.random.default_rng(seed).uniform(0.5, 2, n)
    found = choose_carriers(lambda rows: K[rows], outputs, limits)
    assert 1 <= len(found.rows) == len(set(found.rows)) <= n
    assert np.all(changes(K, outputs, found) <= limits + ROUNDING * np.abs(outputs).max())


def test_a_broken_version_fails(monkeypatch):
    """Without the part of a block that earlier carriers explain, limits are not kept."""
    K, outputs = problem()

    def without_order(*args):
        order, triangle, spanned = true(*args)
        return order, np.diag(np.diag(triangle)), spanned

    true = carriers_module._factor_block
    monkeypatch.setattr(carriers_module, "_factor_block", without_order)
    limit = 0.05 * np.abs(outputs).max()
    with pytest.raises(NotCarriedError):
        choose_carriers(lambda rows: K[rows], outputs, np.full(len(K), limit))


def test_the_same_carriers_one_at_a_time(monkeypatch):
    monkeypatch.setattr(carriers_module, "BLOCK_CARRIERS", 1)
    K, outputs = problem()
    limits = np.full(len(K), 0.1 * np.abs(outputs).max())
    found = choose_carriers(lambda rows: K[rows], outputs, limits)
    rows, coef = greedy_twin(K, outputs, limits)
    np.testing.assert_array_equal(found.rows, rows)
    np.testing.assert_allclose(found.coef, coef, atol=ROUNDING * np.abs(coef).max())


def test_blocks_need_hardly_more_carriers():
    K, outputs = problem(400)
    limits = np.full(len(K), 0.05 * np.abs(outputs).max())
    found = choose_carriers(lambda rows: K[rows], outputs, limits)
    # A block takes points with half of the largest change, which may turn out to be needless.
    assert len(found.rows) <= 1.5 * len(greedy_twin(K, outputs, limits)[0])


def test_outputs_at_carriers_are_kept():
    K, outputs = problem()
    found = choose_carriers(lambda rows: K[rows], outputs, np.full(len(K), 0.5))
    assert len(found.rows) < len(K)
    off = changes(K, outputs, found)[found.rows]
    assert off.max() <= ROUNDING * np.abs(outputs).max()


def test_all_points_give_back_the_coefficients():
    K, _ = problem(60)
    coef = np.random.default_rng(SEED).standard_normal((60, 2))
    found = choose_carriers(lambda rows: K[rows], K @ coef, np.full(60, 1e-13))
    assert len(found.rows) == 60
    np.testing.assert_allclose(found.coef, coef[found.rows], atol=ROUNDING)


def test_a_hypothesis_of_few_points_needs_only_these():
    K, _ = problem(200, kernel=rbf_kernel)
    coef = np.zeros((200, 1))
    coef[[3, 50, 120]] = [[1.0], [-2.0], [0.5]]
    found = choose_carriers(lambda rows: K[rows], K @ coef, np.full(200, 0.2))
    assert len(found.rows) <= 10


def test_a_small_hypothesis_has_one_carrier():
    K, outputs = problem(50, 1)
    found = choose_carriers(lambda rows: K[rows], 1e-3 * outputs, np.full(50, 1.0))
    assert len(found.rows) == 1
    K0 = choose_carriers(lambda rows: K[rows], 0 * outputs, np.full(50, 1.0))
    assert np.all(K0.coef == 0)


def test_too_few_are_allowed():
    K, outputs = problem()
    with pytest.raises(NotCarriedError, match="more than 20 carriers"):
        choose_carriers(lambda rows: K[rows], outputs, np.full(len(K), 1e-6), 20)


def test_rounding_is_not_carried():
    """Points that the carriers span up to rounding cannot remove what is left."""
    K, _ = problem(100, kernel=rbf_kernel, gamma=1e-3)
    outputs = np.random.default_rng(SEED).standard_normal((100, 1))  # of no hypothesis
    with pytest.raises(NotCarriedError, match="in the span"):
        choose_carriers(lambda rows: K[rows], outputs, np.full(100, 1e-3))
