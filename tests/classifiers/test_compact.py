"""compact: the promise, what a compact model can do, and what it refuses."""

import os
from functools import cache

import numpy as np
import pytest
from sklearn.datasets import load_iris, make_blobs, make_moons
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import bayespoint
from bayespoint import BayesPointClassifier, RejectOptionClassifier, to_onnx
from bayespoint.classifiers import _compact
from bayespoint.solvers import Cells, Mosaic, Nystroem, Perceptron

SEED = int(os.environ.get("BAYESPOINT_TEST_SEED", "0"))
SOLVERS = {
    "regression": "regression",
    "ep": "ep",
    "billiard": "billiard",
    "perceptron": Perceptron(10),
    "nystroem": Nystroem(60),
    "cells": Cells(n_points=90),
    "mosaic": Mosaic(60, 60),
}


def two_or_three(n_classes, n=180, seed=SEED):
    if n_classes == 2:
        return make_moons(n, noise=0.2, random_state=seed)
    return make_blobs(n, 4, centers=3, cluster_std=3.0, random_state=seed)


@cache
def fitted(solver, n_classes=2, kernel="rbf", **given):
    X, y = two_or_three(n_classes)
    softness = {"softness": 0.1} if solver in ("billiard", "perceptron") else {}
    model = BayesPointClassifier(
        kernel, solver=SOLVERS[solver], random_state=0, **softness, **given
    )
    return model.fit(X, y), X


def largest_change(a, b, X):
    return np.abs(a.predict_proba(X) - b.predict_proba(X)).max()


@pytest.mark.parametrize(
    ("solver", "n_classes"), [*((name, 2) for name in SOLVERS), ("perceptron", 3), ("mosaic", 3)]
)
def test_no_probability_changes_by_more_than_the_tolerance(solver, n_classes):
    model, X = fitted(solver, n_classes)
    for tol in (0.05, 0.005):
        small = model.compact(tol, X)
        assert largest_change(model, small, X) <= tol
        n_after = [len(small.support_), getattr(small, "landmark_coef_", np.empty(0)).size]
        n_before = [len(model.support_), getattr(model, "landmark_coef_", np.empty(0)).size]
        assert n_after <= n_before
        assert small.compaction_.change <= tol
        assert small.compaction_.n_support == len(model.support_)
        assert len(small.support_vectors_) == len(small.support_) == small.dual_coef_.shape[1]


def test_smooth_machines_become_much_smaller():
    for solver in ("ep", "regression"):
        model, X = fitted(solver)
        assert len(model.compact(0.01).support_) < len(X) / 4


def test_a_mosaic_keeps_few_landmarks():
    model, _ = fitted("mosaic", kernel="auto")
    small = model.compact(0.02)
    in_cell = np.count_nonzero(np.any(small.landmark_coef_ != 0, axis=1), axis=1)
    assert in_cell.max() < model.landmark_coef_.shape[2]
    assert len(small.landmarks_) == small.landmark_coef_.shape[2] == len(small.landmark_vectors_)


def test_a_broken_version_exceeds_the_tolerance(monkeypatch):
    """Carriers that are chosen for a limit ten times too large do not pass the last check."""
    model, X = fitted("regression")
    monkeypatch.setattr(_compact, "SHARES_OF_CHOICE", (10.0,))
    kept = model.compact(0.005)
    assert len(kept.support_) == len(model.support_)  # the check refuses them
    monkeypatch.setattr(_compact, "_decide_at", lambda model, points, single: np.zeros((1, 1)))
    assert largest_change(model, model.compact(0.005), X) > 0.005


@pytest.mark.parametrize("solver", ["ep", "nystroem"])
def test_more_rows_can_be_named(solver):
    """Rows far from all training rows change by more than the tolerance if they are not named."""
    model, X = fitted(solver)
    far = X.mean(axis=0) + 3 * (X - X.mean(axis=0))
    small = model.compact(0.02, far)
    assert (
        largest_change(model, small, far) <= 0.02 < largest_change(model, model.compact(0.02), far)
    )
    assert len(small.support_) < len(X)


@pytest.mark.parametrize("solver", SOLVERS)
def test_exact_without_tolerance(solver):
    model, X = fitted(solver)
    same = model.compact(0)
    np.testing.assert_array_equal(same.decision_function(X), model.decision_function(X))
    np.testing.assert_array_equal(same.support_, model.support_)
    assert same.compaction_.change == 0


def test_the_model_itself_does_not_change():
    model, X = fitted("regression")
    before = {k: v.copy() for k, v in vars(model).items() if isinstance(v, np.ndarray)}
    state = set(vars(model))
    model.compact(0.05)
    assert set(vars(model)) == state
    for name, values in before.items():
        np.testing.assert_array_equal(getattr(model, name), values)
    assert model.sample_decision(X[:2]).shape[1:] == (2,)


def test_single_precision_where_the_tolerance_allows():
    model, X = fitted("ep")
    assert not model._single
    assert model.compact(0.005)._single
    assert model.compact(0.005).support_vectors_.dtype == np.float32
    exact = model.compact(1e-9)
    assert not exact._single
    assert largest_change(model, exact, X) <= 1e-9


def test_draws_and_learning_are_refused():
    model, X = fitted("regression")
    small = model.compact(0.01)
    for method in (small.sample_decision, small.predict_vote, small.decision_std_error):
        with pytest.raises(AttributeError, match="compact model has the mean"):
            method(X)
    with pytest.raises(ValueError, match="no rows to continue from"):
        small.partial_fit(X, small.predict(X))
    with pytest.raises(ValueError, match="no rows to continue from"):
        small.forget(0)


def test_a_fit_makes_it_whole_again():
    model, X = fitted("regression")
    small = model.compact(0.01)
    small.fit(X, model.predict(X))
    assert not hasattr(small, "compaction_")
    assert len(small.support_) == len(X)
    assert small.sample_decision(X).shape[1] == len(X)


def test_results_of_the_fit_stay():
    model, _ = fitted("ep")
    small = model.compact(0.01)
    np.testing.assert_array_equal(small.loo_proba_, model.loo_proba_)
    np.testing.assert_array_equal(small.hardest_examples()[0], model.hardest_examples()[0])
    assert small.intercept_ == pytest.approx(small.constant_ * small.dual_coef_.sum(axis=1))


@pytest.mark.parametrize("solver", ["regression", "mosaic"])
def test_files_and_graphs_shrink(solver, tmp_path):
    model, X = fitted(solver, 3)
    small = model.compact(0.05)
    sizes = []
    for number, one in enumerate((model, small)):
        path = tmp_path / f"{number}.bayespoint"
        bayespoint.save(one, path)
        loaded = bayespoint.load(path)
        np.testing.assert_array_equal(loaded.predict_proba(X), one.predict_proba(X))
        sizes.append((path.stat().st_size, len(to_onnx(one).SerializeToString())))
    assert sizes[1][0] < sizes[0][0]
    assert sizes[1][1] < sizes[0][1]


def test_compact_models_in_pipelines_and_with_a_reject_option():
    X, y = load_iris(return_X_y=True)
    pipeline = make_pipeline(StandardScaler(), BayesPointClassifier("rbf", random_state=0))
    pipeline.fit(X, y)
    pipeline.steps[-1] = ("small", pipeline[-1].compact(0.01))
    option = RejectOptionClassifier(FrozenEstimator(pipeline), reject_rate=0.1).fit(X, y)
    assert set(option.predict(X)) <= {-1, 0, 1, 2}


def test_tables_with_categories():
    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(SEED)
    X = pandas.DataFrame({"a": rng.standard_normal(200), "b": rng.choice(list("xyz"), 200)})
    y = (X.a + (X.b == "x") + 0.5 * rng.standard_normal(200) > 0).to_numpy()
    model = BayesPointClassifier(random_state=0).fit(X, y)
    small = model.compact(0.02)
    assert len(small.support_) < 200
    assert largest_change(model, small, X) <= 0.02


@pytest.mark.parametrize("tol", [-0.1, 1, "much", None])
def test_tolerances_that_make_no_sense(tol):
    model, _ = fitted("regression")
    with pytest.raises(ValueError, match="tol should be a number from 0 to below 1"):
        model.compact(tol)


def test_a_precomputed_kernel_is_refused():
    X, y = two_or_three(2, 40)
    model = BayesPointClassifier("precomputed", random_state=0).fit(X @ X.T, y)
    with pytest.raises(ValueError, match="precomputed kernel does not keep it"):
        model.compact()
