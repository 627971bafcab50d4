"""Behavior that landmarks and cells share, and when each of them is chosen."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import log_loss
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.utils.estimator_checks import parametrize_with_checks

from bayespoint import BayesPointClassifier
from bayespoint._runtime import interrupt
from bayespoint.fitting import solver_choice
from bayespoint.fitting.parameters import Settings
from bayespoint.fitting.task import TrainingSet
from bayespoint.geometry.kernels import Kernel
from bayespoint.solvers import Cells, Nystroem
from helpers import ctrl_c
from many_points import classifier, noisy

SMALL = {"nystroem": Nystroem(60), "cells": Cells(50)}
BOTH = pytest.mark.parametrize("solver", SMALL)


@parametrize_with_checks(
    [
        BayesPointClassifier(solver="nystroem"),
        BayesPointClassifier(solver=Nystroem(10), kernel="linear", softness=0.5),
    ],
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_scikit_learn_contract(estimator, check):
    check(estimator)


@pytest.mark.slow
@parametrize_with_checks([BayesPointClassifier(solver=Cells(10))])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_scikit_learn_contract_of_cells(estimator, check):
    check(estimator)


def chessboard(m, seed=0, fields=12):
    """Return clean labels on more fields than a small sample shows."""
    X = np.random.default_rng(seed).uniform(0, fields, (m, 2))
    return X, np.sum(np.floor(X), axis=1).astype(int) % 2


@BOTH
@pytest.mark.parametrize("data", ["moons", "three"])
def test_probabilities_agree_with_predictions(solver, data, request):
    X, y = request.getfixturevalue(data)
    model = classifier(solver=SMALL[solver]).fit(X, y)
    new = np.concatenate([X, np.random.default_rng(1).normal(0, 3, (200, 2)), 1e3 * X])
    p = model.predict_proba(new)
    np.testing.assert_array_equal(model.predict(new), p.argmax(axis=1))
    np.testing.assert_allclose(p.sum(axis=1), 1)
    assert np.abs(model.decision_function(new)).max() <= 1
    if data == "moons":
        order = np.argsort(model.decision_function(new))
        assert (np.diff(p[order, 1]) >= 0).all()
    assert model.sample_decision(new, 5).shape[:2] == (5, len(new))
    assert np.mean(model.predict_vote(X) == model.predict(X)) > 0.9
    assert len(model.hardest_examples(7)[0]) == 7
    assert model.decision_std_error(X).max() == 0


@BOTH
def test_left_out_probabilities_predict_the_loss(solver):
    X, y = noisy(1500)
    T, t = noisy(4000, seed=1)
    model = classifier(solver=SMALL[solver]).fit(X, y)
    losses = -np.log(model.predict_proba(T)[np.arange(len(t)), t])
    # Compare two samples of losses; the smaller one dominates the error.
    tolerance = 4 * losses.std() * np.sqrt(1 / 1500 + 1 / 4000)
    assert log_loss(y, model.loo_proba_) == pytest.approx(losses.mean(), abs=tolerance)


@BOTH
def test_threads_do_not_matter(solver, three):
    one, two = (
        BayesPointClassifier(solver=SMALL[solver], n_jobs=n, random_state=0).fit(*three)
        for n in (1, 2)
    )
    assert (one.gamma_, one.softness_) == (two.gamma_, two.softness_)
    np.testing.assert_array_equal(one.dual_coef_, two.dual_coef_)
    np.testing.assert_array_equal(one.draw_coef_, two.draw_coef_)


@BOTH
def test_sparse_is_the_same_as_dense(solver, three):
    X, y = np.round(three[0]), three[1]
    dense, thin = (classifier(solver=SMALL[solver]).fit(A, y) for A in (X, sparse.csr_array(X)))
    np.testing.assert_allclose(
        thin.predict_proba(sparse.csr_array(X)), dense.predict_proba(X), atol=1e-6
    )


def test_precomputed_is_the_same_as_named(moons):
    # Landmarks are chosen by the content of rows, but for a kernel matrix by their position.
    by_content = np.lexsort(moons[0].T[::-1])
    X, y = moons[0][by_content], moons[1][by_content]
    K = rbf_kernel(X, gamma=1.0)
    named = classifier(solver=Nystroem(60)).fit(X, y)
    given = classifier(solver=Nystroem(60), kernel="precomputed").fit(K, y)
    np.testing.assert_allclose(given.predict_proba(K), named.predict_proba(X), atol=1e-6)


@BOTH
def test_memory_is_asked_for_before_it_is_taken(solver):
    X, y = noisy(5000)
    with pytest.raises(ValueError, match=r"cache_size is 1\. Raise cache_size, or lower n_"):
        classifier(solver=solver, cache_size=1).fit(X, y)


@BOTH
def test_a_short_time_gives_an_answer(solver):
    X, y = noisy(3000)
    with pytest.warns(ConvergenceWarning, match=r"max_time"):
        model = classifier(solver=solver, max_time=1e-3).fit(X, y)
    assert model.score(X, y) > 0.7
    assert model.diagnostics_.hits.shape == (1, 3000)


@BOTH
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_ctrl_c_keeps_the_answer_so_far(solver, n_jobs, monkeypatch):
    X, y = noisy(12_000)  # so many that cells are not ready when it is pressed
    slow = Nystroem(200, tol=0, max_iter=10**6) if solver == "nystroem" else Cells(200, tol=1e-7)
    monkeypatch.setattr(interrupt, "_last_press", -10.0)
    with pytest.warns(ConvergenceWarning, match="interrupted"), ctrl_c():
        model = classifier(solver=slow, n_jobs=n_jobs).fit(X, y)
    assert model.score(X, y) > 0.7


@BOTH
def test_progress_on_request(solver, moons, capsys):
    classifier(solver=SMALL[solver], verbose=1).fit(*moons)
    assert ("cells" if solver == "cells" else "moments match") in capsys.readouterr().err


# Choice between landmarks, cells and perceptrons


def chosen(X, y, **parameters):
    model = BayesPointClassifier(random_state=0, **parameters).fit(X, y)
    if "n_mistakes" in model.diagnostics_:
        return "perceptron"
    return "cells" if hasattr(model, "cell_centers_") else "nystroem"


def test_noisy_labels_choose_landmarks():
    assert chosen(*noisy(3000), kernel="rbf") == "nystroem"


def test_fine_detail_chooses_cells():
    X, y = chessboard(6000)
    assert chosen(X, y, kernel="rbf") == "cells"
    T, t = chessboard(2000, seed=1)
    model = BayesPointClassifier("rbf", random_state=0).fit(X, y)
    assert model.score(T, t) > 0.9
    landmarks = BayesPointClassifier("rbf", solver=Nystroem(200), random_state=0).fit(X, y)
    assert landmarks.score(T, t) < model.score(T, t)


def test_clean_labels_choose_perceptrons():
    assert chosen(*noisy(3000, noise=0.0), kernel="rbf") == "perceptron"


def ten_classes(m, flipped, seed=0):
    """Return clouds of points, and labels of which a share is replaced."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 10, m)
    X = 3 * np.random.default_rng(0).standard_normal((10, 6))[y] + rng.standard_normal((m, 6))
    return X, np.where(rng.random(m) < flipped, rng.integers(0, 10, m), y)


@pytest.mark.parametrize(
    ("flipped", "expected"),
    [(0.0, "perceptron"), pytest.param(0.15, "mosaic", marks=pytest.mark.slow)],
)
def test_ten_classes_do_not_hide_their_noise(flipped, expected, monkeypatch):
    """One class against the rest has only about 0.15 / 5 errors."""
    monkeypatch.setattr("bayespoint.fitting.parameter_search.MAX_POINTS", 200)
    X, y = ten_classes(2500, flipped)
    signs = np.where(y == np.arange(10)[:, None], 1, -1)
    data = TrainingSet(X, y, signs, "rbf", lambda gamma, _: Kernel("rbf", gamma=0.1))
    settings = Settings("scale", True, "auto", 0.0)
    for cache_size, found in ((2000, expected), (10, expected.replace("mosaic", "nystroem"))):
        request = solver_choice.Request("auto", settings, cache_size)
        _, solver, choice = solver_choice.choose_solver(data, request, lambda _: False)
        assert type(solver).__name__.lower() == found
        assert choice.best.softness > 0
    first = solver_choice.choose(data, settings, lambda _: False)
    assert first.loo_error < solver_choice.MAX_PERCEPTRON_ERROR
    assert (first.class_error > solver_choice.MAX_PERCEPTRON_ERROR) == (expected == "mosaic")


def test_too_little_time_chooses_the_perceptron():
    X, y = noisy(3000)
    with pytest.warns(ConvergenceWarning):
        assert chosen(X, y, kernel="rbf", max_time=1e-3) == "perceptron"


def test_a_kernel_that_is_not_local_has_no_cells():
    assert chosen(*noisy(3000), kernel="linear") == "nystroem"


def test_parameters_of_the_user_are_kept():
    model = classifier(gamma=0.7, softness=0.4).fit(*noisy(3000))
    assert (model.gamma_, model.softness_) == (0.7, 0.4)
    assert "n_mistakes" not in model.diagnostics_
    assert all(len(column) == 0 for column in model.candidates_.values())


@pytest.mark.slow
def test_label_noise_chooses_cells():
    assert chosen(*noisy(3000), gamma=1.0, softness=0.1, label_noise=0.1) == "cells"


def test_points_of_a_neighborhood_are_close_together():
    X, y = noisy(1000)
    data = TrainingSet(X, y, 2.0 * y[None] - 1, "rbf", None)
    for rows in solver_choice.neighborhoods(data, 3, 50):
        assert len(np.unique(rows)) == 50
        center = X[rows].mean(axis=0)
        away = np.linalg.norm(X - center, axis=1)
        assert away[rows].mean() < np.delete(away, rows).mean()
