"""BayesPointClassifier with permuted perceptrons."""

import pickle
import threading
import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_digits, make_blobs, make_moons
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import log_loss
from sklearn.metrics.pairwise import laplacian_kernel, polynomial_kernel, rbf_kernel
from sklearn.model_selection import train_test_split
from sklearn.utils.estimator_checks import parametrize_with_checks

from bayespoint import BayesPointClassifier
from bayespoint.fitting import parameters, rows_fit
from bayespoint.geometry.row_store import MAX_POINTS_IN_ONE_BLOCK
from bayespoint.solvers import Billiard, Perceptron
from helpers import processor_time_below


@parametrize_with_checks(
    [
        BayesPointClassifier(solver="perceptron"),
        BayesPointClassifier(solver=Perceptron(3), kernel="linear", softness=0.5, warm_start=True),
    ],
)
@pytest.mark.filterwarnings("ignore:softness=:UserWarning")
@pytest.mark.filterwarnings("ignore:warm_start=True:UserWarning")
def test_scikit_learn_contract(estimator, check):
    check(estimator)


def classifier(**parameters):
    poly = {"kernel": "poly", "degree": 5, "gamma": 1.0, "fit_intercept": False}
    return BayesPointClassifier(
        **{**poly, "softness": 0.0, "solver": "perceptron", "random_state": 0, **parameters}
    )


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(return_X_y=True)
    return train_test_split(X / 16, y, test_size=0.5, random_state=0, stratify=y)


@pytest.fixture(scope="module")
def large():
    """Return four dense classes, more points than a block holds; a third is for testing."""
    X, y = make_blobs(3600, 12, centers=12, cluster_std=5.0, random_state=0)
    return train_test_split(X / 10, y % 4, test_size=1 / 3, random_state=0)


@pytest.fixture(scope="module")
def fitted(large):
    X, _, y, _ = large
    assert len(X) > MAX_POINTS_IN_ONE_BLOCK
    return classifier(n_jobs=2).fit(X, y)


# What it computes


def test_training_points_are_classified_correctly(digits, large, fitted):
    X, _, y, _ = digits
    assert np.array_equal(classifier().fit(X, y).predict(X), y)
    X, _, y, _ = large
    assert np.array_equal(fitted.predict(X), y)
    assert fitted._single


def test_digits_are_recognised_as_well_as_by_the_billiard(digits):
    X, X_test, y, y_test = digits
    error = np.mean(classifier().fit(X, y).predict(X_test) != y_test)
    exact = np.mean(classifier(solver=Billiard(tol=0.1)).fit(X, y).predict(X_test) != y_test)
    # Both have about 1.6 % errors on the same test points, so the standard error of their
    # difference is at most sqrt(2 * 0.016 / 899).
    assert abs(error - exact) < 3 * np.sqrt(2 * 0.016 / len(y_test))


def test_decision_function_is_the_mean_of_the_members(large, fitted):
    X = large[1]
    draws = fitted.sample_decision(X)
    assert draws.shape == (10, len(X), 4)
    assert fitted.decision_function(X) == pytest.approx(draws.mean(axis=0), abs=1e-12)


def test_errors_of_single_members(large, fitted):
    _, X, _, y = large
    expected = [np.mean(np.argmax(d, axis=-1) != y) for d in fitted.sample_decision(X)]
    errors = fitted.draw_errors(X, y)
    assert errors == pytest.approx(expected)
    assert np.mean(fitted.predict(X) != y) < errors.mean()


def test_members_have_unit_length(large, fitted):
    S, coef = fitted.support_vectors_.astype(float), fitted.draw_coef_[:, 0]
    matrix = polynomial_kernel(S, degree=5, gamma=1, coef0=1)
    assert np.einsum("ci,ij,cj->c", coef, matrix, coef) == pytest.approx(1, abs=1e-4)


def test_probabilities_agree_with_predictions_and_are_calibrated(large, fitted):
    _, X, _, y = large
    probability = fitted.predict_proba(X)
    assert probability.sum(axis=1) == pytest.approx(1)
    assert np.array_equal(fitted.classes_[probability.argmax(axis=1)], fitted.predict(X))
    # No other scale is much better on new points: held-out points chose it well.
    loss = log_loss(y, probability)
    model = pickle.loads(pickle.dumps(fitted))
    for factor in (0.4, 2.5):
        model.probit_scale_ = factor * fitted.probit_scale_
        assert log_loss(y, model.predict_proba(X)) > loss


def test_binary_probabilities_follow_noisy_labels():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((4000, 2))
    true = 1 / (1 + np.exp(-3 * X[:, 0]))
    y = rng.random(4000) < true
    model = classifier(kernel="rbf", gamma=0.5, softness=1.0, fit_intercept=True)
    model.fit(X[:2500], y[:2500])
    probability = model.predict_proba(X[2500:])[:, 1]
    assert log_loss(y[2500:], probability) < log_loss(y[2500:], true[2500:]) + 0.05
    assert log_loss(y[2500:], probability) < 0.8 * np.log(2)


def test_sparse_and_dense_agree(large):
    X, X_test, y, _ = large
    X, X_test = np.where(X > 0.4, X, 0.0), np.where(X_test > 0.4, X_test, 0.0)
    for kernel in ("rbf", "linear"):
        parameters = {"kernel": kernel, "gamma": 2.0, "softness": 0.5, "fit_intercept": True}
        dense = classifier(**parameters).fit(X, y)
        thin = classifier(**parameters).fit(sparse.csr_array(X), y)
        assert sparse.issparse(thin.support_vectors_)
        one, other = dense.decision_function(X_test), thin.decision_function(X_test)
        # Rounding may change which points are mistakes: the two agree like runs with different
        # permutations, not to the last digit.
        assert np.mean(one.argmax(axis=1) == other.argmax(axis=1)) > 0.95
        mixed = thin.decision_function(sparse.csr_array(X_test))
        assert mixed == pytest.approx(other, abs=1e-6)


@pytest.mark.parametrize("m", [300, 2300])
def test_precomputed_and_callable_kernels_agree_with_built_in_ones(large, m):
    # Random orders go by the content of rows, but for a kernel matrix by their position.
    by_content = np.lexsort(large[0][:m].T[::-1])
    X, y, X_test = large[0][by_content], large[2][by_content], large[1][:100]
    parameters = {"gamma": 0.5, "fit_intercept": True, "solver": Perceptron(3), "softness": 0.01}

    def own(A, B):
        return rbf_kernel(A, B, gamma=0.5)

    given = classifier(**{**parameters, "kernel": "precomputed"}).fit(own(X, X), y)
    called = classifier(**{**parameters, "kernel": own}).fit(X, y)
    assert np.array_equal(given.dual_coef_, called.dual_coef_)
    output = called.decision_function(X_test)
    assert given.decision_function(own(X_test, X)) == pytest.approx(output, abs=1e-9)
    built_in = classifier(**{**parameters, "kernel": "rbf"}).fit(X, y)
    same = np.mean(built_in.predict(X_test) == called.predict(X_test))
    assert same == 1 if m == 300 else same > 0.95


def test_laplacian_kernel_and_points_far_away_take_double_precision(large):
    X, y = large[0][:2200], large[2][:2200]
    model = classifier(kernel="laplacian", gamma=1.0, solver=Perceptron(2)).fit(X, y)
    assert not model._single
    matrix = laplacian_kernel(X[:20], model.support_vectors_, gamma=1.0)
    assert model.decision_function(X[:20]) == pytest.approx(matrix @ model.dual_coef_.T)
    far = classifier(kernel="rbf", gamma=100.0, solver=Perceptron(2)).fit(X, y)
    assert not far._single
    assert np.array_equal(far.predict(X), y)


# Reproducibility


@pytest.mark.parametrize(
    "change", [{"n_jobs": 1}, {"cache_size": 5.0}, {"cache_size": 9.0}, {"verbose": 0}]
)
def test_coefficients_do_not_depend_on_threads_or_memory(large, fitted, change):
    X, _, y, _ = large
    model = clone(fitted).set_params(**change).fit(X, y)
    assert np.array_equal(model.dual_coef_, fitted.dual_coef_)
    assert np.array_equal(model.support_, fitted.support_)
    if "cache_size" in change:
        assert model.diagnostics_.n_rows[0] > len(model.support_)


def test_seeds_matter(large, fitted):
    X, _, y, _ = large
    model = clone(fitted).set_params(random_state=1).fit(X, y)
    assert not np.array_equal(model.dual_coef_, fitted.dual_coef_)


def test_predictions_do_not_depend_on_threads(large, fitted):
    X = large[1]
    alone = pickle.loads(pickle.dumps(fitted)).set_params(n_jobs=1)
    assert np.array_equal(alone.decision_function(X), fitted.decision_function(X))


def test_few_points_are_predicted_like_many(large, fitted):
    X = large[1]
    few = np.concatenate([fitted.decision_function(X[i : i + 5]) for i in range(0, 100, 5)])
    assert few == pytest.approx(fitted.decision_function(X)[:100], abs=1e-5)


# Softness


def test_automatic_softness_is_small_where_labels_are_clean(large):
    X, _, y, _ = large
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert classifier(softness="auto").fit(X, y).softness_ == parameters.SOFTNESS.min()


def test_automatic_softness_softens_noisy_labels():
    X, y = make_moons(2500, noise=0.4, random_state=0)
    model = classifier(kernel="rbf", softness="auto", fit_intercept=True).fit(X, y)
    assert model.softness_ >= 0.1
    assert model.diagnostics_.stop[0] == "consistent"
    X_test, y_test = make_moons(2000, noise=0.4, random_state=1)
    assert model.score(X_test, y_test) > 0.85


def test_inseparable_data_end_with_a_warning_and_an_answer(large):
    X, _, y, _ = large
    y = y.copy()
    y[:300] = np.roll(y[:300], 1)
    solver = Perceptron(3, max_mistakes=3000)
    with pytest.warns(ConvergenceWarning, match="found no hypothesis that classifies all"):
        model = classifier(kernel="linear", solver=solver).fit(X, y)
    assert set(model.diagnostics_.stop) == {"max_mistakes"}
    assert np.isfinite(model.decision_function(X)).all()
    assert model.score(X, y) > 1.2 * np.bincount(y).max() / len(y)


def test_points_at_the_origin_are_left_out():
    X, y = make_blobs(60, 3, centers=2, random_state=0)
    X[7] = 0.0
    with pytest.warns(UserWarning, match="1 training points lie at the origin"):
        model = classifier(kernel="linear").fit(X, y)
    assert 7 not in model.support_


# Time, interrupts, warm starts


@pytest.mark.parametrize("max_time", [1e-9, 0.05])
def test_short_time_gives_a_valid_classifier(large, max_time):
    X, X_test, y, _ = large
    with pytest.warns(ConvergenceWarning, match="stopped early"), processor_time_below(10):
        model = classifier(max_time=max_time, solver=Perceptron(100)).fit(X, y)
    assert model.diagnostics_.stop[0] == "max_time"
    assert model.predict_proba(X_test).sum(axis=1) == pytest.approx(1)
    assert np.isfinite(model.decision_function(X_test)).all()


def test_more_members_later_are_those_of_a_single_fit(large):
    X, _, y, _ = large
    at_once = classifier(solver=Perceptron(6)).fit(X, y)
    model = classifier(solver=Perceptron(2), warm_start=True).fit(X, y)
    model.set_params(solver=Perceptron(6)).fit(X, y)
    assert np.array_equal(model.dual_coef_, at_once.dual_coef_)
    assert model.probit_scale_ == at_once.probit_scale_
    with pytest.raises(ValueError, match="at least the 6 members"):
        model.set_params(solver=Perceptron(3)).fit(X, y)


def test_going_on_after_time_ran_out_is_a_single_fit(large):
    X, _, y, _ = large
    at_once = classifier().fit(X, y)
    model = classifier(warm_start=True, max_time=1e-9)
    with pytest.warns(ConvergenceWarning, match="continue with warm_start=True"):
        model.fit(X, y)
    model = pickle.loads(pickle.dumps(model))
    model.set_params(max_time=None).fit(X, y)
    assert np.array_equal(model.dual_coef_, at_once.dual_coef_)


def test_going_on_with_other_data_starts_anew(large):
    X, _, y, _ = large
    model = classifier(warm_start=True).fit(X, y)
    with pytest.warns(UserWarning, match="starting from scratch"):
        model.fit(X[:-1], y[:-1])
    expected = classifier().fit(X[:-1], y[:-1])
    assert np.array_equal(model.dual_coef_, expected.dual_coef_)


def test_interrupt_keeps_the_answer_so_far(large, monkeypatch):
    import os
    import signal

    from bayespoint._runtime import interrupt
    from bayespoint.solvers import perceptron

    if threading.current_thread() is not threading.main_thread():
        pytest.skip("signals go to the main thread")
    X, _, y, _ = large
    rounds = []
    original = perceptron.Perceptron._step

    def step(self, *args):
        rounds.append(1)
        if len(rounds) == 40:
            os.kill(os.getpid(), signal.SIGINT)
        return original(self, *args)

    monkeypatch.setattr(interrupt, "_last_press", -10.0)
    monkeypatch.setattr(perceptron.Perceptron, "_step", step)
    with pytest.warns(ConvergenceWarning, match="stopped early .interrupted"):
        model = classifier(n_jobs=1).fit(X, y)
    assert model.diagnostics_.stop[0] == "interrupted"
    assert model.score(X, y) > 0.3


def test_progress_is_reported(large, capsys, monkeypatch):
    from bayespoint.solvers import perceptron

    X, _, y, _ = large
    monkeypatch.setattr(perceptron, "SECONDS_BETWEEN_REPORTS", np.inf)
    classifier(verbose=1).fit(X, y)
    (last,) = capsys.readouterr().err.splitlines()
    assert "40 of 40 perceptrons are consistent" in last
    assert last.endswith("stopped by consistent")
    monkeypatch.setattr(perceptron, "SECONDS_BETWEEN_REPORTS", -1.0)
    classifier(verbose=1).fit(X, y)
    assert len(capsys.readouterr().err.splitlines()) > 5


def test_progress_bar(large):
    X, _, y, _ = large
    callback = pytest.importorskip("sklearn.callback", reason="scikit-learn 1.9 brought callbacks")
    classifier().set_callbacks(callback.ProgressBar()).fit(X, y)


# Memory, and refused input


def test_too_little_memory_is_an_error_before_it_is_used(large):
    X, _, y, _ = large
    with pytest.raises(ValueError, match=r"10 perceptrons for each of 4 outputs.*Raise cache_size"):
        classifier(cache_size=1).fit(X, y)


def test_too_many_points_for_the_billiard_name_the_perceptron(large):
    X, _, y, _ = large
    with pytest.raises(ValueError, match='solver="perceptron"'):
        classifier(solver="billiard", cache_size=10).fit(X, y)


def test_automatic_solver_is_the_perceptron_for_many_points(large):
    X, _, y, _ = large
    assert "n_mistakes" in classifier(solver="auto").fit(X, y).diagnostics_
    few = classifier(solver="auto", softness=0.1).fit(X[:50], y[:50])
    assert "n_iter" in few.diagnostics_
    thrifty = classifier(solver="auto", cache_size=5).fit(X[:1000], y[:1000])
    assert "n_mistakes" in thrifty.diagnostics_


def test_kernels_that_are_not_definite_are_reported():
    rng = np.random.default_rng(0)
    matrix = np.eye(40) + 0.9 * rng.choice([-1, 1], (40, 40))
    matrix = (matrix + matrix.T) / 2
    np.fill_diagonal(matrix, 1.0)
    y = rng.integers(0, 2, 40)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            classifier(kernel="precomputed").fit(matrix, y)
            told = " ".join(str(w.message) for w in caught)
        except ValueError as error:
            told = str(error)
    assert "not positive semi-definite" in told


def test_kernel_matrix_with_a_negative_diagonal_is_refused():
    matrix = np.diag([1.0, -1.0, 1.0, 1.0])
    with pytest.raises(ValueError, match="cannot be negative"):
        classifier(kernel="precomputed").fit(matrix, [0, 1, 0, 1])


def test_one_member_is_enough(large):
    X, X_test, y, _ = large
    model = classifier(solver=Perceptron(1)).fit(X, y)
    assert np.all(np.isinf(model.decision_std_error(X_test)))
    assert np.array_equal(model.predict_vote(X_test), model.predict(X_test))


def test_standard_errors_are_those_of_the_members(large, fitted):
    X = large[1]
    draws = fitted.sample_decision(X)
    expected = draws.std(axis=0, ddof=1) / np.sqrt(10)
    assert fitted.decision_std_error(X) == pytest.approx(expected)


def test_hardest_examples_are_the_mistakes(fitted):
    points, hits = fitted.hardest_examples(5)
    assert hits.sum() > 0
    assert np.all(np.diff(hits) <= 0)
    assert set(points) <= set(fitted.support_)


def test_tiny_classes_are_never_held_out():
    X, y = make_blobs(400, 3, centers=2, random_state=0)
    y[:2] = 2
    model = classifier(kernel="rbf", fit_intercept=True, gamma=10.0).fit(X, y)
    assert set(model.predict(X[:2])) == {2}
    assert rows_fit.MIN_HELD_OUT_POINTS > 2


def test_points_in_single_precision_are_not_copied(large, fitted):
    X, X_test, y, _ = large
    model = clone(fitted).fit(X.astype(np.float32), y)
    same = np.mean(model.predict(X_test) == fitted.predict(X_test))
    assert same > 0.97  # as for other permutations
    assert model.decision_function(X_test.astype(np.float32)).dtype == np.float64


def test_a_copy_of_the_data_counts_as_memory():
    X, y = make_blobs(2500, 200, centers=2, random_state=0)
    # Members take 1 MB, single-precision points 2 MB, a block of rows 1 MB.
    assert classifier(cache_size=5).fit(X, y).score(X, y) == 1
    with pytest.raises(ValueError, match="need at least"):
        classifier(cache_size=5).fit(X.tolist(), y)


@pytest.mark.parametrize("fit_intercept", [False, True])
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_kernels_that_overflow_are_refused(fit_intercept):
    X, y = make_blobs(2500, 20, centers=2, random_state=0)
    with pytest.raises(ValueError, match="Scale the features"):
        classifier(degree=200, fit_intercept=fit_intercept).fit(1000 * X, y)


@pytest.mark.parametrize("offset", [1e4, 1e8])
@pytest.mark.parametrize("kernel", ["rbf", "linear"])
def test_features_far_from_zero_keep_their_digits(large, kernel, offset):
    X, _, y, _ = large
    parameters = {"kernel": kernel, "fit_intercept": True, "softness": 0.5, "gamma": "scale"}
    near = classifier(**parameters).fit(X, y)
    far = classifier(**parameters).fit(X + offset, y)
    assert abs(far.score(X + offset, y) - near.score(X, y)) < 0.02


@pytest.mark.parametrize(
    "parameter", [{"n_members": -1}, {"n_members": None}, {"max_mistakes": "1"}]
)
def test_parameters_of_the_solver_are_checked_first(large, parameter):
    X, _, y, _ = large
    with pytest.raises(ValueError, match=f"The '{next(iter(parameter))}' parameter"):
        classifier(solver=Perceptron().set_params(**parameter)).fit(X, y)


def test_kernel_matrix_that_is_not_symmetric_is_refused():
    matrix = np.eye(300)
    matrix[0, 280] = 0.4
    with pytest.raises(ValueError, match=r"should be symmetric.*differ by 0\.4"):
        classifier(kernel="precomputed").fit(matrix, np.arange(300) % 2)


def test_a_fit_without_warm_start_forgets(large):
    X, _, y, _ = large
    model = classifier(solver=Perceptron(2), warm_start=True).fit(X, y)
    model.set_params(warm_start=False, random_state=7).fit(X, y)
    model.set_params(warm_start=True).fit(X, y)
    expected = classifier(solver=Perceptron(2), random_state=7).fit(X, y)
    assert np.array_equal(model.dual_coef_, expected.dual_coef_)


def test_going_on_with_another_function_starts_anew(large):
    X, y = large[0][:300], large[2][:300]
    gamma = [0.5]

    def own(A, B):
        return rbf_kernel(A, B, gamma=gamma[0])

    model = classifier(kernel=own, warm_start=True).fit(X, y)
    gamma[0] = 1.0
    with pytest.warns(UserWarning, match="starting from scratch"):
        model.fit(X, y)


@pytest.mark.parametrize("equal", [True, False])
def test_mistakes_that_cancel_are_no_error(equal):
    X = np.ones((4, 2)) if equal else np.random.default_rng(647).standard_normal((97, 1))
    y = [0, 1, 0, 1] if equal else [1] + [0] * 96
    with pytest.warns(ConvergenceWarning, match="found no hypothesis"):
        model = classifier(kernel="linear").fit(X, y)
    assert np.isfinite(model.decision_function(X)).all()


def test_memory_that_an_error_asks_for_is_enough():
    X, y = make_blobs(2500, 10, centers=10, random_state=0)
    model = classifier(cache_size=0.001, solver=Perceptron(50), max_time=1e-9)
    with pytest.raises(ValueError, match="need at least") as error:
        model.fit(X, y)
    needed = int(str(error.value).split("at least ")[1].split(" MB")[0])
    with pytest.warns(ConvergenceWarning, match="stopped early"):
        model.set_params(cache_size=needed).fit(X, y)


def test_duplicate_entries_of_sparse_points_add_up():
    D = np.random.default_rng(0).standard_normal((200, 4))
    y = (D[:, 0] > 0).astype(int)
    data, columns = np.repeat(D.ravel(), 2) * np.tile([3, -2], 800), np.repeat(range(4), 2)
    S = sparse.csr_array((data, np.tile(columns, 200), np.arange(0, 1601, 8)), shape=(200, 4))
    model = classifier(kernel="rbf", gamma=0.3, softness=0.1).fit(S, y)
    assert model.score(D, y) > 0.95
    assert np.array_equal(model.predict(S), model.predict(D))
    assert S.nnz == 1600  # the user's matrix is unchanged


def test_outputs_with_one_draw_are_not_settled():
    rng = np.random.default_rng(1)
    X = rng.standard_normal((150, 2))
    y = np.where(X[:, 0] > 1, 2, (X[:, 1] > 0).astype(int))
    solver = Perceptron(10, max_mistakes=60)
    with pytest.warns(ConvergenceWarning):
        model = classifier(kernel="rbf", solver=solver, softness=0.05).fit(X, y)
    errors = model.decision_std_error(X)
    assert model.draw_coef_.shape[1] > 1 or np.all(np.isinf(errors))
