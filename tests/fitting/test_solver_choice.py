"""Default choices, and solvers chosen by name."""

import pickle
import subprocess
import sys
import warnings
from numbers import Real

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris, make_moons
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import log_loss
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import GridSearchCV, LeaveOneOut, cross_val_predict

from bayespoint import BayesPointClassifier
from bayespoint.fitting.mixture_search import MAX_EVALUATIONS
from bayespoint.solvers import EP, Billiard, Cells, Corners, Gibbs, Nystroem, Perceptron

SOLVERS = {
    "ep": EP(),
    "billiard": Billiard(tol=0.2),
    "gibbs": Gibbs(tol=0.2),
    "corners": Corners(),
    "perceptron": Perceptron(n_members=5),
    "nystroem": Nystroem(20),
    "cells": Cells(20),
}
NOISY_SOLVERS = ["ep", "billiard", "gibbs", "cells"]


@pytest.fixture(scope="module")
def moons():
    return make_moons(60, noise=0.3, random_state=0)


@pytest.fixture(scope="module")
def iris():
    X, y = load_iris(return_X_y=True)
    return X[::3], y[::3]


# Any finite data


def points(m=60, n_features=2):
    return np.random.default_rng(0).standard_normal((m, n_features))


def first_feature(X):
    return (X[:, 0] > 0).astype(int)


def with_a_rare_class():
    X = points()
    y = np.where(X[:, 0] > 0.5, 1, 0)
    y[0] = 2
    return X, y


DEGENERATE = {
    "labels at random": lambda: (points(), np.random.default_rng(1).integers(0, 2, 60)),
    "every point with both labels": lambda: (
        np.repeat(points(30), 2, axis=0),
        np.tile([0, 1], 30),
    ),
    "one point with both labels": lambda: (np.zeros((10, 2)), np.tile([0, 1], 5)),
    "a constant feature": lambda: (points() * [1, 0] + [0, 7], first_feature(points())),
    "constant features": lambda: (np.full((20, 3), 4.2), np.arange(20) % 2),
    "two points": lambda: (np.array([[0.0, 1.0], [2.0, 3.0]]), np.array([0, 1])),
    "two equal points": lambda: (np.ones((2, 2)), np.array([0, 1])),
    "one feature": lambda: (points(n_features=1), first_feature(points(n_features=1))),
    "huge": lambda: (1e100 * points(), first_feature(points())),
    "small": lambda: (1e-100 * points(), first_feature(points())),
    "of all sizes": lambda: (points() * [1e8, 1e-8], first_feature(points())),
    "far away": lambda: (points() + 1e6, first_feature(points())),
    "an outlier": lambda: (
        np.vstack([points(), [[1e6, 1e6]]]),
        np.append(first_feature(points()), 0),
    ),
    "far apart": lambda: (np.vstack([points() - 100, points() + 100]), np.repeat([0, 1], 60)),
    "more features than points": lambda: (points(20, 500), np.arange(20) % 2),
    "many ties": lambda: (np.sign(points(60, 3)), np.random.default_rng(1).integers(0, 2, 60)),
    "one point in a class": lambda: (points(), (np.arange(60) == 0).astype(int)),
    "three classes, one with one point": with_a_rare_class,
}


@pytest.mark.parametrize("name", DEGENERATE)
@pytest.mark.parametrize(
    "parameters",
    [{}, {"label_noise": "auto", "fit_intercept": "auto"}, {"kernel": "linear"}],
    ids=["default", "everything", "linear"],
)
def test_fits_anything_finite_without_warnings(name, parameters):
    X, y = DEGENERATE[name]()
    model = BayesPointClassifier(random_state=0, **parameters).fit(X, y)
    probability = model.predict_proba(X)
    for p in (probability, model.loo_proba_):
        assert p.shape == (len(y), len(set(y)))
        assert np.all((p > 0) & (p < 1))
        np.testing.assert_allclose(p.sum(axis=1), 1)
    np.testing.assert_array_equal(model.predict(X), model.classes_[probability.argmax(axis=1)])
    assert np.isfinite(model.log_evidence_)
    assert np.isfinite(model.decision_function(X)).all()


@pytest.mark.parametrize(
    "name", ["every point with both labels", "one point with both labels", "two equal points"]
)
def test_contradictions_carry_no_information(name):
    X, y = DEGENERATE[name]()
    model = BayesPointClassifier(random_state=0).fit(X, y)
    # Moments match to tol standard deviations; the density there is at most 0.4.
    np.testing.assert_allclose(model.predict_proba(X), 0.5, atol=EP().tol)


@pytest.mark.parametrize("scale", [1e-100, 1e-3, 1e3, 1e100])
def test_units_do_not_matter(moons, scale):
    X, y = moons
    one, two = (BayesPointClassifier("rbf", random_state=0).fit(c * X, y) for c in (1.0, scale))
    assert two.softness_ == one.softness_
    assert two.gamma_ * scale**2 == pytest.approx(one.gamma_, rel=1e-9)
    np.testing.assert_allclose(two.predict_proba(scale * X), one.predict_proba(X), atol=1e-6)


# Every solver by name


@pytest.mark.parametrize("data", ["moons", "iris"])
@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("label_noise", [0.0, 0.1, "auto"])
def test_predicts_the_most_probable_class(data, solver, label_noise, request):
    if label_noise == 0.1 and solver not in NOISY_SOLVERS:
        pytest.skip("knows no label noise")
    X, y = request.getfixturevalue(data)
    model = BayesPointClassifier(
        softness=0.1, solver=SOLVERS[solver], label_noise=label_noise, random_state=0
    ).fit(X, y)
    near = np.random.default_rng(0).normal(X.mean(axis=0), 2 * X.std(axis=0), (300, X.shape[1]))
    far = 1e3 * near  # outputs vanish there
    for new in (X, near, far):
        probability = model.predict_proba(new)
        assert np.isfinite(probability).all()
        np.testing.assert_array_equal(
            model.predict(new), model.classes_[probability.argmax(axis=1)]
        )
        np.testing.assert_allclose(probability.sum(axis=1), 1)


@pytest.mark.parametrize("solver", SOLVERS)
def test_a_name_means_the_solver_with_default_parameters(solver, moons):
    X, y = moons
    one, two = (
        BayesPointClassifier(gamma=1.0, softness=0.5, solver=s, random_state=0).fit(X, y)
        for s in (solver, type(SOLVERS[solver])())
    )
    np.testing.assert_array_equal(one.dual_coef_, two.dual_coef_)


@pytest.mark.parametrize("solver", ["perceptron", "corners", "nystroem"])
def test_label_noise_is_refused_by_solvers_that_know_none(solver, moons):
    with pytest.raises(ValueError, match=r"label_noise.*softness"):
        BayesPointClassifier(solver=solver, softness=0.1, label_noise=0.1).fit(*moons)


@pytest.mark.parametrize("label_noise", [0.5, 0.7, -0.1, "much"])
def test_impossible_label_noise(label_noise, moons):
    with pytest.raises(ValueError, match="label_noise"):
        BayesPointClassifier(label_noise=label_noise).fit(*moons)


@pytest.mark.parametrize("solver", NOISY_SOLVERS)
@pytest.mark.parametrize("label_noise", [0.05, 0.2])
def test_probabilities_stay_away_from_certainty_by_the_label_noise(solver, label_noise):
    X = np.vstack([points() - 3, points() + 3])
    y = np.repeat([0, 1], 60)
    model = BayesPointClassifier(
        softness=0.01, solver=SOLVERS[solver], label_noise=label_noise, random_state=0
    ).fit(X, y)
    p = model.predict_proba(X)
    if solver in ("ep", "cells"):
        p = np.vstack([p, model.loo_proba_])
    # The limits, up to the rounding of a sum and a logarithm.
    assert label_noise - 1e-15 <= p.min() < label_noise + 0.05
    assert p.max() <= 1 - label_noise + 1e-15


def test_solvers_agree(moons):
    X, y = moons
    ep, billiard, gibbs = (
        BayesPointClassifier(gamma=1.0, softness=0.5, solver=solver, random_state=0)
        .fit(X, y)
        .decision_function(X)
        for solver in (EP(), Billiard(tol=0.01), Gibbs(tol=0.03))
    )
    # Points have at most unit length, so decisions differ by at most the angle times the length
    # of the mean: three standard errors of the sampler, plus 0.01 for the bias of EP.
    assert np.abs(ep - billiard).max() <= 0.04
    assert np.abs(ep - gibbs).max() <= 0.1


# Attributes after a fit


@pytest.mark.parametrize("data", ["moons", "iris"])
@pytest.mark.parametrize("parameters", [{}, {"label_noise": "auto", "fit_intercept": "auto"}])
def test_attributes_are_plain_numbers_and_arrays(data, parameters, request):
    X, y = request.getfixturevalue(data)
    model = BayesPointClassifier(random_state=0, **parameters).fit(X, y)
    for name in ("log_evidence_", "gamma_", "softness_", "label_noise_", "constant_"):
        assert isinstance(getattr(model, name), Real), name
    assert hasattr(model, "n_iter_") == bool(parameters)
    assert isinstance(getattr(model, "n_iter_", 1), int)
    assert np.isfinite(model.log_evidence_)
    assert model.loo_proba_.dtype == float
    columns = list(model.candidates_.values())
    assert {column.shape for column in columns} == {columns[0].shape}
    assert {column.dtype.kind for column in columns} <= {"f", "b"}


def test_what_was_chosen_is_the_best_candidate(moons):
    X, y = moons
    model = BayesPointClassifier(label_noise="auto", random_state=0).fit(X, y)
    table = model.candidates_
    best = np.argmax(table.score)
    assert table.gamma[best] == model.gamma_
    assert table.softness[best] == model.softness_
    assert table.label_noise[best] == model.label_noise_
    # The final fit has a smaller tol; both evidences are stationary at the fixed point.
    assert model.log_evidence_ == pytest.approx(table.score[best], abs=60 * 0.02**2)


def test_nothing_is_chosen_where_nothing_is_automatic(moons):
    model = BayesPointClassifier(gamma=1.0, softness=0.1).fit(*moons)
    assert all(len(column) == 0 for column in model.candidates_.values())
    assert (model.gamma_, model.softness_, model.label_noise_) == (1.0, 0.1, 0.0)


@pytest.mark.parametrize("data", ["moons", "iris"])
@pytest.mark.parametrize("parameters", [{"softness": 0.5}, {"softness": 0.1, "label_noise": 0.1}])
def test_left_out_probabilities_are_close_to_leave_one_out(data, parameters, request):
    # Two things differ: cavities keep the sites of other points, and they use a separate
    # deviation for each point while `predict_proba` uses one for all. Measured: probabilities
    # differ by 0.01 to 0.02 (root mean square).
    X, y = request.getfixturevalue(data)
    model = BayesPointClassifier(gamma=0.5, random_state=0, **parameters).fit(X, y)
    real = cross_val_predict(model, X, y, cv=LeaveOneOut(), method="predict_proba")
    assert model.loo_proba_.shape == real.shape
    np.testing.assert_allclose(model.loo_proba_.sum(axis=1), 1)
    assert np.sqrt(np.mean((model.loo_proba_ - real) ** 2)) <= 0.03
    # Left-out probabilities estimate the loss: to one standard error for this number of points,
    # and better than the training points themselves.
    losses = -np.log(real[np.arange(len(y)), y])
    error = abs(log_loss(y, model.loo_proba_) - losses.mean())
    assert error <= losses.std() / np.sqrt(len(y))
    assert error < abs(log_loss(y, model.predict_proba(X)) - losses.mean())


def test_pickle_and_clone(moons):
    X, y = moons
    model = BayesPointClassifier(label_noise="auto", solver=EP(tol=1e-2), random_state=0).fit(X, y)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))
    np.testing.assert_array_equal(again.loo_proba_, model.loo_proba_)
    assert again.candidates_.keys() == model.candidates_.keys()
    fresh = clone(model)
    assert not hasattr(fresh, "log_evidence_")
    assert fresh.label_noise == "auto"
    assert fresh.solver.tol == 1e-2
    np.testing.assert_array_equal(fresh.fit(X, y).dual_coef_, model.dual_coef_)


@pytest.mark.parametrize("solver", SOLVERS)
def test_n_jobs_does_not_matter(iris, solver):
    X, y = iris
    one, two = (
        BayesPointClassifier(solver=SOLVERS[solver], random_state=0, n_jobs=n_jobs).fit(X, y)
        for n_jobs in (1, 2)
    )
    assert (one.gamma_, one.softness_) == (two.gamma_, two.softness_)
    np.testing.assert_array_equal(one.dual_coef_, two.dual_coef_)
    np.testing.assert_array_equal(one.predict_proba(X), two.predict_proba(X))


def test_the_answer_is_not_random(moons):
    X, y = moons
    one, two = (BayesPointClassifier(random_state=seed).fit(X, y) for seed in (0, 1))
    np.testing.assert_array_equal(one.predict_proba(X), two.predict_proba(X))
    np.testing.assert_array_equal(one.decision_std_error(X), 0)


def test_votes_are_those_of_the_draws(moons):
    X, y = moons
    model = BayesPointClassifier(random_state=0).fit(X, y)
    share = np.mean(model.sample_decision(X) > 0, axis=0)
    settled = np.abs(share - 0.5) > 0.1
    np.testing.assert_array_equal(model.predict_vote(X)[settled], (share > 0.5)[settled])
    np.testing.assert_array_equal(model.predict_vote(X)[settled], model.predict(X)[settled])


def test_a_precomputed_kernel_is_the_same(moons):
    X, y = moons
    named = BayesPointClassifier(gamma=1.0, random_state=0).fit(X, y)
    K = rbf_kernel(X, gamma=1.0)
    precomputed = BayesPointClassifier(kernel="precomputed", random_state=0).fit(K, y)
    assert precomputed.softness_ == named.softness_
    np.testing.assert_allclose(precomputed.predict_proba(K), named.predict_proba(X), atol=1e-6)
    np.testing.assert_allclose(precomputed.loo_proba_, named.loo_proba_, atol=1e-6)


# Time and messages


def test_an_answer_in_no_time(iris):
    X, y = iris
    with pytest.warns(ConvergenceWarning, match=r"max_time\): pass +1"):
        model = BayesPointClassifier("rbf", max_time=1e-6, random_state=0).fit(X, y)
    assert len(model.candidates_.score) == 0
    assert model.n_iter_ == 1
    # The first pass, from sites of single points, gives the direction of the class means.
    assert model.score(X, y) > 0.7


def test_points_that_time_left_out_have_no_left_out_probability():
    X = points(400)
    with pytest.warns(ConvergenceWarning) as caught:
        model = BayesPointClassifier(max_time=1e-6, random_state=0).fit(X, first_feature(X))
    messages = [str(warning.message) for warning in caught]
    trials = f"after 1 of up to {MAX_EVALUATIONS} "
    assert "choice of the kernel stopped early, " + trials in messages[0]
    assert "trained on 100 of them" in messages[1]
    used = np.zeros(400, dtype=bool)
    used[model.support_] = True
    assert np.isnan(model.loo_proba_[~used]).all()
    assert np.isfinite(model.loo_proba_[used]).all()


@pytest.mark.parametrize("parameters", [{}, {"label_noise": "auto", "fit_intercept": "auto"}])
def test_says_what_it_chose(moons, parameters, capsys):
    model = BayesPointClassifier(verbose=1, random_state=0, **parameters).fit(*moons)
    said = capsys.readouterr().err
    assert f"softness={model.softness_:.3g}" in said
    assert f"label_noise={model.label_noise_:.3g}" in said
    assert f"of {len(model.candidates_.gamma)} candidates" in said
    assert "% laplacian" in said
    assert ("moments match" in said) == bool(parameters)


def test_reports_no_choice_if_nothing_was_chosen(moons, capsys):
    BayesPointClassifier(verbose=1, gamma=1.0, softness=0.1, random_state=0).fit(*moons)
    assert "candidates" not in capsys.readouterr().err


def test_refitting_with_the_same_solver_forgets_the_past(moons, iris):
    model = BayesPointClassifier(random_state=0).fit(*iris).fit(*moons)
    fresh = BayesPointClassifier(random_state=0).fit(*moons)
    assert model.log_evidence_ == fresh.log_evidence_
    np.testing.assert_array_equal(model.loo_proba_, fresh.loo_proba_)


@pytest.mark.parametrize("solver", ["billiard", "gibbs", "corners", "perceptron"])
def test_refitting_with_another_solver_forgets_the_past(moons, iris, solver):
    model = BayesPointClassifier(softness=0.1, solver="ep", random_state=0).fit(*iris)
    model.set_params(solver=SOLVERS[solver]).fit(*moons)
    for name in ("log_evidence_", "loo_proba_", "n_iter_"):
        assert not hasattr(model, name)


@pytest.mark.parametrize("parameters", [{"gamma": "scale"}, {"solver": "perceptron"}], ids=str)
def test_says_what_it_chose_beside_a_given_gamma(moons, parameters, capsys):
    model = BayesPointClassifier(verbose=1, random_state=0, **parameters).fit(*moons)
    assert f"softness={model.softness_:.3g}" in capsys.readouterr().err


def test_does_not_choose_parameters_that_cannot_be_fitted():
    X, y = np.zeros((4, 2)), [0, 1, 0, 1]
    model = BayesPointClassifier(kernel="linear", fit_intercept="auto").fit(X, y)
    np.testing.assert_allclose(model.predict_proba(X), 0.5, atol=EP().tol)


def test_where_ep_gets_lost_the_billiard_takes_over():
    X, y = make_moons(200, noise=0.4, random_state=0)
    lost = {"kernel": "linear", "softness": 0, "label_noise": 0.001, "random_state": 0}
    with pytest.warns(ConvergenceWarning, match='solver="billiard"'):
        alone = BayesPointClassifier(solver="ep", **lost).fit(X, y)
    assert not alone.diagnostics_.mixed.any()
    assert np.isnan(alone.log_evidence_)
    assert np.isinf(alone.decision_std_error(X)).all()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = BayesPointClassifier(**lost).fit(X, y)
    assert "n_bounces" in model.diagnostics_
    assert model.score(X, y) > 0.8


def test_singular_matrices_on_the_way_are_no_error():
    for seed in range(6):
        X = np.random.default_rng(seed).standard_normal((6, 2))
        X, y = np.r_[X, X], np.r_[np.ones(6), -np.ones(5), 1]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            model = BayesPointClassifier("linear", softness=0, label_noise=0.001, random_state=0)
            model.fit(X, y)
        assert np.isfinite(model.predict_proba(X)).all()


def test_rare_classes_are_among_the_points_that_choose():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((1500, 2))
    y = np.zeros(1500)
    y[:1], X[:1] = 1, 4
    model = BayesPointClassifier(random_state=0).fit(X, y)
    # One class alone would be certain: a score of nearly zero for any parameters.
    assert model.candidates_.score.max() < -3


def test_warnings_point_to_the_user():
    X, y = make_moons(60, noise=0.3, random_state=0)
    with pytest.warns(ConvergenceWarning) as caught:
        BayesPointClassifier(solver=EP(max_iter=1), random_state=0).fit(X, y)
    assert caught[0].filename == __file__
    search = GridSearchCV(BayesPointClassifier(solver=EP(max_iter=1)), {"softness": [0.1]}, cv=2)
    with pytest.warns(ConvergenceWarning) as caught:
        search.fit(X, y)
    assert {warning.filename for warning in caught} == {__file__}


def test_ctrl_c_during_the_choice_keeps_an_answer():
    code = """
import os, signal, threading, warnings
import numpy as np
from bayespoint import BayesPointClassifier
from bayespoint.fitting import parameter_search
X = np.random.default_rng(0).standard_normal((300, 5))
propagate, calls = parameter_search.propagate, []
def slow(*args, **options):
    calls.append(1)
    if len(calls) == 2:
        os.kill(os.getpid(), signal.SIGINT)
    return propagate(*args, **options)
parameter_search.propagate = slow
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    model = BayesPointClassifier("rbf", random_state=0).fit(X, X[:, 0] > 0)
assert len(model.candidates_.score) == 2, len(model.candidates_.score)
assert model.diagnostics_.stop[0] == "interrupted"
assert "Ctrl-C" in str(caught[0].message)
assert model.score(X, X[:, 0] > 0) > 0.9
"""
    subprocess.run([sys.executable, "-c", code], check=True, timeout=120)
