import pickle
import subprocess
import sys
import time
import warnings
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext as does_not_raise

import joblib
import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.datasets import load_breast_cancer, load_iris, make_blobs, make_moons
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.metrics.pairwise import linear_kernel, rbf_kernel
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.utils.estimator_checks import parametrize_with_checks
from sklearn.utils.validation import check_is_fitted, validate_data
from threadpoolctl import threadpool_info

from bayespoint import BayesPointClassifier
from bayespoint.fitting import parameters
from bayespoint.geometry.conflicts import NoVersionSpaceError
from bayespoint.geometry.gram import IndefiniteKernelError
from bayespoint.solvers import Billiard
from helpers import processor_time_below

QUICK = Billiard(tol=0.2)


class HardPrecomputed(ClassifierMixin, BaseEstimator):
    """Hide a hard boundary with a precomputed kernel behind ordinary points.

    A bare precomputed kernel cannot pass scikit-learn's checks. One check demands an error
    for data that are not square; another (check_decision_proba_consistency) passes such data
    and demands an answer. Many checks have labels that no linear hypothesis can produce, and
    a hard boundary has to refuse those.
    """

    def __init__(self, random_state=None):
        self.random_state = random_state

    def fit(self, X, y):
        self.X_, y = validate_data(self, X, y, dtype=np.float64)
        solver = Billiard(n_bounces=20_000)
        model = BayesPointClassifier(
            kernel="precomputed", softness=0.0, solver=solver, random_state=self.random_state
        )
        self.model_ = model.fit(rbf_kernel(self.X_), y)
        self.classes_ = self.model_.classes_
        return self

    def _matrix(self, X):
        check_is_fitted(self)
        return rbf_kernel(validate_data(self, X, dtype=np.float64, reset=False), self.X_)

    def predict(self, X):
        matrix = self._matrix(X)
        return self.model_.predict(matrix)

    def predict_proba(self, X):
        matrix = self._matrix(X)
        return self.model_.predict_proba(matrix)

    def decision_function(self, X):
        matrix = self._matrix(X)
        return self.model_.decision_function(matrix)


@parametrize_with_checks(
    [
        BayesPointClassifier(),
        BayesPointClassifier(kernel="linear", softness=0.5),
        BayesPointClassifier("rbf", standardize=True),
        HardPrecomputed(),
    ]
)
@pytest.mark.filterwarnings("ignore:softness=:UserWarning")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_scikit_learn_contract(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def moons():
    X, y = make_moons(120, noise=0.25, random_state=0)
    return train_test_split(X, y, test_size=0.5, random_state=0)


@pytest.fixture(scope="module")
def iris():
    X, y = load_iris(return_X_y=True)
    return train_test_split(X, y, test_size=0.5, random_state=0, stratify=y)


@pytest.fixture(scope="module")
def fitted(iris):
    X, _, y, _ = iris
    return BayesPointClassifier(softness=0.1, random_state=0).fit(X, y)


def classifier(**parameters):
    return BayesPointClassifier(
        **{"softness": 0.1, "solver": QUICK, "random_state": 0, **parameters}
    )


# What it computes


def test_decision_function_is_the_mean_of_the_drawn_outputs(moons):
    X, X_test, y, _ = moons
    model = BayesPointClassifier(
        softness=0.1, random_state=0, solver=Billiard(tol=0.01, n_draws=2000)
    ).fit(X, y)
    draws = model.sample_decision(X_test)
    # The ball travels far enough between two draws to make them nearly independent.
    std_error = draws.std(axis=0) / np.sqrt(len(draws))
    error = np.hypot(std_error, model.decision_std_error(X_test))
    z = (draws.mean(axis=0) - model.decision_function(X_test)) / error
    assert np.sqrt(np.mean(z**2)) < 2


def test_decision_function_by_hand(moons):
    X, X_test, y, _ = moons
    model = classifier(kernel="poly", gamma=0.7, coef0=0.5, degree=2).fit(X, y)
    k = (0.7 * X_test @ model.support_vectors_.T + 0.5) ** 2
    own = (0.7 * np.sum(X_test**2, axis=1) + 0.5) ** 2 + model.constant_
    expected = (k @ model.dual_coef_[0] + model.intercept_[0]) / np.sqrt(own)
    np.testing.assert_allclose(model.decision_function(X_test), expected, rtol=1e-7)
    assert np.abs(expected).max() <= 1


def test_hard_boundary_classifies_the_training_data_correctly(moons):
    X, _, y, _ = moons
    model = classifier(softness=0.0, gamma=20.0).fit(X, y)
    assert model.score(X, y) == 1
    # Every single draw does too.
    assert np.all((model.sample_decision(X) > 0) == y)


def test_probabilities_are_calibrated_where_the_prior_is_right():
    # Labels come from the prior itself: f ~ N(0, K), y = sign(f + noise). The model uses one
    # spread for all points, so allow an error of 0.03 in each fifth of the probabilities.
    rng = np.random.default_rng(0)
    softness, stated, right = 0.2, [], []
    for _ in range(30):
        X = rng.standard_normal((120, 2))
        K = rbf_kernel(X, gamma=0.5) + softness * np.eye(120)
        y = (rng.multivariate_normal(np.zeros(120), K) > 0).astype(int)
        if len(set(y[:60])) < 2:
            continue
        model = classifier(gamma=0.5, softness=softness, fit_intercept=False).fit(X[:60], y[:60])
        stated.append(model.predict_proba(X[60:])[:, 1])
        right.append(y[60:])
    stated, right = np.concatenate(stated), np.concatenate(right)
    for fifth in np.array_split(np.argsort(stated), 5):
        p = stated[fifth].mean()
        # Points of one problem are correlated; count a fifth of them as independent.
        std_error = np.sqrt(5 * p * (1 - p) / len(fifth))
        assert abs(right[fifth].mean() - p) < 0.03 + 2 * std_error


def test_probabilities_far_from_the_data_carry_no_information(iris, moons):
    for X, _, y, _ in [iris, moons]:
        model = classifier(kernel="rbf", fit_intercept=False).fit(X, y)
        far = np.full((1, X.shape[1]), 1e3)
        np.testing.assert_allclose(model.predict_proba(far), 1 / len(model.classes_))


def test_probabilities_rank_like_decisions(moons):
    X, X_test, y, _ = moons
    model = classifier().fit(X, y)
    order = np.argsort(model.decision_function(X_test))
    assert np.all(np.diff(model.predict_proba(X_test)[order, 1]) >= 0)


def test_predict_is_the_most_probable_class(iris, moons):
    for X, X_test, y, _ in [iris, moons]:
        model = classifier().fit(X, y)
        probability = model.predict_proba(X_test)
        np.testing.assert_array_equal(
            model.predict(X_test), model.classes_[probability.argmax(axis=1)]
        )
        np.testing.assert_allclose(probability.sum(axis=1), 1)
        assert np.all((probability > 0) & (probability < 1))


def test_votes_are_the_majority_of_the_draws(iris, moons):
    for X, X_test, y, _ in [iris, moons]:
        model = classifier().fit(X, y)
        draws = model.sample_decision(X_test)
        winners = (draws > 0).astype(int) if draws.ndim == 2 else draws.argmax(axis=-1)
        expected = [np.bincount(column).argmax() for column in winners.T]
        np.testing.assert_array_equal(model.predict_vote(X_test), model.classes_[expected])
        # The Bayes point is nearly the best single hypothesis, so the two rarely differ.
        assert np.mean(model.predict_vote(X_test) == model.predict(X_test)) > 0.9


def test_better_than_chance_and_no_worse_than_svc(iris):
    X, X_test, y, y_test = iris
    model = BayesPointClassifier(softness=0.1, random_state=0).fit(X, y)
    # With 75 test points, one standard error of the difference is about 2 points.
    assert model.score(X_test, y_test) > SVC().fit(X, y).score(X_test, y_test) - 0.06


def test_confident_predictions_are_right_more_often():
    X, y = load_breast_cancer(return_X_y=True)
    X, X_test, y, y_test = train_test_split(X, y, test_size=0.6, random_state=0)
    model = make_pipeline(StandardScaler(), classifier()).fit(X, y)
    right = model.predict(X_test) == y_test
    confidence = np.abs(model.decision_function(X_test))
    sure = confidence >= np.quantile(confidence, 0.2)
    assert right[sure].mean() > right.mean() > right[~sure].mean()


def test_each_class_has_its_own_output_and_all_share_one_gram(fitted):
    assert fitted.dual_coef_.shape == (3, len(fitted.support_))
    assert fitted.intercept_.shape == (3,)
    assert fitted.draw_coef_.shape[::2] == (3, len(fitted.support_))
    assert fitted.diagnostics_.angle.shape == (3,)
    assert np.all(fitted.diagnostics_.angle <= Billiard().tol)


def test_hardest_examples_are_between_the_classes():
    X = np.linspace(-1, 1, 21)[:, None]
    y = (X[:, 0] > 0.02).astype(int)
    model = classifier(kernel="linear", softness=0.0).fit(X, y)
    indices, hits = model.hardest_examples(2)
    assert set(indices) == {10, 11}
    assert np.all(hits > 0)
    assert len(model.hardest_examples(100)[0]) == 21


def test_sampling_error_is_honest(moons):
    # Compare with a long run, in units of the stated error. Eight chains give a t distribution
    # with 7 degrees of freedom (root mean square 1.18); decisions at the 60 points are correlated.
    X, X_test, y, _ = moons
    exact = classifier(solver=Billiard(tol=0.01)).fit(X, y)
    z = []
    for seed in range(12):
        model = classifier(solver=Billiard(tol=0.1), random_state=seed).fit(X, y)
        error = np.hypot(model.decision_std_error(X_test), exact.decision_std_error(X_test))
        z.append((model.decision_function(X_test) - exact.decision_function(X_test)) / error)
    assert 0.6 < np.sqrt(np.mean(np.square(z))) < 1.9


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_sampling_error_is_unknown_before_the_balls_have_mixed(moons):
    X, X_test, y, _ = moons
    model = classifier(solver=Billiard(n_bounces=1000)).fit(X, y)
    assert not model.diagnostics_.mixed[0]
    assert np.all(model.decision_std_error(X_test) == np.inf)


def test_sampling_error_shrinks_with_tol(moons):
    X, X_test, y, _ = moons
    rough, fine = (
        classifier(solver=Billiard(tol=tol)).fit(X, y).decision_std_error(X_test).mean()
        for tol in [0.1, 0.01]
    )
    # Both errors may end somewhat below tol.
    assert fine < rough / 3


# Kinds of input


@pytest.mark.parametrize("kernel", ["linear", "poly", "rbf", "laplacian"])
def test_sparse_is_the_same_as_dense(moons, kernel):
    X, X_test, y, _ = moons
    dense = classifier(kernel=kernel).fit(X, y)
    csr = classifier(kernel=kernel).fit(sparse.csr_array(X), y)
    np.testing.assert_allclose(
        dense.decision_function(X_test),
        csr.decision_function(sparse.csr_matrix(X_test)),
        atol=3 * QUICK.tol,  # rounding differs, so the balls take other paths
    )
    assert sparse.issparse(csr.support_vectors_)


def test_precomputed_is_the_same_as_named(moons):
    X, X_test, y, _ = moons
    named = classifier(gamma=1.0).fit(X, y)
    K, K_test = rbf_kernel(X, gamma=1.0), rbf_kernel(X_test, X, gamma=1.0)
    precomputed = classifier(kernel="precomputed").fit(K, y)
    by_function = classifier(kernel=lambda A, B: rbf_kernel(A, B, gamma=1.0)).fit(X, y)
    for other, X_other in [(precomputed, K_test), (by_function, X_test)]:
        np.testing.assert_allclose(
            other.predict_proba(X_other), named.predict_proba(X_test), atol=3 * QUICK.tol
        )


def test_strings_and_pandas(moons):
    X, X_test, y, _ = moons
    frame = pd.DataFrame(X, columns=["left", "right"])
    labels = np.array(["no", "yes"])[y]
    model = classifier().fit(frame, labels)
    assert list(model.feature_names_in_) == ["left", "right"]
    assert set(model.predict(pd.DataFrame(X_test, columns=frame.columns))) == {"no", "yes"}
    with pytest.raises(ValueError, match="feature names"):
        model.predict(pd.DataFrame(X_test, columns=["right", "left"]))


@pytest.mark.parametrize("scale", [1e-8, 1e8])
@pytest.mark.parametrize("kernel", ["rbf", "linear"])
def test_units_of_the_features_do_not_matter(iris, kernel, scale):
    X, X_test, y, _ = iris
    plain = classifier(kernel=kernel).fit(X, y)
    scaled = classifier(kernel=kernel).fit(X * scale, y)
    np.testing.assert_allclose(
        scaled.decision_function(X_test * scale),
        plain.decision_function(X_test),
        atol=3 * QUICK.tol,
    )
    assert scaled.score(X * scale, y) > 0.8


@pytest.mark.parametrize("kernel", ["rbf", "linear"])
def test_far_from_zero(moons, kernel):
    X, _, y, _ = moons
    near = classifier(kernel=kernel).fit(X, y).score(X, y)
    assert classifier(kernel=kernel).fit(X + 1e6, y).score(X + 1e6, y) > near - 0.05


def test_features_too_small_for_double_precision():
    with pytest.raises(ValueError, match="too small for double precision"):
        classifier(kernel="linear").fit([[1e-170], [2e-170]], [0, 1])


# Hard cases: the right answer or a helpful error


def test_duplicates_change_nothing():
    X = np.array([[-1.0], [-1.0], [-1.0], [1.0], [1.0]])
    model = classifier(softness=0.0, kernel="linear").fit(X, [0, 0, 0, 1, 1])
    assert list(model.predict([[-2.0], [2.0]])) == [0, 1]


def test_rank_deficient_gram():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((50, 2))
    X = np.column_stack([X, X @ [1.0, 2.0], X @ [-1.0, 1.0]])
    y = (X @ [1, 1, 0, 1] > 0).astype(int)
    model = classifier(kernel="linear", softness=0.0, fit_intercept=False).fit(X, y)
    assert model.score(X, y) == 1
    assert len(model.support_) == 2


def test_conflicting_labels_are_named():
    X = [[0.0], [1.0], [1.0], [2.0]]
    with pytest.raises(NoVersionSpaceError, match=r"2 and 1.*softness") as caught:
        classifier(softness=0.0).fit(X, [0, 0, 1, 1])
    assert set(caught.value.conflict) == {1, 2}
    classifier(softness=0.1).fit(X, [0, 0, 1, 1])


@pytest.mark.filterwarnings("ignore:max_time=")
def test_conflicts_of_a_part_are_named_as_in_the_whole():
    rng = np.random.default_rng(0)
    X = np.repeat(rng.standard_normal((300, 2)), 2, axis=0)
    with pytest.raises(NoVersionSpaceError) as caught:
        classifier(kernel="rbf", softness=0.0, max_time=1e-6).fit(X, np.tile([0, 1], 300))
    conflict = caught.value.conflict
    assert len(conflict) % 2 == 0
    np.testing.assert_array_equal(conflict[::2] + 1, conflict[1::2])


def test_xor_with_a_linear_kernel_is_an_error_with_a_proof():
    X = np.array([[0.0, 0], [1, 1], [0, 1], [1, 0]])
    with pytest.raises(NoVersionSpaceError, match="contradict") as caught:
        classifier(kernel="linear", softness=0.0).fit(X, [0, 0, 1, 1])
    error = caught.value
    # Centered points have length sqrt(1/2), and so does the constant feature.
    z = np.column_stack([X - 0.5, np.full(4, np.sqrt(0.5))]) * [[-1], [-1], [1], [1]]
    assert np.all(error.weights >= 0)
    np.testing.assert_allclose(error.weights @ z[error.conflict], 0, atol=1e-9)


def test_a_point_at_the_origin():
    X = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [-1.0, 0.0]])
    y = [0, 1, 1, 0]
    hard = classifier(kernel="linear", softness=0.0, fit_intercept=False)
    with pytest.raises(NoVersionSpaceError, match=r"\[0\] lie at the origin"):
        hard.fit(X, y)
    with pytest.warns(UserWarning, match="1 training points lie at the origin"):
        model = classifier(kernel="linear", fit_intercept=False).fit(X, y)
    assert 0 not in model.support_
    assert list(model.predict(X[1:])) == [1, 1, 0]
    assert model.predict_proba(X[:1]) == pytest.approx(0.5)
    assert classifier(kernel="linear", softness=0.0).fit(X, y).score(X, y) == 1
    with pytest.raises(ValueError, match="All training points lie at the origin"):
        classifier(kernel="linear", fit_intercept=False).fit(np.zeros((4, 2)), y)


def test_one_sample_a_class():
    model = classifier(softness=0.0).fit([[0.0], [1.0], [2.0]], ["a", "b", "c"])
    assert list(model.predict([[0.0], [1.0], [2.0]])) == ["a", "b", "c"]
    assert classifier(softness=0.0).fit([[0.0], [1.0]], [0, 1]).score([[0.0], [1.0]], [0, 1]) == 1


def test_one_class_is_an_error():
    with pytest.raises(ValueError, match="at least two classes"):
        classifier().fit([[0.0], [1.0]], [1, 1])


def no_distance(A, B):
    """Return 1 - 0.1 |x - x'|^3 on a line, which is not a kernel."""
    return 1.0 - 0.1 * np.abs(A[:, :1] - B[:, :1].T) ** 3


@pytest.mark.parametrize(
    ("kernel", "warns"),
    # The first kernel needs a softness above 4.05, minus its smallest eigenvalue; the
    # candidates include 10. The second kernel needs 16.4.
    [("sigmoid", does_not_raise()), (no_distance, pytest.warns(UserWarning, match="semi-def"))],
    ids=["sigmoid", "callable"],
)
def test_indefinite_kernels_are_reported(kernel, warns):
    X, y = make_blobs(30, centers=2, random_state=0)
    model = classifier(kernel=kernel, gamma=0.3, coef0=0.0, softness=0.0, fit_intercept=False)
    with pytest.raises(IndefiniteKernelError, match=r"semi-definite.*softness=") as caught:
        model.fit(X, y)
    model.set_params(softness=caught.value.needed_softness).fit(X, y)
    with warns:
        model.set_params(softness="auto").fit(X, y)
    # Two eigenvalue problems of 30 points, each with its own rounding errors.
    rounding = len(X) * np.finfo(float).eps
    assert model.softness_ >= caught.value.needed_softness * (1 - rounding)


def test_negative_squared_lengths_are_reported():
    with pytest.raises(ValueError, match=r"k\(x, x\) = -0.* cannot be negative"):
        classifier(kernel="sigmoid", gamma=0.1, coef0=-1.0).fit([[0.0], [1.0]], [0, 1])


def test_auto_softness_is_larger_for_noisy_labels():
    X, y = make_moons(80, noise=0.5, random_state=0)
    noisy = classifier(softness="auto").fit(X, y)
    X, y = make_blobs(40, centers=2, random_state=0, cluster_std=0.5)
    clean = classifier(softness="auto").fit(X, y)
    assert clean.softness_ == parameters.SOFTNESS.min() < noisy.softness_


def test_default_arguments_fit_anything_finite():
    rng = np.random.default_rng(0)
    X = np.repeat(rng.standard_normal((15, 2)), 2, axis=0)
    y = np.tile([0, 1], 15)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = BayesPointClassifier(random_state=0).fit(X, y)
    np.testing.assert_allclose(model.predict_proba(X), 0.5, atol=0.1)


def test_memory_is_asked_for_before_it_is_taken():
    X = np.zeros((1000, 1))
    with pytest.raises(ValueError, match=r"1000 training points.*38.3 MB.*cache_size is 10"):
        classifier(cache_size=10).fit(X, np.arange(1000) % 2)


def test_errors_before_fitting_and_in_parameters(fitted):
    with pytest.raises(NotFittedError):
        classifier().predict([[0.0]])
    with pytest.raises(ValueError, match="softness"):
        classifier(softness=-1.0).fit([[0.0], [1.0]], [0, 1])
    with pytest.raises(ValueError, match=r"n_samples should be a whole number between 1 and 170"):
        fitted.sample_decision([[0.0] * 4], 1000)
    with pytest.raises(TypeError, match=r"pass Billiard\(\)"):
        classifier(solver=Billiard).fit([[0.0], [1.0]], [0, 1])
    with pytest.raises(ValueError, match="n_examples should be at least 1"):
        fitted.hardest_examples(0)
    with pytest.raises(ValueError, match=r"square"):
        classifier(kernel="precomputed").fit(np.ones((3, 2)), [0, 1, 0])
    assert fitted.sample_decision(fitted.support_vectors_[:2], 5).shape == (5, 2, 3)


# Use as a drop-in classifier


def test_same_seed_same_coefficients_whatever_n_jobs(iris):
    X, _, y, _ = iris
    one, two = (classifier(n_jobs=n_jobs).fit(X, y) for n_jobs in [1, 2])
    np.testing.assert_array_equal(one.dual_coef_, two.dual_coef_)
    np.testing.assert_array_equal(one.draw_coef_, two.draw_coef_)


@pytest.mark.parametrize("backend", ["loky", "threading"])
def test_the_joblib_backend_does_not_matter(iris, backend):
    X, _, y, _ = iris
    alone = classifier().fit(X, y)
    with joblib.parallel_config(backend=backend, n_jobs=2):
        other = classifier().fit(X, y)
    np.testing.assert_array_equal(alone.dual_coef_, other.dual_coef_)


def test_overlapping_fits_leave_blas_as_it_was(iris):
    X, _, y, _ = iris

    def threads():
        return [p["num_threads"] for p in threadpool_info() if p["user_api"] == "blas"]

    before = threads()
    with ThreadPoolExecutor(4) as pool:
        models = list(pool.map(lambda seed: classifier(random_state=seed).fit(X, y), range(6)))
    assert threads() == before
    np.testing.assert_array_equal(models[0].dual_coef_, classifier().fit(X, y).dual_coef_)


def test_pickle_clone_pipeline_and_grid_search(iris):
    X, X_test, y, y_test = iris
    grid = GridSearchCV(
        make_pipeline(StandardScaler(), classifier()),
        {"bayespointclassifier__softness": [0.1, 1.0], "bayespointclassifier__solver__tol": [0.3]},
        cv=2,
        scoring="neg_log_loss",
    ).fit(X, y)
    assert grid.score(X_test, y_test) > -0.7
    again = pickle.loads(pickle.dumps(grid.best_estimator_))
    np.testing.assert_array_equal(again.predict_proba(X_test), grid.predict_proba(X_test))
    assert clone(again[-1]).get_params()["solver__tol"] == 0.3


def test_fit_does_not_change_its_parameters(moons):
    X, _, y, _ = moons
    solver = Billiard(tol=0.2)
    model = classifier(solver=solver, kernel="rbf")
    before = {**model.get_params()}
    model.fit(X, y)
    assert model.get_params() == before


# Time


@pytest.fixture(scope="module")
def large():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((1500, 5))
    return X, (X[:, 0] + rng.standard_normal(1500) > 0).astype(int)


ENDLESS = Billiard(tol=0, n_bounces=10**12)


def test_max_time_returns_a_usable_classifier(large):
    X, y = large
    # Allow a second, plus enough time to prepare all points on a busy machine.
    began = time.perf_counter()
    with pytest.warns(ConvergenceWarning, match="n_bounces"):
        classifier(solver=Billiard(tol=0, n_bounces=8)).fit(X, y)
    max_time = 1 + 3 * (time.perf_counter() - began)
    with (
        pytest.warns(ConvergenceWarning, match=r"max_time\): .* bounces"),
        processor_time_below(max_time + 4),
    ):
        model = classifier(solver=ENDLESS, max_time=max_time).fit(X, y)
    assert model.score(X, y) > 0.65


@pytest.mark.filterwarnings("ignore:The solver stopped early")
def test_max_time_uses_a_part_of_the_points_if_it_has_to():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((3000, 5))
    y = np.digitize(X[:, 0], [-0.5, 0.5])
    y[0] = 3  # a class with one point
    with pytest.warns(ConvergenceWarning, match=r"max_time=0.2.*3000 training points.*random"):
        model = classifier(kernel="rbf", solver=ENDLESS, max_time=0.2).fit(X, y)
    assert list(model.classes_) == [0, 1, 2, 3]
    assert 0 in model.support_
    assert len(model.support_) < 1500
    assert model.diagnostics_.hits.shape == (4, 3000)
    assert model.score(X, y) > 0.8


CTRL_C = """
import os, signal, sys, threading, time, warnings
import numpy as np
from bayespoint import BayesPointClassifier
from bayespoint.solvers import Billiard

n_jobs = int(sys.argv[1])
rng = np.random.default_rng(0)
X = rng.standard_normal((300, 5))
y = (X[:, 0] > 0).astype(int)
solver = Billiard(tol=0, n_bounces=10**12)
BayesPointClassifier(softness=0.1, max_time=0.1, solver=solver).fit(X, y)
from bayespoint._runtime import interrupt

def press(seconds):
    while signal.getsignal(signal.SIGINT) is signal.default_int_handler:  # no fit has begun
        time.sleep(0.01)
    time.sleep(seconds)
    os.kill(os.getpid(), signal.SIGINT)

for i in range(10):
    interrupt._last_press = -10.0  # as if there were time between the presses
    threading.Thread(target=press, args=[0.1 + 0.013 * i]).start()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = BayesPointClassifier(softness=0.1, solver=solver, n_jobs=n_jobs).fit(X, y)
    assert "interrupted" in str(caught[-1].message)
    assert model.score(X, y) > 0.8
assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
"""


TWICE = """
import os, signal, threading
import numpy as np
from sklearn.model_selection import GridSearchCV
from bayespoint import BayesPointClassifier
from bayespoint.solvers import Billiard

rng = np.random.default_rng(0)
X = rng.standard_normal((300, 5))
y = (X[:, 0] > 0).astype(int)
model = BayesPointClassifier(solver=Billiard(tol=0, n_bounces=10**12))
for wait in [1.0, 1.5]:
    threading.Timer(wait, os.kill, (os.getpid(), signal.SIGINT)).start()
try:
    GridSearchCV(model, {"softness": [0.1, 0.2, 0.3]}, cv=2).fit(X, y)
except KeyboardInterrupt:
    print("stopped")
"""


def test_ctrl_c_twice_stops_a_search():
    command = [sys.executable, "-W", "ignore", "-c", TWICE]
    result = subprocess.run(command, capture_output=True, text=True, check=True, timeout=200)
    assert result.stdout == "stopped\n"


@pytest.mark.parametrize("n_jobs", ["1", "2"])
def test_ctrl_c_returns_a_usable_classifier(n_jobs):
    subprocess.run([sys.executable, "-W", "ignore", "-c", CTRL_C, n_jobs], check=True, timeout=300)


class StopAfter:
    """A callback that stops the fit."""

    def __init__(self, n_rounds):
        self.n_rounds = n_rounds
        self.seen = self.begun = self.ended = 0

    def setup(self, estimator, context):
        pass

    def teardown(self, estimator, context):
        pass

    def on_fit_task_begin(self, estimator, context):
        self.begun += 1

    def on_fit_task_end(self, estimator, context):
        self.ended += 1
        self.seen += context.task_name == "round"
        return context.task_name == "round" and self.seen >= self.n_rounds


def test_callbacks_see_rounds_and_may_stop(moons):
    pytest.importorskip("sklearn.callback", reason="scikit-learn 1.9 brought callbacks")
    X, _, y, _ = moons
    callback = StopAfter(3)
    model = classifier(solver=ENDLESS).set_callbacks(callback)
    with pytest.warns(ConvergenceWarning, match="callback"):
        model.fit(X, y)
    assert callback.seen == 3
    assert callback.begun == callback.ended


def test_progress_on_request(moons, capsys):
    X, _, y, _ = moons
    classifier(verbose=1).fit(X, y)
    assert "bounces, angle to the Bayes point" in capsys.readouterr().err


def test_progress_bar(moons):
    X, _, y, _ = moons
    callback = pytest.importorskip("sklearn.callback", reason="scikit-learn 1.9 brought callbacks")
    classifier().set_callbacks(callback.ProgressBar()).fit(X, y)


def test_linear_kernel_of_precomputed_agrees(moons):
    X, X_test, y, _ = moons
    plain = classifier(kernel="linear").fit(X, y)
    precomputed = classifier(kernel="precomputed").fit(linear_kernel(X), y)
    np.testing.assert_array_equal(
        plain.predict(X_test), precomputed.predict(linear_kernel(X_test, X))
    )
