"""Hyperplanes of largest margin: known solutions, and no change of weights improves them."""

import numpy as np
import pytest
from scipy import sparse

from bayespoint.solvers.programs.hyperplane import (
    CONJUGATE_NORMS,
    NotSeparableError,
    fit_hyperplane,
)


def fit_plain(X, signs, *parameters):
    return fit_hyperplane(X, signs, *parameters, np.ones(len(signs)))


def blobs(rng, shift, m=60):
    X = rng.standard_normal((m, 3))
    signs = np.where(np.arange(m) % 3, 1.0, -1.0)
    X[:, 0] += shift * signs
    return X, signs


def cost(X, signs, distance, C, coef, intercept):
    length = np.linalg.norm(coef, CONJUGATE_NORMS[distance])
    slacks = np.maximum(1 - signs * (X @ coef + intercept), 0).sum()
    return (length**2 / 2 if distance == "l2" else length) + C * slacks


@pytest.mark.parametrize(
    ("distance", "margin"),
    # Half the distance from the origin to the line x + y = 2, which is 2, sqrt(2) or 1.
    [("l1", 1.0), ("l2", np.sqrt(0.5)), ("linf", 0.5)],
)
def test_margins_that_are_known(distance, margin):
    X = np.array([[0.0, 0.0], [2.0, 0.0], [0.0, 2.0], [1.0, 1.0]])
    found = fit_plain(X, np.array([-1.0, 1.0, 1.0, 1.0]), distance, np.inf, True)
    assert found.margin == pytest.approx(margin, rel=1e-6)
    outputs = X @ found.coef + found.intercept
    assert outputs[0] == pytest.approx(-1, abs=1e-6)
    assert outputs[1:].min() == pytest.approx(1, abs=1e-6)


@pytest.mark.parametrize("fit_intercept", [False, True])
@pytest.mark.parametrize("C", [0.1, 10.0])
@pytest.mark.parametrize("distance", CONJUGATE_NORMS)
def test_no_small_change_is_better(rng, distance, C, fit_intercept):
    # The objective is convex: a local minimum is the minimum.
    X, signs = blobs(rng, 0.5)
    found = fit_plain(X, signs, distance, C, fit_intercept)
    assert found.objective == pytest.approx(
        cost(X, signs, distance, C, found.coef, found.intercept)
    )
    assert fit_intercept or found.intercept == 0
    for scale in (1e-1, 1e-2, 1e-3):
        for change in scale * rng.standard_normal((200, 4)):
            intercept = found.intercept + change[3] * fit_intercept
            other = cost(X, signs, distance, C, found.coef + change[:3], intercept)
            assert other >= found.objective - 1e-7 * (1 + found.objective)


@pytest.mark.parametrize("C", [1.0, np.inf])
@pytest.mark.parametrize("distance", CONJUGATE_NORMS)
def test_dense_sparse_and_other_units_agree(rng, distance, C):
    X, signs = blobs(rng, 4.0)
    one = fit_plain(X, signs, distance, C, True)
    two = fit_plain(sparse.csr_array(X), signs, distance, C, True)
    np.testing.assert_allclose(two.coef, one.coef, atol=1e-6)
    # Coordinates a thousand times larger make normal vectors a thousand times shorter. The
    # price of slacks must scale with the length of the normal vector, or with its square.
    price = C / 1e6 if distance == "l2" else C / 1e3
    small = fit_plain(1e3 * X, signs, distance, price, True)
    np.testing.assert_allclose(1e3 * small.coef, one.coef, atol=1e-6)
    assert small.margin == pytest.approx(1e3 * one.margin, rel=1e-5)


@pytest.mark.parametrize("distance", CONJUGATE_NORMS)
def test_classes_that_cannot_be_separated_are_an_error_without_slacks(rng, distance):
    X, signs = blobs(rng, 0.0)
    with pytest.raises(NotSeparableError, match="Choose a finite C"):
        fit_plain(X, signs, distance, np.inf, True)


@pytest.mark.parametrize("fit_intercept", [False, True])
@pytest.mark.parametrize("C", [0.1, 10.0])
@pytest.mark.parametrize("distance", CONJUGATE_NORMS)
def test_weights_are_repetitions(rng, distance, C, fit_intercept):
    X, signs = blobs(rng, 0.5)
    times = rng.integers(1, 4, len(signs))
    weighted = fit_hyperplane(X, signs, distance, C, fit_intercept, times.astype(float))
    repeated = fit_plain(X.repeat(times, axis=0), signs.repeat(times), distance, C, fit_intercept)
    np.testing.assert_allclose(weighted.coef, repeated.coef, atol=1e-8)
    np.testing.assert_allclose(weighted.intercept, repeated.intercept, atol=1e-8)
    assert weighted.objective == pytest.approx(repeated.objective, rel=1e-8)
    # Weights matter: without them the answer is another one.
    plain = fit_plain(X, signs, distance, C, fit_intercept)
    assert np.abs(plain.coef - weighted.coef).max() > 1e-4


def test_l2_is_exact(rng):
    """Multipliers follow from the answer, and no point of the wrong kind has one."""
    X, signs = blobs(rng, 0.5)
    found = fit_plain(X, signs, "l2", 1.0, True)
    outputs = signs * (X @ found.coef + found.intercept)
    at_margin = np.abs(outputs - 1) < 1e-9
    fixed = np.where(outputs < 1 - 1e-9, signs, 0.0)
    # The rest of the normal vector and of the threshold's equation comes from points at the margin.
    system = np.vstack([X[at_margin].T, np.ones(at_margin.sum())])
    signed, *_ = np.linalg.lstsq(system, np.append(found.coef - X.T @ fixed, -fixed.sum()))
    left = system @ signed - np.append(found.coef - X.T @ fixed, -fixed.sum())
    np.testing.assert_allclose(left, 0, atol=1e-10)
    multipliers = signed * signs[at_margin]
    assert np.all((multipliers > -1e-9) & (multipliers < 1 + 1e-9))
