"""Training by label regression: what is stored, and how it agrees with itself."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_digits, load_iris, make_moons

from bayespoint import BayesPointClassifier
from bayespoint.fitting.mixture_search import MIN_POINTS, PAIRED_SHARE
from bayespoint.fitting.power_link import class_outputs
from bayespoint.fitting.regression_fit import label_codes
from bayespoint.solvers.definite_inverse import MIN_POINTS_IN_THREADS

X, Y = load_iris(return_X_y=True)


def fitted(y=Y, **options):
    return BayesPointClassifier(random_state=0, **options).fit(X, y)


def test_codes_of_two_and_of_more_classes():
    np.testing.assert_array_equal(label_codes(np.array([[1, -1]])), [[0.5], [-0.5]])
    three = np.array([[1, -1], [-1, 1], [-1, -1]])
    expected = np.array([[2, -1, -1], [-1, 2, -1]]) / 3
    np.testing.assert_allclose(label_codes(three), expected)


# As many points as threads need to share the search, the matrix and the draws; with more points
# the search has two parts.
@pytest.mark.parametrize("n", [MIN_POINTS_IN_THREADS + 10, round(PAIRED_SHARE * MIN_POINTS) + 10])
def test_the_bits_do_not_depend_on_the_number_of_threads(n):
    digits, target = (a[:n] for a in load_digits(return_X_y=True))
    machine = BayesPointClassifier(random_state=0)
    models = [clone(machine).set_params(n_jobs=n).fit(digits, target) for n in (1, 2, 3)]
    for model in models[1:]:
        for name in ("dual_coef_", "draw_coef_", "loo_proba_", "relevance_"):
            np.testing.assert_array_equal(getattr(model, name), getattr(models[0], name))
        np.testing.assert_array_equal(model.candidates_.score, models[0].candidates_.score)


def test_all_predictions_agree():
    model = fitted()
    decision, p = model.decision_function(X), model.predict_proba(X)
    assert np.abs(decision).max() <= 1
    np.testing.assert_array_equal(model.predict(X), decision.argmax(axis=1))
    np.testing.assert_array_equal(model.predict(X), p.argmax(axis=1))
    np.testing.assert_allclose(p.sum(axis=1), 1)
    assert np.mean(model.predict_vote(X) == model.predict(X)) > 0.95
    assert np.all(model.decision_std_error(X) == 0)


def test_outputs_are_estimates_of_probabilities():
    model = fitted()
    F = class_outputs(model.probit_scale_ * model.decision_function(X))
    np.testing.assert_allclose(F.sum(axis=1), 1, atol=1e-9)
    assert F.min() > -0.3
    assert F.max() < 1.3


def test_left_out_probabilities_are_those_of_a_fit_without_the_row():
    model = fitted()
    settings = {"softness": model.softness_}
    for i in (0, 70, 119):
        rest = np.delete(np.arange(len(X)), i)
        # The same kernel and link, but without the row.
        gram = model._fitted_kernel()(model.support_vectors_, model.support_vectors_)
        unit = gram / gram[0, 0]
        codes = np.eye(3)[Y] - 1 / 3
        noisy = unit[np.ix_(rest, rest)] + settings["softness"] * np.eye(len(rest))
        outputs = unit[i, rest] @ np.linalg.solve(noisy, codes[rest])
        expected = model._probabilities(outputs[None])
        np.testing.assert_allclose(model.loo_proba_[i], expected[0], atol=1e-9)


def test_draws_scatter_around_the_mean():
    x, y = make_moons(80, noise=0.2, random_state=0)
    model = BayesPointClassifier(random_state=0).fit(x, y)
    draws = model.sample_decision(x)
    error = draws.std(axis=0) / np.sqrt(len(draws))
    off = np.abs(draws.mean(axis=0) - model.decision_function(x)) / error
    # 80 means of 256 draws: five standard errors are exceeded once in 20,000 times.
    assert off.max() < 5


def test_two_classes_do_not_depend_on_their_order():
    y = (Y == 1).astype(int)
    p, q = fitted(y).predict_proba(X), fitted(1 - y).predict_proba(X)
    np.testing.assert_allclose(p, q[:, ::-1], atol=1e-7)


def test_rare_classes_have_the_probability_that_they_have():
    rng = np.random.default_rng(0)
    shares = []
    for seed in range(5):
        x = np.random.default_rng(seed).normal(size=(1500, 4))
        y = (x[:, 0] + rng.normal(size=1500) > 2.4).astype(int)  # about one in 22
        model = BayesPointClassifier(random_state=0).fit(x[:500], y[:500])
        shares.append((model.predict_proba(x[500:])[:, 1].mean(), y[500:].mean(), y[:500].mean()))
    stated, true, seen = np.array(shares).T
    # What is stated follows what was seen in training: 5 times 500 rows with 4.5 % positive.
    error = np.sqrt(0.045 * 0.955 * (1 / 2500 + 1 / 5000))
    assert abs(np.mean(stated) - np.mean(true)) < 3 * error + abs(np.mean(seen) - np.mean(true))


def test_named_kernels_choose_their_own_parameters_for_regression():
    model = fitted(kernel="rbf", solver="regression", standardize=True)
    assert model.kernel_ == "rbf"
    assert len(model.candidates_.score) > 5
    assert model.score(X, Y) > 0.95
    linear = fitted(kernel="linear", solver="regression", softness=0.1)
    assert linear.score(X, Y) > 0.8


def test_weights_equal_repeated_rows():
    weight = np.random.default_rng(0).integers(0, 3, len(X))
    rows = np.repeat(np.arange(len(X)), weight)
    once = BayesPointClassifier(random_state=0).fit(X, Y, sample_weight=weight)
    repeated = BayesPointClassifier(random_state=0).fit(X[rows], Y[rows])
    np.testing.assert_allclose(once.predict_proba(X), repeated.predict_proba(X), atol=1e-8)
    np.testing.assert_allclose(once.decision_function(X), repeated.decision_function(X), atol=1e-8)
    added = np.zeros((3, len(X)))
    np.add.at(added.T, rows[repeated.support_], repeated.dual_coef_.T)
    np.testing.assert_allclose(once.dual_coef_, added[:, once.support_], atol=1e-8)
    assert once.log_evidence_ == pytest.approx(repeated.log_evidence_, rel=1e-10)
    assert np.isnan(once.loo_proba_[weight == 0]).all()
    np.testing.assert_allclose(once.loo_proba_[rows], repeated.loo_proba_, atol=1e-8)
    # A weight that is wrong on purpose is seen.
    wrong = BayesPointClassifier(random_state=0).fit(X, Y, sample_weight=np.minimum(weight, 1))
    assert np.abs(wrong.predict_proba(X) - repeated.predict_proba(X)).max() > 1e-4


def test_an_interrupted_or_hard_fit_still_answers():
    model = fitted(solver="regression", softness=0.0)
    assert model.score(X, Y) > 0.95


@pytest.mark.parametrize("n", [2, 3])
def test_two_rows_are_enough(n):
    x, y = np.arange(n)[:, None], np.arange(n)
    assert BayesPointClassifier(random_state=0).fit(x, y).predict(x).tolist() == y.tolist()
