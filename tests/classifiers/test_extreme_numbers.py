"""Extreme units, weights and parameters: the right answer or a clear error, and no warnings."""

from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from bayespoint import BayesPointClassifier, LinearBayesPointClassifier, solvers

MEMBERS = solvers.Perceptron(n_members=10)
NAMED = ("regression", "ep", "nystroem", "cells", MEMBERS)


def noisy_table(n=60, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 4))
    return X, np.where(X[:, 0] + 0.5 * rng.standard_normal(n) > 0, 1, 0)


def machine(solver, **given):
    return BayesPointClassifier(
        "rbf", gamma=0.3, softness=0.2, solver=solver, random_state=0, **given
    )


X, Y = noisy_table()
NEW = noisy_table(seed=1)[0]


# Units


@pytest.mark.parametrize("unit", [5e-324 * 2**60, 1e-300, 1e-160, 1e160, 1e300])
def test_the_default_does_not_see_units(unit):
    extreme = BayesPointClassifier(random_state=0).fit(X * unit, Y).predict_proba(NEW * unit)
    # Products with a unit are rounded, and denormal numbers to 60 bits or less.
    np.testing.assert_allclose(extreme, usual_probabilities(), rtol=1e-6)


@settings(max_examples=4)
@given(powers=st.lists(st.integers(-900, 900), min_size=4, max_size=4))
def test_powers_of_two_change_no_bit(powers):
    unit = 2.0 ** np.array(powers)
    scaled = BayesPointClassifier(random_state=0).fit(X * unit, Y)
    np.testing.assert_array_equal(scaled.predict_proba(NEW * unit), usual_probabilities())


@cache
def usual_probabilities():
    return BayesPointClassifier(random_state=0).fit(X, Y).predict_proba(NEW)


@settings(max_examples=4)
@given(seed=st.integers(0, 999), solver=st.sampled_from(["regression", "ep", "nystroem", "cells"]))
def test_order_of_rows_and_columns_changes_no_digit(seed, solver):
    rng = np.random.default_rng(seed)
    rows, columns = rng.permutation(len(X)), rng.permutation(4)
    other = machine(solver).fit(X[rows][:, columns], Y[rows]).predict_proba(NEW[:, columns])
    # EP stops where moments match to 1e-3, and may stop a pass earlier in another order.
    usual = machine(solver).fit(X, Y).predict_proba(NEW)
    np.testing.assert_allclose(other, usual, atol=1e-10 if solver == "regression" else 1e-3)


@pytest.mark.parametrize("solver", ["regression", "ep", "nystroem", "cells"])
def test_a_repeated_table_is_a_table_of_weight_two(solver):
    twice = machine(solver).fit(np.tile(X, (2, 1)), np.tile(Y, 2)).predict_proba(NEW)
    heavy = machine(solver).fit(X, Y, sample_weight=np.full(60, 2.0)).predict_proba(NEW)
    # EP stops where moments match to 1e-3 (nystroem: with one sum for equal rows).
    np.testing.assert_allclose(twice, heavy, atol=1e-9 if solver == "regression" else 1e-3)


@pytest.mark.parametrize("solver", NAMED)
@pytest.mark.parametrize("offset", [0.0, 1e12])
def test_named_kernels_bear_offsets(solver, offset):
    usual = machine(solver).fit(X, Y).predict_proba(NEW)
    # Numbers at the offset are exact to 1e-16 of it. The distances of 60 points add up.
    moved = machine(solver).fit(X + offset, Y).predict_proba(NEW + offset)
    np.testing.assert_allclose(moved, usual, atol=60 * np.finfo(float).eps * offset + 1e-9)


@pytest.mark.parametrize(
    ("kernel", "match"), [("rbf", 'gamma="scale" needs'), ("linear", "too small for double")]
)
@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("unit", [1e-160, 1e-300])
def test_squares_that_underflow_are_an_error(kernel, match, make, unit):
    with pytest.raises(ValueError, match=match):
        BayesPointClassifier(kernel).fit(make(X * unit), Y)


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("kernel", ["linear", "poly"])
def test_new_points_that_overflow_are_an_error(kernel, make):
    model = BayesPointClassifier(kernel, random_state=0).fit(make(X), Y)
    with pytest.raises(ValueError, match="finite number for every pair"):
        model.predict_proba(make(NEW * 1e300))


def test_too_much_softness_is_an_error():
    proba = BayesPointClassifier(softness=1e10).fit(X, Y).predict_proba(NEW)
    assert np.ptp(proba[:, 1]) < 1e-6
    with pytest.raises(ValueError, match="softness"):
        BayesPointClassifier(softness=1e300).fit(X, Y)


def test_a_linear_posterior_without_digits_is_an_error():
    far = X.copy()
    far[0, 0] = 1e8
    model = LinearBayesPointClassifier(noise_variance=1e-300)
    with pytest.raises(ValueError, match="numbers that double precision can hold"):
        model.fit(far, Y)


# Weights


@pytest.mark.parametrize("solver", ["auto", "mosaic", *NAMED])
@pytest.mark.parametrize("weight", [1e-310, 5e-324])
def test_rows_of_almost_no_weight_say_nothing(solver, weight):
    few, some = np.arange(60) < 10, solver in ("auto", "mosaic")
    model = BayesPointClassifier(solver=solver, random_state=0) if some else machine(solver)
    model.fit(X, Y, sample_weight=np.where(few, weight, 1.0))
    proba = model.predict_proba(NEW)
    least = model.fit(X, Y, sample_weight=np.where(few, 1e-12, 1.0)).predict_proba(NEW)
    np.testing.assert_array_equal(proba, least)
    if solver == "regression":  # others draw and choose with all rows
        gone = model.fit(X[~few], Y[~few]).predict_proba(NEW)
        np.testing.assert_allclose(proba, gone, atol=1e-10)
    assert np.isfinite(getattr(model, "log_evidence_", 0.0))
    assert np.isfinite(getattr(model, "loo_proba_", np.zeros(1))).all()
    novelty = model.novelty(NEW)
    assert np.all((novelty >= 0) & (novelty <= 1))


@pytest.mark.parametrize("solver", NAMED)
def test_without_weight_nothing_is_known(solver):
    proba = machine(solver).fit(X, Y, sample_weight=np.full(60, 1e-310)).predict_proba(NEW)
    np.testing.assert_allclose(proba, 0.5, atol=1e-4)


@pytest.mark.parametrize("solver", ["regression", "ep", "cells", MEMBERS])
def test_a_class_of_huge_weight(solver):
    # It decides everywhere but at points of the other class.
    model = machine(solver, class_weight={0: 1.0, 1: 1e9}).fit(X, Y)
    assert np.isfinite(model.predict_proba(NEW)).all()
    assert np.all(model.predict(X[Y == 1]) == 1)
