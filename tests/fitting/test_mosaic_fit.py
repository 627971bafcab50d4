"""Training by a mosaic: its kernel as one dense matrix, weights, time, memory, odd tables."""

import os
import pickle
import re
import signal
import time

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.utils.estimator_checks import parametrize_with_checks
from threadpoolctl import threadpool_limits

import bayespoint
from bayespoint import BayesPointClassifier, bounds, to_arviz
from bayespoint._runtime import interrupt
from bayespoint._runtime.share_done import heard_by
from bayespoint.fitting import mosaic_fit
from bayespoint.fitting.mosaic_fit import coherent_points, memory_needed, n_held_in
from bayespoint.fitting.outputs import cell_coordinates
from bayespoint.solvers import Mosaic, mosaic
from bayespoint.solvers.cells import nearest
from many_points import noisy

SEED = int(os.environ.get("BAYESPOINT_TEST_SEED", "0"))
SINGLE, DOUBLE = (float(np.finfo(kind).eps) for kind in (np.float32, np.float64))
GIVEN = {"kernel": "rbf", "gamma": 0.5, "softness": 0.3, "random_state": 0}
SMALL = Mosaic(10, 20)


def classifier(**parameters):
    return BayesPointClassifier(**{**GIVEN, "solver": SMALL, **parameters})


def table(m=90, n_classes=3, seed=SEED):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(m, 2))
    s = X[:, 0] + 0.5 * rng.normal(size=m)
    return X, np.searchsorted(np.quantile(s, np.arange(1, n_classes) / n_classes), s)


@pytest.fixture(scope="module", autouse=True)
def _one_openmp_thread():
    """Let k-means use one core: its threads wait for each other where other tests need theirs."""
    with threadpool_limits(limits=1, user_api="openmp"):
        yield


@pytest.fixture
def single(monkeypatch):
    """Use single precision, however few points there are."""
    monkeypatch.setattr(mosaic_fit, "rounding_is_small", lambda *_: True)


@pytest.fixture
def double(monkeypatch):
    """Refuse single precision."""
    monkeypatch.setattr(mosaic_fit, "rounding_is_small", lambda *_: False)


# scikit-learn's contract


@parametrize_with_checks(
    [
        BayesPointClassifier(solver="mosaic"),
        BayesPointClassifier(solver=Mosaic(10, 10), kernel="rbf"),
    ],
)
def test_scikit_learn_contract(estimator, check):
    check(estimator)


# The dense twin


class Twin:
    """The regression with the kernel of a fitted mosaic as one dense matrix."""

    def __init__(self, model, X, y, weight=None, rows=None):
        X = model._read_points(X)  # columns as the kernel gets them
        self.model, self.X, self.rows = model, X, np.arange(len(y)) if rows is None else rows
        self.weight = np.ones(len(y)) if weight is None else weight
        self.kernel = model._fitted_kernel()
        self.landmarks = X[model.landmarks_]
        n_classes = len(model.classes_)
        codes = np.eye(n_classes)[np.searchsorted(model.classes_, y)] - 1 / n_classes
        self.codes = codes[:, 1:] if n_classes == 2 else codes
        used = np.ix_(self.rows, self.rows)
        self.noisy = self.matrix(X)[used] / model.softness_ + np.diag(1 / self.weight[self.rows])
        self.inverse = np.linalg.inv(self.noisy)
        self.coef = np.zeros_like(self.codes)
        self.coef[self.rows] = self.inverse @ self.codes[self.rows]

    def unit(self, X, Y):
        return self.kernel(X, Y) / np.outer(self.kernel.lengths(X), self.kernel.lengths(Y))

    def features(self, X):
        """Return the coordinates of points in an orthonormal basis of the landmarks."""
        lower = np.linalg.cholesky(self.unit(self.landmarks, self.landmarks))
        return np.linalg.solve(lower, self.unit(self.landmarks, X)).T

    def cells(self, X):
        return nearest(cell_coordinates(self.kernel, X), self.model.cell_centers_)

    def matrix(self, X):
        """Return the kernel of the mosaic between points and training points."""
        same = self.cells(X)[:, None] == self.cells(self.X)
        Q = self.features(X) @ self.features(self.X).T
        return np.where(same, self.unit(X, self.X), Q)

    def outputs(self, X):
        X = self.model._read_points(X)
        return self.matrix(X) @ self.coef / self.model.softness_

    def left_out(self):
        """Return the outputs at points when one of their copies is really left out."""
        outputs, weight = np.empty((len(self.rows), self.codes.shape[1])), self.weight[self.rows]
        K, codes = self.noisy - np.diag(1 / weight), self.codes[self.rows]
        for i in range(len(K)):
            less = weight.copy()
            less[i] -= 1
            kept = np.flatnonzero(less)
            noisy = K[np.ix_(kept, kept)] + np.diag(1 / less[kept])
            outputs[i] = K[i, kept] @ np.linalg.solve(noisy, codes[kept])
        return outputs

    def scale(self):
        """Return the prior deviation of outputs that makes the codes most probable."""
        misfit = np.sum(self.codes * self.coef, axis=0) / self.model.softness_
        return np.sqrt(misfit.mean() / self.weight[self.rows].sum())

    def tolerance(self, eps):
        """Return the error of an output.

        The features of a point have an error of eps times the norm of the basis and the root of
        the number of landmarks, and Q has twice that. Values of the kernel have an error of eps
        for each feature and a few more. These errors have any sign: over m points they add up
        like their root, in units of the noise. Codes and the inverse are at most one. Four
        times this is never exceeded.
        """
        basis = np.linalg.inv(np.linalg.cholesky(self.unit(self.landmarks, self.landmarks)))
        r, m = len(basis), len(self.noisy)
        of_values = 2 * (self.X.shape[1] + 6)
        kernel = eps * (of_values + 2 * np.sqrt(r) * np.linalg.norm(basis, 2))
        return 4 * kernel * np.sqrt(m) / self.model.softness_


def assert_is_twin(model, X, y, weight=None, eps=SINGLE):
    twin = Twin(model, X, y, weight)
    new = np.random.default_rng(SEED + 1).normal(size=(80, X.shape[1]))
    atol = twin.tolerance(eps)
    for T in (new, new[:5], X):
        found = model.probit_scale_ * model._decide(T)
        np.testing.assert_allclose(found, twin.outputs(T), rtol=0, atol=atol)
    # A probability changes at most this many times as fast as an output: its power over a floor.
    steep = max(1.0, model.link_power_ / model.link_floor_)
    known = model._probabilities(twin.left_out())
    # Leaving a point out divides by the freedom of its residual.
    least = min(1.0, np.diagonal(twin.inverse).min())
    np.testing.assert_allclose(model.loo_proba_, known, rtol=0, atol=steep * atol / least)
    return twin


@pytest.mark.parametrize("n_classes", [2, 3, 5])
def test_single_precision_is_the_regression_with_the_kernel_of_the_mosaic(n_classes, single):
    X, y = table(n_classes=n_classes)
    model = classifier(gamma=2.0).fit(X, y)  # landmarks that are almost orthogonal
    assert model._single
    assert len(model.cell_centers_) > 2
    assert len(model.landmarks_) >= 9
    twin = assert_is_twin(model, X, y)
    # The whole kernel, and cells without landmarks, are other regressions.
    outputs = model.probit_scale_ * model._decide(X)
    K = twin.unit(X, X)
    cells = K * (twin.cells(X)[:, None] == twin.cells(X))
    for other in (K, cells):
        alpha = np.linalg.solve(other + 0.3 * np.eye(len(X)), twin.codes)
        assert np.abs(other @ alpha - outputs).max() > 10 * twin.tolerance(SINGLE)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("kernel", ["rbf", "laplacian", "linear", "poly", "auto"])
def test_double_precision_is_the_regression_with_the_kernel_of_the_mosaic(
    kernel, n_classes, double
):
    X, y = table(n_classes=n_classes)
    given = {"gamma": "auto"} if kernel == "auto" else {}
    model = classifier(kernel=kernel, **given).fit(X, y)
    assert not model._single
    assert model.kernel_ == ("mixture" if kernel == "auto" else kernel)
    assert_is_twin(model, X, y, eps=10 * DOUBLE)


def test_weights_are_copies_in_the_dense_matrix(double):
    X, y = table()
    weight = np.random.default_rng(SEED).integers(1, 3, len(y)).astype(float)
    model = classifier().fit(X, y, weight)
    twin = assert_is_twin(model, X, y, weight, eps=10 * DOUBLE)
    assert np.abs(Twin(model, X, y).outputs(X) - twin.outputs(X)).max() > 0.01


def test_evidence_is_that_of_the_dense_matrix(double):
    X, y = table()
    model = classifier().fit(X, y)
    twin = Twin(model, X, y)
    covariance = twin.scale() ** 2 * model.softness_ * twin.noisy
    _, log_det = np.linalg.slogdet(2 * np.pi * covariance)
    solved = np.linalg.solve(covariance, twin.codes)
    expected = -0.5 * (np.sum(twin.codes * solved) + 3 * log_det)
    assert model.log_evidence_ == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("precision", ["single", "double"])
@pytest.mark.parametrize("solver", [Mosaic(10, 100), Mosaic(100, 20)], ids=["one cell", "all"])
def test_one_cell_or_all_points_as_landmarks_are_the_exact_regression(solver, precision, request):
    request.getfixturevalue(precision)
    X, y = table()
    ours, exact = (classifier(solver=s).fit(X, y) for s in (solver, "regression"))
    twin = Twin(ours, X, y)
    eps = SINGLE if precision == "single" else 10 * DOUBLE
    # Landmarks that add a squared length below 1e-5 to the others are left out, which changes
    # what points of two cells know of each other by at most as much.
    dropped = 1e-5 * len(X) / 0.3 if solver.n_points < len(X) else 0.0
    atol = twin.tolerance(eps) + dropped
    new = np.random.default_rng(SEED + 1).normal(size=(80, 2))
    found, known = (m.probit_scale_ * m.decision_function(new) for m in (ours, exact))
    np.testing.assert_allclose(found, known, rtol=0, atol=atol)
    steep = max(1.0, exact.link_power_ / exact.link_floor_)
    np.testing.assert_allclose(
        ours.loo_proba_, exact.loo_proba_, rtol=0, atol=10 * steep * atol + 1e-4
    )


@pytest.mark.parametrize("softness", [1e-2, 1e-3, 1e-4, 1e-5])
def test_points_in_clusters_are_counted_where_precision_is_judged(softness, monkeypatch):
    """All points of a cluster have the same rounding errors, which add up."""
    rng = np.random.default_rng(SEED)
    X = rng.normal(size=(1000, 20))
    X *= 5 / np.linalg.norm(X, axis=1, keepdims=True)
    X[:800] = 0
    X[:800, 0] = rng.choice([-0.004, 0.004], 800)
    y = ((X[:, 0] > 0) ^ (rng.random(1000) < 0.2)).astype(int)
    monkeypatch.setattr(mosaic_fit, "MAX_COPIED_POINTS", 1)
    model = classifier(gamma=1.0, softness=softness, fit_intercept=False, solver=Mosaic(300, 500))
    chosen = clone(model).fit(X, y)
    monkeypatch.setattr(mosaic_fit, "rounding_is_small", lambda *_: False)
    exact = clone(model).fit(X, y)
    found, known = (m.probit_scale_ * m.decision_function(X) for m in (chosen, exact))
    # Outputs are estimates of probabilities: two percent, or noise that changes by ten percent.
    np.testing.assert_allclose(found, known, rtol=0, atol=2e-2)


# Draws


def test_draws_have_the_covariance_of_the_landmarks_part():
    X, y = table(n_classes=2)
    model = classifier(solver=Mosaic(10, 20, n_draws=512)).fit(X, y)
    twin = Twin(model, X, y)
    new = np.random.default_rng(SEED + 1).normal(size=(8, 2))
    off = model.sample_decision(new) - model.decision_function(new)
    n = len(off)
    assert n == 512
    Phi, P = twin.features(new), twin.features(X)
    unit = (twin.scale() / model.probit_scale_) ** 2
    known = unit * Phi @ (np.eye(len(P.T)) - P.T @ twin.inverse @ P / model.softness_) @ Phi.T
    # Five standard errors of eight means and of 36 entries of a sample covariance.
    spread = np.diagonal(known)
    assert np.all(np.abs(off.mean(axis=0)) < 5 * np.sqrt(spread / n))
    error = np.sqrt((np.outer(spread, spread) + known**2) / n)
    assert np.all(np.abs(off.T @ off / n - known) < 5 * error)
    # The prior, and a posterior of twice the deviation, are other laws.
    for wrong in (unit * Phi @ Phi.T, 4 * known):
        assert np.any(np.abs(off.T @ off / n - wrong) > 5 * error)


def test_draws_of_several_classes_share_the_votes():
    X, y = table(n_classes=5)
    model = classifier(solver=Mosaic(10, 20, n_draws=200)).fit(X, y)
    assert model.sample_decision(X).shape == (512 // 5, len(X), 5)
    assert model.sample_decision(X, 7).shape == (7, len(X), 5)
    assert np.mean(model.predict_vote(X) == model.predict(X)) > 0.8
    assert np.all(model.decision_std_error(X) == 0)


# Weights: promised where the answer does not depend on landmarks and cells


@pytest.mark.parametrize("n_classes", [2, 3])
def test_weights_are_repetitions_if_there_is_one_cell(n_classes, double):
    X, y = table(n_classes=n_classes)
    times = np.random.default_rng(SEED).integers(0, 4, len(y))
    rows = np.repeat(np.arange(len(y)), times)
    model = classifier(solver=Mosaic(10, 1000))
    weighted, repeated = clone(model).fit(X, y, times), clone(model).fit(X[rows], y[rows])
    atol = Twin(repeated, X[rows], y[rows]).tolerance(10 * DOUBLE)
    found, known = (m.probit_scale_ * m.decision_function(X) for m in (weighted, repeated))
    np.testing.assert_allclose(found, known, rtol=0, atol=atol)
    np.testing.assert_allclose(weighted.predict_proba(X), repeated.predict_proba(X), atol=1e-4)
    assert weighted.log_evidence_ == pytest.approx(repeated.log_evidence_, rel=1e-8)
    assert np.isnan(weighted.loo_proba_[times == 0]).all()
    np.testing.assert_allclose(weighted.loo_proba_[rows], repeated.loo_proba_, atol=1e-4)
    # A weight that is wrong on purpose is seen.
    wrong = clone(model).fit(X, y, np.minimum(times, 1))
    assert np.abs(wrong.predict_proba(X) - repeated.predict_proba(X)).max() > 1e-3


def test_zero_is_removal_in_every_bit():
    X, y = table()
    weight = (np.random.default_rng(SEED).random(len(y)) < 0.7).astype(float)
    kept = np.flatnonzero(weight)
    weighted, removed = classifier().fit(X, y, weight), classifier().fit(X[kept], y[kept])
    np.testing.assert_array_equal(weighted.decision_function(X), removed.decision_function(X))
    np.testing.assert_array_equal(weighted.support_, kept[removed.support_])
    np.testing.assert_array_equal(weighted.landmarks_, kept[removed.landmarks_])
    np.testing.assert_array_equal(weighted.landmark_vectors_, X[weighted.landmarks_])
    np.testing.assert_array_equal(weighted.loo_proba_[kept], removed.loo_proba_)


# Time


class Slow:
    """Do something at the beginning of each cell."""

    def __init__(self, monkeypatch, action):
        condense, self.n_begun = mosaic.condense, 0

        def wrapped(*arguments):
            self.n_begun += 1
            action(self.n_begun)
            return condense(*arguments)

        monkeypatch.setattr(mosaic, "condense", wrapped)


def press_at(number):
    def press(n_begun):
        if n_begun == number:
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(0.05)  # for the main thread to notice

    return press


class StopAfter:
    """Stop a fit after some rounds, through scikit-learn's callbacks."""

    def __init__(self, n_rounds):
        self.n_rounds = n_rounds

    def setup(self, estimator, context):
        pass

    def teardown(self, estimator, context):
        pass

    def on_fit_task_begin(self, estimator, context):
        pass

    def on_fit_task_end(self, estimator, context):
        self.n_rounds -= context.task_name == "round"
        return context.task_name == "round" and self.n_rounds <= 0


def interrupted(monkeypatch, X, y, **parameters):
    """Return a mosaic that was interrupted by Ctrl-C in its second cell."""
    monkeypatch.setattr(interrupt, "_last_press", -10.0)
    Slow(monkeypatch, press_at(2))
    with pytest.warns(ConvergenceWarning, match=r"interrupted.*of \d+ cells"):
        return classifier(**parameters).fit(X, y)


def assert_is_partial(model, X):
    """Assert that an answer has some cells and says so; return the rows that were used."""
    (n_done,), (n_cells,) = model.diagnostics_.n_done, model.diagnostics_.n_cells
    assert 1 <= n_done < n_cells == len(model.cell_centers_)
    reached = nearest(X, model.cell_centers_) < n_done
    np.testing.assert_array_equal(np.isnan(model.loo_proba_).any(axis=1), ~reached)
    np.testing.assert_array_equal(model.diagnostics_.hits[0] > 0, reached)
    np.testing.assert_array_equal(model.support_, np.flatnonzero(reached))
    return np.flatnonzero(reached)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_ctrl_c_keeps_the_cells_so_far(n_jobs, monkeypatch):
    X, y = table(400, 2)
    model = interrupted(monkeypatch, X, y, n_jobs=n_jobs)
    assert model.diagnostics_.stop == "interrupted"
    assert_is_partial(model, X)


@pytest.mark.parametrize("kernel", ["rbf", "laplacian", "linear", "auto"])
def test_after_ctrl_c_other_cells_have_the_part_of_the_landmarks(kernel, monkeypatch):
    X, y = table(400, 2)
    given = {"gamma": "auto", "softness": 0.3} if kernel == "auto" else {}
    solver = Mosaic(10, 80)  # cells with enough points for single precision
    model = interrupted(monkeypatch, X, y, kernel=kernel, solver=solver, **given)
    rows = np.flatnonzero(np.isfinite(model.loo_proba_).all(axis=1))
    twin = Twin(model, X, y, rows=rows)
    for T in (X, X[:7]):
        found = model.probit_scale_ * model._decide(T)
        np.testing.assert_allclose(found, twin.outputs(T), rtol=0, atol=twin.tolerance(SINGLE))
    assert np.isfinite(model.predict_proba(X)).all()
    assert model.sample_decision(X, 3).shape == (3, 400)


def test_a_callback_keeps_the_cells_so_far():
    pytest.importorskip("sklearn.callback", reason="scikit-learn 1.9 brought callbacks")
    X, y = table(400, 2)
    model = classifier().set_callbacks(StopAfter(3))
    with pytest.warns(ConvergenceWarning, match="callback"):
        model.fit(X, y)
    assert model.diagnostics_.n_done == 3
    assert_is_partial(model, X)


def test_a_deadline_keeps_the_cells_so_far(monkeypatch):
    monkeypatch.setattr(mosaic_fit, "affordable_points", lambda task, rows, _: np.arange(len(rows)))
    Slow(monkeypatch, lambda _: time.sleep(0.05))
    X, y = table(400, 2)
    with pytest.warns(ConvergenceWarning, match=r"max_time.*of \d+ cells.*Raise max_time"):
        model = classifier(max_time=0.3).fit(X, y)
    assert_is_partial(model, X)


def test_a_deadline_that_passes_in_the_last_cell_stops_nothing(monkeypatch):
    monkeypatch.setattr(mosaic_fit, "affordable_points", lambda task, rows, _: np.arange(len(rows)))
    X, y = table(400, 2)
    n_cells = classifier().fit(X, y).diagnostics_.n_cells[0]
    Slow(monkeypatch, lambda n: time.sleep(0.3 * (n == n_cells)))
    model = classifier(max_time=0.3).fit(X, y)  # a warning would be an error
    assert (model.diagnostics_.n_done[0], model.diagnostics_.stop[0]) == (n_cells, "done")


def test_a_short_time_uses_some_points():
    X, y = noisy(3000)
    with pytest.warns(ConvergenceWarning) as caught:
        model = classifier(max_time=1e-3).fit(X, y)
    assert re.search(r"max_time=0.001 is too short.*\d+ of them", str(caught[0].message))
    used = np.isfinite(model.loo_proba_).all(axis=1)
    assert 0 < used.sum() < 3000
    near = nearest(X, model.cell_centers_) < model.diagnostics_.n_done[0]
    assert model.score(X[near], y[near]) > 0.5 + 3 * 0.5 / np.sqrt(near.sum())  # above chance


# Memory


def test_memory_is_asked_for_before_it_is_taken():
    X, y = table(400, 2)
    message = r"landmarks and cells of up to \d+ points need up to \d+ MB, but cache_size leaves 0"
    with pytest.raises(ValueError, match=rf"{message}\. Raise cache_size, or lower n_landmarks"):
        classifier(solver=Mosaic(300, 200), cache_size=0.1).fit(X, y)


def least_cache_size(solver, X, y):
    """Return the megabytes that the error message asks for."""
    with pytest.raises(ValueError, match="MB") as caught:
        classifier(solver=solver, cache_size=0.1).fit(X, y)
    return int(re.search(r"up to (\d+) MB", str(caught.value))[1])


def test_the_memory_that_an_error_names_is_enough_and_gives_the_same_bits(monkeypatch):
    limits, solve = [], Mosaic.solve

    def spy(self, *arguments, **options):
        limits.append((options["n_held"], options["n_at_once"]))
        return solve(self, *arguments, **options)

    X, y = table(1500, 2)
    solver = Mosaic(300, 200)
    least = least_cache_size(solver, X, y)
    monkeypatch.setattr(Mosaic, "solve", spy)
    little = classifier(solver=solver, cache_size=least, n_jobs=2).fit(X, y)
    much = classifier(solver=solver, n_jobs=2).fit(X, y)
    # Few cells are held between the passes, and one is computed at a time.
    n_cells = len(much.cell_centers_)
    assert limits[0][0] < n_cells
    assert limits == [(limits[0][0], 1), (n_cells, 2)]
    for name in ("dual_coef_", "landmark_coef_", "draw_coef_", "loo_proba_"):
        np.testing.assert_array_equal(getattr(little, name), getattr(much, name))


def test_more_of_everything_needs_more_memory():
    one = memory_needed(10_000, 2, Mosaic(500, 500))
    assert memory_needed(20_000, 2, Mosaic(500, 500)) > one
    assert memory_needed(10_000, 3, Mosaic(500, 500)) > one
    assert memory_needed(10_000, 2, Mosaic(600, 500)) > one
    assert memory_needed(10_000, 2, Mosaic(500, 600)) > one
    assert memory_needed(10_000, 2, Mosaic(500, 500), itemsize=8) > 1.5 * one
    assert memory_needed(10_000, 2, Mosaic(500, 500), n_at_once=2) > one
    # Five of 500 x 500, and of a cell one of 1000 x 1000, 1000 x 500 and 500 x 500 each.
    matrices = 4 * (5 * 500**2 + 1000**2 + 1000 * 500 + 500**2) / 2**20
    assert one > matrices


def test_cells_are_held_by_their_own_size():
    # With 30 landmarks in double precision: 8 * 10 * 40, 8 * 20 * 50 and 8 * 10 * 40 bytes.
    sizes, bytes_of_cells = [10, 20, 10], np.array([3200, 8000, 3200])
    for n in range(4):
        enough = bytes_of_cells[:n].sum() / 2**20
        assert n_held_in(enough, sizes, 30, 8) == n
        assert n_held_in(enough - 1e-6, sizes, 30, 8) == max(n - 1, 0)
    assert n_held_in(enough, sizes, 30, 4) == 3
    assert n_held_in(enough / 2, sizes, 30, 4) == 3


def test_rounding_errors_of_different_cells_do_not_add_up():
    solver = Mosaic(100, 50)
    assert coherent_points(80, 80, solver) == 80  # one cell
    assert coherent_points(10_000, 100, solver) == 1000  # a hundred cells: ten times one of them
    assert coherent_points(10_000, 103, solver) == 1000  # with a few points more, for each class


# Kernels and tables


@pytest.mark.parametrize("n_classes", [2, 5])
@pytest.mark.parametrize("kernel", ["rbf", "laplacian", "linear", "poly", "sparse", "auto"])
def test_all_predictions_agree(kernel, n_classes):
    X, y = table(150, n_classes)
    name = {"sparse": "rbf"}.get(kernel, kernel)
    given = {"gamma": "auto", "softness": "auto"} if kernel == "auto" else {}
    as_given = sparse.csr_array if kernel == "sparse" else np.asarray
    model = classifier(kernel=name, **given).fit(as_given(X), y)
    assert not (model._single and kernel == "laplacian")
    new = np.concatenate([X, np.random.default_rng(1).normal(0, 3, (50, 2)), 1e3 * X[:9]])
    p, decision = model.predict_proba(as_given(new)), model.decision_function(as_given(new))
    np.testing.assert_array_equal(model.predict(as_given(new)), p.argmax(axis=1))
    np.testing.assert_allclose(p.sum(axis=1), 1)
    assert np.abs(decision).max() <= 1
    assert np.isfinite(model.loo_proba_).all()
    assert model.score(as_given(X), y) > 0.9 / n_classes
    if n_classes == 2:
        assert (np.diff(p[np.argsort(decision), 1]) >= 0).all()
    # One row is computed in double precision, and a batch in single.
    alone = np.concatenate([model._decide(as_given(new[i : i + 1])) for i in range(0, 90, 9)])
    both = model.probit_scale_ * np.abs(alone - model._decide(as_given(new))[:90:9])
    if kernel != "auto":
        assert both.max() < Twin(model, X, y).tolerance(SINGLE)
    assert both.max() < 1e-3


def test_sparse_is_the_same_as_dense(double):
    X, y = table()
    X = np.round(X)
    dense, thin = (classifier().fit(A, y) for A in (X, sparse.csr_array(X)))
    np.testing.assert_array_equal(dense.landmarks_, thin.landmarks_)
    np.testing.assert_allclose(
        thin.predict_proba(sparse.csr_array(X)), dense.predict_proba(X), atol=1e-6
    )


def test_a_precomputed_kernel_has_no_features_to_divide_by():
    X, y = table()
    with pytest.raises(ValueError, match=r"precomputed.*Pass solver=.regression"):
        classifier(kernel="precomputed").fit(rbf_kernel(X), y)


def test_flipped_labels_are_refused():
    with pytest.raises(ValueError, match=r"Mosaic does not support label noise"):
        classifier(label_noise=0.1).fit(*table())


def odd_tables():
    """Return tables that may do harm, with labels that some column explains."""
    X, y = table(300, 2)
    rng = np.random.default_rng(SEED)
    few = rng.integers(0, 3, (300, 2)).astype(float)
    outlier = X.copy()
    outlier[0, 0], outlier[1, 1] = 1e6, -1e6
    single = y.copy()
    single[7] = 2
    return {
        "duplicates": (few, (few[:, 0] + 0.3 * rng.normal(size=300) > 1).astype(int)),
        "constant columns": (np.column_stack([X, np.zeros(300), np.full(300, 7.0)]), y),
        "a class with a single row": (X, single),
        "outliers of a million deviations": (outlier, y),
        "single precision": (X.astype(np.float32), y),
        "one feature": (X[:, :1], y),
        "text": (np.where(X > 0, "a", "b").astype(object), y),
        "missing values": (np.where(rng.random(X.shape) < 0.1, np.nan, X), y),
    }


@pytest.mark.parametrize("kernel", ["rbf", "auto"])
@pytest.mark.parametrize("name", odd_tables())
def test_odd_tables_are_learned(name, kernel):
    X, y = odd_tables()[name]
    given = {"gamma": "auto", "softness": "auto"} if kernel == "auto" else {"standardize": True}
    model = classifier(kernel=kernel, solver=Mosaic(50, 60), **given).fit(X, y)
    p = model.predict_proba(X)
    assert np.isfinite(p).all()
    np.testing.assert_array_equal(model.predict(X), model.classes_[p.argmax(axis=1)])
    if kernel == "rbf" and "million" in name:
        return  # in units of a deviation all other points are equal
    assert model.score(X, y) > 0.7
    assert np.mean(model.classes_[np.argmax(model.loo_proba_, axis=1)] == y) > 0.65


@pytest.mark.filterwarnings("ignore:.*training points are left out:UserWarning")
@pytest.mark.parametrize("kernel", ["rbf", "auto"])
def test_equal_points_have_the_share_of_their_classes(kernel):
    """One cell cannot be divided, and has more points than it may hold: a part stands for all."""
    X, y = np.ones((300, 2)), (np.arange(300) % 5 == 0).astype(int)
    given = {"gamma": "auto"} if kernel == "auto" else {}
    model = classifier(kernel=kernel, solver=Mosaic(50, 20), **given).fit(X, y)
    assert len(model.landmarks_) == 1
    # Forty points with one fifth of positive ones: three standard errors of their share.
    p = model.predict_proba(X[:1])[0, 1]
    assert p == pytest.approx(0.2, abs=3 * np.sqrt(0.2 * 0.8 / 40) + 0.02)


def test_points_at_the_origin_of_feature_space_are_left_out():
    X, y = table(n_classes=2)
    X[:9] = 0
    with pytest.warns(UserWarning, match="9 training points lie at the origin"):
        model = classifier(kernel="linear", fit_intercept=False).fit(X, y)
    assert np.isnan(model.loo_proba_[:9]).all()
    np.testing.assert_array_equal(model.decision_function(X[:9]), 0)


def test_a_hard_boundary_learns_almost_by_heart():
    X, y = table()
    model = classifier(softness=0.0).fit(X, y)
    assert not model._single
    assert model.score(X, y) > 0.95


# Determinism, attributes, files


@pytest.mark.parametrize("kernel", ["rbf", "auto"])
def test_threads_do_not_matter(kernel):
    X, y = table(400)
    given = {"gamma": "auto"} if kernel == "auto" else {}
    one, two = (
        classifier(kernel=kernel, solver=Mosaic(50, 60), n_jobs=n, **given).fit(X, y)
        for n in (1, 2)
    )
    for name in ("dual_coef_", "landmark_coef_", "draw_coef_", "loo_proba_", "log_evidence_"):
        np.testing.assert_array_equal(getattr(one, name), getattr(two, name))
    np.testing.assert_array_equal(one.predict_proba(X), two.predict_proba(X))


def test_attributes_have_the_shapes_that_are_documented():
    X, y = table()
    model = classifier().fit(X, y)
    n_cells, r = len(model.cell_centers_), len(model.landmarks_)
    assert model.landmark_vectors_.shape == (r, 2)
    assert model.landmark_coef_.shape == (n_cells, 3, r)
    assert model.draw_coef_.shape == (3, 512 // 3, r)
    assert model.chain_coef_.shape == (3, 2, r)
    assert not np.any(model.chain_coef_)
    assert model.dual_coef_.shape == (3, len(X))
    np.testing.assert_array_equal(model.landmark_vectors_, X[model.landmarks_])
    assert model.diagnostics_.n_done.tolist() == [n_cells] * 3
    assert model.diagnostics_.stop.tolist() == ["done"] * 3
    assert np.all(model.diagnostics_.resultant <= 1)
    assert len(model.hardest_examples(7)[0]) == 7


def test_other_solvers_have_no_landmarks():
    X, y = table()
    model = classifier().fit(X, y)
    names = ("landmarks_", "landmark_vectors_", "landmark_coef_", "cell_centers_")
    assert all(hasattr(model, name) for name in names)
    model.set_params(solver="regression").fit(X, y)
    assert not any(hasattr(model, name) for name in names)
    assert model.decision_function(X).shape == (len(X), 3)


def test_copies_and_files_predict_the_same(tmp_path):
    X, y = table(150)
    model = classifier(kernel="auto", gamma="auto").fit(X, y)
    bayespoint.save(model, tmp_path / "mosaic.bpm")
    for copy in (pickle.loads(pickle.dumps(model)), bayespoint.load(tmp_path / "mosaic.bpm")):
        for method in ("predict", "predict_proba", "decision_function", "sample_decision"):
            for T in (X, X[:3]):
                np.testing.assert_array_equal(getattr(copy, method)(T), getattr(model, method)(T))
    again = clone(model).fit(X, y)
    assert repr(clone(model)) == repr(model)
    np.testing.assert_array_equal(again.dual_coef_, model.dual_coef_)


def test_progress_on_request(capsys):
    X, y = table()
    model = classifier(verbose=1).fit(X, y)
    n_cells = len(model.cell_centers_)
    assert f"[bayespoint] {n_cells} of {n_cells} cells" in capsys.readouterr().err


def test_close_points_that_no_cell_can_hold_are_left_out_with_a_warning():
    # K-means cannot tell these points apart, but they are not equal.
    X, y = 1 + 1e-15 * np.arange(600).reshape(300, 2), np.arange(300) % 2
    with pytest.warns(UserWarning, match="260 of 300 training points are left out"):
        BayesPointClassifier("rbf", gamma=1.0, softness=0.1, solver=Mosaic(5, 20)).fit(X, y)


def test_an_indefinite_kernel_is_explained(rng):
    X = rng.standard_normal((200, 3))
    model = BayesPointClassifier("sigmoid", gamma=1.0, coef0=0.0, solver=Mosaic(100, 100))
    with pytest.raises(ValueError, match=r'needs a positive semi-definite kernel.*"perceptron"'):
        model.set_params(softness=0.5).fit(X, (X[:, 0] > 0).astype(int))


def test_bounds_refuse_cells(rng):
    X = rng.standard_normal((200, 3))
    y = (X[:, 0] > 0).astype(int)
    model = BayesPointClassifier("rbf", gamma=1.0, softness=0.5, solver=Mosaic(20, 50)).fit(X, y)
    with pytest.raises(ValueError, match="A machine in cells has another kernel"):
        bounds.normalized_margins(model, X, y)


def test_draws_for_arviz_are_on_the_landmarks(rng):
    pytest.importorskip("arviz")
    X = rng.standard_normal((200, 3))
    y = (X[:, 0] > 0).astype(int)
    model = BayesPointClassifier("rbf", gamma=1.0, softness=0.5, solver=Mosaic(20, 50)).fit(X, y)
    found = to_arviz(model, X[:5]).posterior
    assert found["coef"].dims[2:] == ("output", "landmark")
    np.testing.assert_array_equal(found["landmark"], model.landmarks_)
    assert found["decision"].shape[-1] == 5


def test_a_fit_and_predictions_say_how_much_is_done():
    X, y = noisy(600)
    heard = {}
    with heard_by(lambda share, step: heard.setdefault(step, []).append(share)):
        model = BayesPointClassifier(solver=Mosaic(50, 100), random_state=0).fit(X, y)
        model.predict_proba(X)
    assert list(heard) == ["choosing", "fitting", "predicting"]
    for step, shares in heard.items():
        assert shares == sorted(shares)
        assert shares[-1] == 1 or step == "choosing"  # which may be settled early
        assert len(shares) > 3
