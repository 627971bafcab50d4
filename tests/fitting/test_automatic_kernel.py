"""kernel="auto": where it is a mixture, which solver goes with it, and what it must not change."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_iris, make_moons
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from bayespoint import BayesPointClassifier
from bayespoint.fitting.automatic_kernel import (
    CELL_GROWTH,
    CELL_POINTS,
    CELL_SHARE,
    LANDMARKS,
    MAX_EXACT_POINTS,
    MAX_WORK_RATIO,
    MOSAIC_WORK,
    automatic_solver,
    can_mix,
    solver_of_size,
)
from bayespoint.fitting.parameters import Settings
from bayespoint.fitting.solver_choice import Request
from bayespoint.fitting.task import TrainingSet
from bayespoint.solvers import EP

IRIS = load_iris(return_X_y=True)
GIVEN = Settings("auto", True, "auto", 0.0)


def data(m, X=None):
    target = np.arange(m) % 2
    X = np.zeros((m, 1)) if X is None else X
    return TrainingSet(X, target, (2 * target - 1)[None].astype(np.int8), "rbf", lambda *_: None)


NAMES = ["auto", "ep", "billiard", "gibbs", "corners", "regression", "mosaic"]


@pytest.mark.parametrize("solver", NAMES)
def test_solvers_that_can_use_a_mixture_get_one(solver):
    assert can_mix(data(100), Request(solver, GIVEN, 2000))


@pytest.mark.parametrize("solver", ["perceptron", "nystroem", "cells"])
def test_other_solvers_for_many_points_do_not(solver):
    assert not can_mix(data(100), Request(solver, GIVEN, 2000))


def test_sparse_points_a_given_gamma_and_little_memory_do_not():
    assert can_mix(data(2000), Request("auto", GIVEN, 2000))
    assert can_mix(data(2001), Request("auto", GIVEN, 2000))
    assert not can_mix(data(2000), Request("auto", GIVEN, 10))
    assert not can_mix(data(20_000), Request("auto", GIVEN, 10))
    assert not can_mix(data(100, sparse.csr_array((100, 1))), Request("auto", GIVEN, 2000))
    assert not can_mix(data(100), Request("auto", GIVEN._replace(gamma=0.5), 2000))


@pytest.mark.parametrize(
    ("m", "cache_size", "expected"),
    [
        (MAX_EXACT_POINTS, 2000, "Regression()"),
        (MAX_EXACT_POINTS + 1, 2000, "Mosaic()"),
        (MAX_EXACT_POINTS, 700, "Mosaic()"),  # exact: 763 MB
        (MAX_EXACT_POINTS, 500, "Mosaic(n_landmarks=2430, n_points=1620)"),
        (MAX_EXACT_POINTS, 300, "Mosaic(n_landmarks=1968, n_points=1312)"),
        (MAX_EXACT_POINTS, 60, "Mosaic(n_landmarks=500, n_points=500)"),
        (MAX_EXACT_POINTS, 20, "None"),
    ],
)
def test_size_and_memory_choose_the_regression(m, cache_size, expected):
    assert str(automatic_solver(data(m), Request("auto", GIVEN, cache_size))) == expected


def test_points_with_many_features_get_more_landmarks_and_larger_cells():
    request = Request("auto", GIVEN, 8000)
    few, many, more = (solver_of_size((60_000, n), 10, 0, request) for n in (64, 256, 5000))
    most = (MOSAIC_WORK * 4 / 60_000) ** 0.5  # four times the work
    assert many.n_landmarks == round(min(most, LANDMARKS[1])) > few.n_landmarks
    assert few.n_points == round(few.n_landmarks * CELL_SHARE)
    growth = MAX_WORK_RATIO**CELL_GROWTH
    assert (more.n_landmarks, more.n_points) == (LANDMARKS[1], round(CELL_POINTS[1] * growth))
    smaller = solver_of_size((60_000, 5000), 10, 0, request._replace(cache_size=1000))
    assert few.n_landmarks < smaller.n_landmarks < more.n_landmarks
    assert smaller.n_points == pytest.approx(smaller.n_landmarks * CELL_SHARE * growth, abs=2)


def test_a_hard_boundary_or_flipped_labels_with_many_points_have_no_mixture():
    for given in (GIVEN._replace(softness=0), GIVEN._replace(label_noise=0.1)):
        assert isinstance(automatic_solver(data(2000), Request("auto", given, 2000)), EP)
        assert automatic_solver(data(2001), Request("auto", given, 2000)) is None


@pytest.mark.parametrize(
    ("options", "solver"),
    [
        ({}, "regression"),
        ({"softness": 0.2}, "regression"),
        ({"softness": 0}, "ep"),
        ({"label_noise": 0.1}, "ep"),
        ({"solver": "billiard"}, "billiard"),
    ],
)
def test_the_solver_follows_the_likelihood(options, solver):
    X, y = make_moons(60, noise=0.1, random_state=0)
    model = BayesPointClassifier(random_state=0, **options).fit(X, y)
    assert model.kernel_ == "mixture"
    assert model.mixture_.weights.sum() == pytest.approx(1)
    assert hasattr(model, "link_power_") == (solver == "regression")
    assert hasattr(model, "n_iter_") == (solver == "ep")
    assert model.softness_ == options.get("softness", model.softness_)
    assert model.score(X, y) > 0.9


def test_a_given_gamma_is_that_of_rbf_on_numbers_as_they_are():
    X, y = IRIS
    named = BayesPointClassifier("rbf", gamma=0.3, softness=0.1, random_state=0).fit(X, y)
    given = BayesPointClassifier(gamma=0.3, softness=0.1, random_state=0).fit(X, y)
    assert given.kernel_ == "rbf"
    assert given.mixture_ is None
    np.testing.assert_array_equal(named.predict_proba(X), given.predict_proba(X))


def test_sparse_points_are_not_scaled():
    X, y = IRIS
    model = BayesPointClassifier(random_state=0).fit(sparse.csr_array(X), y)
    named = BayesPointClassifier("rbf", random_state=0).fit(sparse.csr_array(X), y)
    assert model.kernel_ == "rbf"
    np.testing.assert_array_equal(model.predict_proba(X), named.predict_proba(X))


def test_units_and_offsets_of_columns_do_not_matter():
    X, y = IRIS
    plain = BayesPointClassifier(random_state=0).fit(X, y).predict_proba(X)
    scale, offset = np.array([1e-6, 1.0, 1e3, 1e8]), np.array([1e4, -5.0, 0.0, 1e9])
    moved = X * scale + offset * scale
    found = BayesPointClassifier(random_state=0).fit(moved, y).predict_proba(moved)
    # The offset of the last column takes nine of sixteen digits.
    np.testing.assert_allclose(found, plain, atol=1e-5)


def test_a_second_fit_with_a_named_kernel_forgets_the_mixture():
    X, y = IRIS
    model = BayesPointClassifier(random_state=0).fit(X, y).set_params(kernel="rbf").fit(X, y)
    fresh = BayesPointClassifier("rbf", random_state=0).fit(X, y)
    assert model.kernel_ == "rbf"
    assert not hasattr(model, "link_power_")
    np.testing.assert_array_equal(model.predict_proba(X), fresh.predict_proba(X))


def test_the_answer_does_not_depend_on_the_seed_except_for_draws():
    X, y = IRIS
    one, two = (BayesPointClassifier(random_state=seed).fit(X, y) for seed in (0, 1))
    np.testing.assert_array_equal(one.predict_proba(X), two.predict_proba(X))
    assert not np.array_equal(one.draw_coef_, two.draw_coef_)


def test_codes_without_order_are_no_obstacle():
    rng = np.random.default_rng(0)
    X = rng.integers(4, size=(300, 5)).astype(float)
    y = (X[:, 0] == X[:, 1]).astype(int)
    rbf = make_pipeline(StandardScaler(), BayesPointClassifier("rbf", random_state=0))
    errors = [
        1 - cross_val_score(model, X, y, cv=3).mean()
        for model in (BayesPointClassifier(random_state=0), rbf)
    ]
    assert errors[0] < 0.5 * errors[1]


def test_max_time_is_kept():
    X, y = make_moons(1500, noise=0.2, random_state=0)
    model = BayesPointClassifier(max_time=0.3, random_state=0)
    with pytest.warns(match="max_time"):
        model.fit(X, y)
    assert len(model.candidates_.score) < 20
    assert model.score(X, y) > 0.9


def test_fifty_classes_are_a_matter_of_a_moment():
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(50), 10)
    X = rng.normal(size=(50, 6))[y] + rng.normal(scale=0.3, size=(500, 6))
    model = BayesPointClassifier(random_state=0).fit(X[::2], y[::2])
    assert model.score(X[1::2], y[1::2]) > 0.8
    assert model.diagnostics_.seconds[0] < 20  # was 31 s in all, on the same machine well below 1


def test_hundreds_of_classes_fit_into_memory():
    target = np.arange(900) % 300
    many = data(900)._replace(target=target, signs=np.ones((300, 900), dtype=np.int8))
    assert can_mix(many, Request("auto", GIVEN, 2000))


def test_points_as_they_are_may_lie_far_from_the_origin():
    X = np.random.default_rng(0).normal(size=(60, 20)).round(2)
    y = (X[:, 0] > 0).astype(int)
    here, there = (
        BayesPointClassifier(standardize=False, random_state=0)
        .fit(X + off, y)
        .predict_proba(X + off)
        for off in (0, 2.0**20)
    )
    # Coordinates keep 52 - 20 binary digits.
    np.testing.assert_allclose(there, here, atol=1e-6)
    BayesPointClassifier(standardize=False).fit(X + 1e12, y)


@pytest.mark.parametrize("unit", [1e-300, 1e160])
def test_points_of_extreme_size_are_explained(unit):
    X, y = IRIS
    with pytest.raises(ValueError, match=r"moderate distances.*Pass standardize=True"):
        BayesPointClassifier(standardize=False).fit(X * unit, y)


@pytest.mark.parametrize("solver", ["auto", "ep"])
def test_training_and_new_points_may_differ_in_precision(solver):
    X = np.random.default_rng(0).integers(5, size=(100, 4)) / 10
    y = ((X[:, 0] == 0.2) | (X[:, 1] == 0.3)).astype(int)
    double, single = (
        BayesPointClassifier(solver=solver, random_state=0).fit(X.astype(t), y)
        for t in ("f8", "f4")
    )
    assert double.mixture_.names[-1] == "overlap"
    p = double.predict_proba(X)
    # Single precision has 24 binary digits.
    np.testing.assert_allclose(double.predict_proba(X.astype("f4")), p, atol=1e-5)
    np.testing.assert_allclose(single.predict_proba(X), p, atol=1e-5)


def test_sparse_points_that_are_too_many_for_ep_get_an_exact_regression():
    X, y = make_moons(2100, noise=0.2, random_state=0)
    model = BayesPointClassifier(random_state=0).fit(sparse.csr_array(X), y)
    assert (model.kernel_, model.mixture_) == ("rbf", None)
    assert hasattr(model, "link_power_")
    assert model.diagnostics_.n_factors == 1
    few = BayesPointClassifier(random_state=0).fit(sparse.csr_array(X[:200]), y[:200])
    assert not hasattr(few, "link_power_")
