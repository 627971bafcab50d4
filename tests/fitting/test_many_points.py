"""Landmarks and cells: solvers for many noisy points, and when they are chosen."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import make_moons
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import log_loss
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.utils.estimator_checks import parametrize_with_checks

from bayespoint import BayesPointClassifier
from bayespoint._runtime import interrupt
from bayespoint.fitting import solver_choice
from bayespoint.geometry.gram import soften
from bayespoint.solvers import EP, Cells, Nystroem
from bayespoint.solvers.cells import MAX_CELL_RATIO, nearest
from bayespoint.solvers.propagation.on_gram import propagate
from helpers import ctrl_c

FIXED = {"gamma": 1.0, "softness": 0.3, "random_state": 0}
SMALL = {"nystroem": Nystroem(60), "cells": Cells(50)}
BOTH = pytest.mark.parametrize("solver", SMALL)


def classifier(**parameters):
    return BayesPointClassifier(**{**FIXED, **parameters})


@parametrize_with_checks(
    [
        BayesPointClassifier(solver="nystroem"),
        BayesPointClassifier(solver=Nystroem(10), kernel="linear", softness=0.5),
        BayesPointClassifier(solver=Cells(10)),
    ]
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_scikit_learn_contract(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def moons():
    return make_moons(400, noise=0.3, random_state=0)


@pytest.fixture(scope="module")
def three():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 2))
    return X, np.digitize(X[:, 0] + 0.5 * rng.standard_normal(300), [-0.5, 0.5])


def noisy(m, seed=0, noise=0.7):
    """A smooth boundary, and many labels on the wrong side."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((m, 3))
    return X, (X[:, 0] + noise * rng.standard_normal(m) > 0).astype(int)


def chessboard(m, seed=0, fields=12):
    """Clean labels, but more fields than a small sample shows."""
    X = np.random.default_rng(seed).uniform(0, fields, (m, 2))
    return X, np.sum(np.floor(X), axis=1).astype(int) % 2


# Landmarks


@pytest.mark.parametrize("data", ["moons", "three"])
@pytest.mark.parametrize("softness", [0.05, 1.0])
@pytest.mark.parametrize("kernel", ["rbf", "linear", "poly"])
def test_with_all_landmarks_it_is_ep(data, softness, kernel, request):
    X, y = request.getfixturevalue(data)
    exact, ours = (
        classifier(kernel=kernel, softness=softness, solver=s).fit(X, y)
        for s in (EP(tol=1e-9), Nystroem(n_landmarks=len(y), tol=1e-9, max_iter=500))
    )
    np.testing.assert_allclose(ours.predict_proba(X), exact.predict_proba(X), atol=1e-6)
    np.testing.assert_allclose(ours.loo_proba_, exact.loo_proba_, atol=1e-6)
    # Landmarks within rounding of the span of the others are left out: squared lengths of up to
    # 4 m eps, 6e-7 in length. The mean hypothesis is no longer than 20 or so.
    new = np.random.default_rng(1).normal(0, 2, (50, 2))
    np.testing.assert_allclose(ours.predict_proba(new), exact.predict_proba(new), atol=1e-5)
    assert ours.log_evidence_ == pytest.approx(exact.log_evidence_, abs=1e-6 * len(y))


def test_hypotheses_are_carried_by_landmarks(moons):
    model = classifier(solver=Nystroem(30)).fit(*moons)
    assert len(model.support_) <= 31
    np.testing.assert_array_equal(model.support_vectors_, moons[0][model.support_])
    assert model.diagnostics_.hits.shape == (1, 400)
    assert (model.diagnostics_.hits > 0).all()
    assert model.loo_proba_.shape == (400, 2)


def test_more_landmarks_come_closer_to_ep(moons):
    X, y = moons
    exact = classifier(solver="ep").fit(X, y).predict_proba(X)
    gaps = [
        np.abs(classifier(solver=Nystroem(n)).fit(X, y).predict_proba(X) - exact).max()
        for n in (3, 20, 100)
    ]
    assert gaps[0] > gaps[1] > gaps[2]


def test_single_precision_agrees_with_double():
    X, y = noisy(2500)
    single = classifier(solver=Nystroem(100)).fit(X, y)
    K = rbf_kernel(X, gamma=1.0)
    double = classifier(solver=Nystroem(100), kernel="precomputed").fit(K, y)
    np.testing.assert_allclose(
        single.predict_proba(X), double.predict_proba(K), atol=FIXED["softness"] * 1e-2
    )


def test_equal_landmarks_count_once():
    X, y = np.repeat(noisy(30)[0], 20, axis=0), np.tile(noisy(30)[1], 20)
    model = classifier(solver=Nystroem(500)).fit(X, y)
    assert len(model.support_) <= 30


@pytest.mark.parametrize("label_noise", [0.1, "auto"])
def test_landmarks_know_no_label_noise(moons, label_noise):
    if label_noise == "auto":
        assert classifier(solver="nystroem", label_noise="auto").fit(*moons).label_noise_ == 0
        return
    with pytest.raises(ValueError, match=r"label_noise=0.1.*softness"):
        classifier(solver="nystroem", label_noise=label_noise).fit(*moons)


# Cells


def test_cells_are_ep_with_a_kernel_that_is_zero_between_them(moons):
    X, y = moons
    model = classifier(solver=Cells(50, tol=1e-9)).fit(X, y)
    cell = nearest(X, model.cell_centers_)
    assert len(np.unique(cell)) > 4
    unit = (rbf_kernel(X, gamma=1.0) + 1) / 2 * (cell[:, None] == cell)
    twin = propagate(soften(unit, 0.3), np.where(y == 1, 1, -1), tol=1e-9)
    assert model.log_evidence_ == pytest.approx(twin.log_evidence, abs=1e-6)
    logs = np.log(model.loo_proba_[np.arange(len(y)), y])
    np.testing.assert_allclose(logs, twin.log_loo, atol=1e-6)
    # Without the borders it is another model.
    whole = propagate(soften((rbf_kernel(X, gamma=1.0) + 1) / 2, 0.3), np.where(y == 1, 1, -1))
    assert abs(whole.log_evidence - twin.log_evidence) > 1


def test_one_cell_is_ep(three):
    X, y = three
    ours, exact = (classifier(solver=s).fit(X, y) for s in (Cells(1000, tol=1e-6), EP(tol=1e-6)))
    new = np.random.default_rng(1).normal(0, 2, (50, 2))
    np.testing.assert_allclose(ours.predict_proba(new), exact.predict_proba(new), atol=1e-9)


@pytest.mark.parametrize("data", [noisy(2000)[0], np.ones((500, 2)), np.eye(300)], ids=len)
def test_cells_are_neither_large_nor_empty(data):
    solver = Cells(50)
    size = np.bincount(nearest(data, solver.centers(data)))
    assert size.min() > 0
    distinct = len(np.unique(data, axis=0))
    if distinct > 300:
        assert size.max() <= MAX_CELL_RATIO * 50


def test_points_that_cannot_be_divided_are_represented_by_some():
    X, y = np.ones((500, 2)), (np.arange(500) % 5 == 0).astype(int)
    model = classifier(solver=Cells(50)).fit(X, y)
    assert len(model.support_) == MAX_CELL_RATIO * 50
    assert np.isnan(model.loo_proba_[np.setdiff1d(np.arange(500), model.support_)]).all()


def test_cells_take_label_noise(moons):
    model = classifier(solver=Cells(50), label_noise=0.1).fit(*moons)
    assert model.predict_proba(moons[0]).min() >= 0.1 - 1e-12


def test_cells_need_features(moons):
    with pytest.raises(ValueError, match=r"precomputed.*nystroem"):
        classifier(kernel="precomputed", solver="cells").fit(rbf_kernel(moons[0]), moons[1])


def test_other_solvers_have_no_cells(moons):
    model = classifier(solver=Cells(50)).fit(*moons)
    assert hasattr(model, "cell_centers_")
    model.set_params(solver="ep").fit(*moons)
    assert not hasattr(model, "cell_centers_")


def test_a_class_that_is_in_one_cell_only():
    X, y = noisy(400)
    y = y.copy()
    y[np.argmax(X[:, 1])] = 2
    model = classifier(solver=Cells(50)).fit(X, y)
    assert np.isfinite(model.predict_proba(X)).all()


# Both


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
def test_left_out_probabilities_foretell_the_loss(solver):
    X, y = noisy(1500)
    T, t = noisy(4000, seed=1)
    model = classifier(solver=SMALL[solver]).fit(X, y)
    losses = -np.log(model.predict_proba(T)[np.arange(len(t)), t])
    # Two samples of losses, of which the smaller one decides.
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
    X, y = moons
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
    X, y = noisy(4000)
    slow = Nystroem(200, tol=0, max_iter=10**6) if solver == "nystroem" else Cells(200, tol=1e-7)
    monkeypatch.setattr(interrupt, "_last_press", -10.0)
    with pytest.warns(ConvergenceWarning, match="interrupted"), ctrl_c():
        model = classifier(solver=slow, n_jobs=n_jobs).fit(X, y)
    assert model.score(X, y) > 0.7


@BOTH
def test_progress_on_request(solver, moons, capsys):
    classifier(solver=SMALL[solver], verbose=1).fit(*moons)
    assert ("cells" if solver == "cells" else "moments match") in capsys.readouterr().err


# Which one


def chosen(X, y, **parameters):
    model = BayesPointClassifier(random_state=0, **parameters).fit(X, y)
    if "n_mistakes" in model.diagnostics_:
        return "perceptron"
    return "cells" if hasattr(model, "cell_centers_") else "nystroem"


def test_noise_is_for_landmarks():
    assert chosen(*noisy(3000)) == "nystroem"


def test_detail_is_for_cells():
    X, y = chessboard(6000)
    assert chosen(X, y) == "cells"
    T, t = chessboard(2000, seed=1)
    model = BayesPointClassifier(random_state=0).fit(X, y)
    assert model.score(T, t) > 0.9
    landmarks = BayesPointClassifier(solver=Nystroem(200), random_state=0).fit(X, y)
    assert landmarks.score(T, t) < model.score(T, t)


def test_clean_labels_are_for_perceptrons():
    assert chosen(*noisy(3000, noise=0.0)) == "perceptron"


def test_without_time_it_is_the_perceptron():
    X, y = noisy(3000)
    with pytest.warns(ConvergenceWarning):
        assert chosen(X, y, max_time=1e-3) == "perceptron"


def test_a_kernel_from_everywhere_has_no_cells():
    assert chosen(*noisy(3000), kernel="linear") == "nystroem"


def test_what_the_user_fixed_stays():
    model = classifier(gamma=0.7, softness=0.4).fit(*noisy(3000))
    assert (model.gamma_, model.softness_) == (0.7, 0.4)
    assert "n_mistakes" not in model.diagnostics_
    assert all(len(column) == 0 for column in model.candidates_.values())


def test_label_noise_is_for_cells():
    assert chosen(*noisy(3000), gamma=1.0, softness=0.1, label_noise=0.1) == "cells"


def test_neighborhoods_are_near():
    X, _ = noisy(1000)
    for rows in solver_choice.neighborhoods(X, 3, 50):
        assert len(np.unique(rows)) == 50
        center = X[rows].mean(axis=0)
        away = np.linalg.norm(X - center, axis=1)
        assert away[rows].mean() < np.delete(away, rows).mean()
