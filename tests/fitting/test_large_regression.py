"""Label regression in place: small tables that take the path of large ones give the same answer."""

import os
import signal
import time
from functools import partial

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import rbf_kernel

from bayespoint import BayesPointClassifier
from bayespoint._runtime import interrupt
from bayespoint._runtime.sample_weight import MAX_WEIGHT
from bayespoint.fitting import gram_fit, mixture_candidates, regression_fit
from bayespoint.fitting.regression_fit import DRAW_LANDMARKS
from bayespoint.solvers import Regression, regression
from bayespoint.solvers.regression import leave_one_out
from bayespoint.solvers.tiled_cholesky import factor
from mutants import interpreted
from weight_checks import WEIGHT_PRECISION

SEED = int(os.environ.get("BAYESPOINT_TEST_SEED", "0"))
SINGLE, DOUBLE = (float(np.finfo(kind).eps) for kind in (np.float32, np.float64))
GIVEN = {"kernel": "rbf", "gamma": 0.5, "softness": 0.3, "random_state": 0, "solver": "regression"}


def classifier(**parameters):
    return BayesPointClassifier(**{**GIVEN, **parameters})


def table(m=120, n_classes=3, seed=SEED):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(m, 2))
    s = X[:, 0] + 0.5 * rng.normal(size=m)
    return X, np.searchsorted(np.quantile(s, np.arange(1, n_classes) / n_classes), s)


def take_the_large_path(monkeypatch):
    for module in (gram_fit, regression_fit):
        monkeypatch.setattr(module, "MAX_COPIED_POINTS", 1)


@pytest.fixture
def large(monkeypatch):
    """Take the path of many points for every table."""
    take_the_large_path(monkeypatch)


@pytest.fixture
def double(monkeypatch):
    """Refuse single precision."""
    monkeypatch.setattr(regression_fit, "MAX_ROUNDING", -1.0)


def both(monkeypatch, model, X, y, weight=None):
    """Return the answers of the path for few points and of that for many."""
    few = clone(model).fit(X, y, weight)
    with monkeypatch.context() as patch:
        take_the_large_path(patch)
        many = clone(model).fit(X, y, weight)
    assert ("n_points" in few.diagnostics_, "n_points" in many.diagnostics_) == (False, True)
    return few, many


def tolerance(model, weight=1.0, eps=SINGLE):
    """Return the error of an output.

    Values of the kernel have an error of about 20 eps: sums over a few features, lengths, an
    exponential. In units of the noise it changes the matrix by m weight / softness times as
    much, and its inverse, at most the weight in these units, does not amplify it.
    """
    return 20 * eps * len(model.loo_proba_) * weight / max(model.softness_, 1e-9)


def assert_same_answer(few, many, X, weight=1.0, eps=SINGLE):
    atol = tolerance(few, weight, eps)
    new = np.random.default_rng(SEED + 1).normal(size=(100, X.shape[1]))
    for T in (new, new[:5]):
        here, there = (m.probit_scale_ * m.decision_function(T) for m in (few, many))
        np.testing.assert_allclose(there, here, rtol=0, atol=atol)
    # A probability changes at most this many times as fast as an output; the link has four digits.
    steep = max(1.0, few.link_power_ / few.link_floor_)
    atol = 10 * steep * atol + 1e-4
    np.testing.assert_allclose(many.predict_proba(new), few.predict_proba(new), rtol=0, atol=atol)
    np.testing.assert_allclose(many.loo_proba_, few.loo_proba_, rtol=0, atol=atol)
    rel = 10 * tolerance(few, weight, eps)
    assert many.log_evidence_ == pytest.approx(few.log_evidence_, rel=rel)
    assert many.probit_scale_ == pytest.approx(few.probit_scale_, rel=rel)
    # Differences of squares have this error, not their roots.
    here, there = (m.diagnostics_.resultant**2 for m in (few, many))
    np.testing.assert_allclose(there, here, rtol=0, atol=rel)


# Agreement of the solver with its twin


def problem(m=70, n_outputs=3, seed=SEED):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(m, 3))
    codes = np.eye(n_outputs)[rng.integers(n_outputs, size=m)] - 1 / n_outputs
    return rbf_kernel(X, gamma=0.5), codes, rng.choice([0.5, 1.0, 2.0], m)


def solver_agrees(module, dtype=np.float64, softness=0.2):
    """Tell whether solving in place is the same as leaving one point out after the other."""
    unit, codes, weight = problem()
    # What is above the diagonal is not read.
    matrix = np.where(np.tri(len(unit), dtype=bool), unit, np.nan).astype(dtype)
    solution, units = module.Regression().solve_large(matrix, codes, softness, weight)
    known = leave_one_out(unit / softness, codes, weight)
    exact = Regression().solve(unit, codes, softness, np.random.default_rng(0), weight)
    # A few eps for each row, times the condition number.
    condition = np.linalg.cond(unit / softness + np.diag(1 / weight))
    atol = 4 * len(unit) * float(np.finfo(dtype).eps) * condition
    squared = np.einsum("ic,ic->c", known.coef, unit @ known.coef) / softness**2
    least = known.freedom.min()
    pairs = [
        (solution.coef, known.coef, atol),
        (solution.inverse_diagonal, np.diagonal(known.inverse), atol),
        (solution.outputs, known.outputs, atol / least),
        (solution.log_det, known.log_det, len(unit) * atol),
        (solution.squared, squared, atol * squared.max()),
        (units.length, exact.length, 10 * atol * exact.length),
        (units.resultant, exact.resultant, 10 * atol),
        (units.log_evidence, exact.info["log_evidence"], 10 * len(unit) * atol),
    ]
    return all(np.allclose(a, b, rtol=0, atol=most) for a, b, most in pairs)


@pytest.mark.parametrize("softness", [0.01, 1.0])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("tile", [7, 512])
def test_solving_in_place_is_leaving_one_out(tile, dtype, softness, monkeypatch):
    monkeypatch.setattr(regression, "factor", partial(factor, tile=tile))
    monkeypatch.setattr(regression, "BLOCK_ROWS", 3 * tile)
    assert solver_agrees(regression, dtype, softness)


BROKEN = {
    "no weights": ("matrix.flat[:: m + 1] += 1 / weight", "matrix.flat[:: m + 1] += 1"),
    "another noise": ("matrix.dtype.type(1 / softness)", "matrix.dtype.type(softness)"),
    "half of the diagonal": ("inverse_diagonal[: rows.stop] +=", "inverse_diagonal[rows] +="),
    "the length of the codes": ("coef * (codes - coef / weight[:, None])", "coef * codes"),
    "the factor of the inverse": ("+= here.T @ half[rows]", "+= 2 * here.T @ half[rows]"),
}


@pytest.mark.parametrize("change", BROKEN.values(), ids=BROKEN)
def test_a_broken_version_is_noticed(change):
    broken = interpreted(regression, *change)
    broken.BLOCK_ROWS = 20  # several blocks
    try:
        noticed = not solver_agrees(broken)
    except ValueError:  # shapes that do not fit
        noticed = True
    assert noticed


def test_several_blocks_are_no_mistake():
    whole = interpreted(regression)
    whole.BLOCK_ROWS = 20
    assert solver_agrees(whole)


# Agreement of fits


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("kernel", ["rbf", "laplacian", "linear", "poly", "auto"])
def test_both_paths_agree(kernel, n_classes, monkeypatch):
    X, y = table(n_classes=n_classes)
    given = {"gamma": "auto"} if kernel == "auto" else {}
    few, many = both(monkeypatch, classifier(kernel=kernel, **given), X, y)
    assert not few._single
    assert many._single == (kernel != "laplacian")
    assert_same_answer(few, many, X)


@pytest.mark.parametrize("softness", [1e-6, 0.01, 3.0])
@pytest.mark.parametrize("kernel", ["rbf", "linear", "poly", "auto"])
def test_both_paths_agree_in_double_precision(kernel, softness, double, monkeypatch):
    X, y = table()
    given = {"gamma": "auto"} if kernel == "auto" else {}
    model = classifier(kernel=kernel, softness=softness, **given)
    few, many = both(monkeypatch, model, X, y)
    assert not many._single
    assert_same_answer(few, many, X, eps=DOUBLE)


def test_other_kinds_of_points_agree(monkeypatch, double):
    X, y = table()
    thin = sparse.csr_array(np.round(X))
    few, many = both(monkeypatch, classifier(), thin, y)
    np.testing.assert_allclose(many.predict_proba(thin), few.predict_proba(thin), atol=1e-6)
    K = rbf_kernel(X)
    few, many = both(monkeypatch, classifier(kernel="precomputed"), K, y)
    np.testing.assert_allclose(many.predict_proba(K), few.predict_proba(K), atol=1e-6)
    few, many = both(monkeypatch, classifier(kernel=rbf_kernel), X, y)
    assert_same_answer(few, many, X, eps=DOUBLE)
    few, many = both(monkeypatch, classifier(), X.astype(np.float32), y)
    assert_same_answer(few, many, X, eps=DOUBLE)


def test_points_at_the_origin_of_feature_space_have_no_effect(monkeypatch):
    X, y = table()
    X[:9] = 0
    few, many = both(monkeypatch, classifier(kernel="linear", fit_intercept=False), X, y)
    assert_same_answer(few, many, X)
    np.testing.assert_array_equal(many.decision_function(X[:9]), 0)


@pytest.mark.parametrize("kernel", ["rbf", "auto"])
def test_odd_tables_agree(kernel, monkeypatch):
    X, y = table()
    given = {"gamma": "auto"} if kernel == "auto" else {}
    outlier, alone = X.copy(), y.copy()
    outlier[0, 0] = 1e6
    alone[5] = 7
    tables = [
        (np.round(X), y),  # duplicates
        (np.column_stack([X, np.full(len(X), 3.0)]), y),
        (X[:, :1], y),
        (outlier, y),
        (np.ones((120, 2)), y),
        (X, alone),  # a class with a single row
    ]
    for Z, target in tables:
        few, many = both(monkeypatch, classifier(kernel=kernel, **given), Z, target)
        # Three features, and sums of larger coordinates in linear and squared distances.
        assert_same_answer(few, many, Z)


def test_an_indefinite_kernel_with_enough_noise_agrees(monkeypatch):
    """Noise makes the matrix of sigmoid positive definite, for few points and for many."""
    X, y = table(n_classes=2)
    model = classifier(kernel="sigmoid", gamma=0.1, softness=5.0)
    few, many = both(monkeypatch, model, X, y)
    here, there = (m.probit_scale_ * m.decision_function(X) for m in (few, many))
    np.testing.assert_allclose(there, here, rtol=0, atol=10 * tolerance(few))


def test_an_indefinite_kernel_with_too_little_noise_is_an_explained_error(large):
    X, y = table(600, 2)  # more than the landmarks
    with pytest.raises(ValueError, match=r"positive.*larger softness|pass softness="):
        classifier(kernel="sigmoid", gamma=1.0, softness=1e-3).fit(X, y)


# Precision


def test_single_precision_is_used_where_it_is_exact_enough(large):
    X, y = table()
    for softness, is_single in ((1.0, True), (1e-2, True), (1e-6, False), (0.0, False)):
        assert classifier(softness=softness).fit(X, y)._single == is_single
    # A large weight is a small noise.
    weight = np.where(np.arange(len(y)) == 0, 1e6, 1.0)
    assert not classifier().fit(X, y, weight)._single


def clusters(gap, m=500, n_features=20, seed=SEED):
    """Return points of which most are at one of two places close together, and noisy labels."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(m, n_features))
    X *= 5 / np.linalg.norm(X, axis=1, keepdims=True)
    X[: 4 * m // 5] = 0
    X[: 4 * m // 5, 0] = rng.choice([-gap, gap], 4 * m // 5)
    return X, ((X[:, 0] > 0) ^ (rng.random(m) < 0.2)).astype(int)


@pytest.mark.parametrize("gap", [0.004, 0.02, 0.1])
@pytest.mark.parametrize("softness", [1e-2, 1e-3, 3e-4, 1e-4, 3e-5, 1e-5])
def test_points_in_clusters_are_counted_where_precision_is_judged(softness, gap, monkeypatch):
    """All points of a cluster have the same rounding errors, which add up."""
    X, y = clusters(gap)
    model = classifier(gamma=1.0, fit_intercept=False, softness=softness)
    few, many = both(monkeypatch, model, X, y)
    here, there = (model.probit_scale_ * model.decision_function(X) for model in (few, many))
    # Outputs are estimates of probabilities: two percent, or noise that changes by ten percent.
    np.testing.assert_allclose(there, here, rtol=0, atol=2e-2)


# Draws


@pytest.mark.parametrize("n_classes", [2, 3])
def test_draws_have_the_law_of_the_posterior_if_all_points_are_landmarks(n_classes, large):
    X, y = table(80, n_classes)
    weight = np.random.default_rng(SEED).choice([1.0, 2.0], len(y))
    model = classifier(gamma=3.0, solver=Regression(n_draws=512)).fit(X, y, weight)
    assert len(X) <= DRAW_LANDMARKS
    some = slice(0, 8)
    off = model.sample_decision(X)[:, some] - model.decision_function(X)[some]
    n = len(off)
    K = (rbf_kernel(X, gamma=3.0) + 1) / 2
    C = K / 0.3 + np.diag(1 / weight)
    codes = np.eye(n_classes)[y] - 1 / n_classes
    codes = codes[:, 1:] if n_classes == 2 else codes
    misfit = np.sum(codes * np.linalg.solve(C, codes), axis=0) / 0.3
    unit = misfit.mean() / weight.sum() / model.probit_scale_**2
    known = unit * (K - K @ np.linalg.solve(C, K) / 0.3)[some, some]
    spread = np.diagonal(known)
    # Five standard errors of 8 means, and of 36 entries of a sample covariance, for each class.
    error = np.sqrt((np.outer(spread, spread) + known**2) / n)
    for each in np.moveaxis(off.reshape(n, 8, -1), 2, 0):
        assert np.all(np.abs(each.mean(axis=0)) < 5 * np.sqrt(spread / n))
        assert np.all(np.abs(each.T @ each / n - known) < 5 * error)
        # The prior, and a posterior of twice the deviation, are other laws.
        for wrong in (unit * K[some, some], 4 * known):
            assert np.any(np.abs(each.T @ each / n - wrong) > 5 * error)


def test_draws_in_the_span_of_some_landmarks_vote_like_the_mean(large, monkeypatch):
    monkeypatch.setattr(regression_fit, "DRAW_LANDMARKS", 15)
    X, y = table(200)
    model = classifier().fit(X, y)
    assert np.mean(model.predict_vote(X) == model.predict(X)) > 0.9
    off = model.draw_coef_ - model.dual_coef_[:, None]
    assert 10 <= np.sum(np.any(off != 0, axis=(0, 1))) <= 15
    assert np.all(model.decision_std_error(X) == 0)


# Weights


@pytest.mark.parametrize("precision", [SINGLE, DOUBLE], ids=["single", "double"])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_weights_are_repetitions(n_classes, precision, large, request):
    if precision == DOUBLE:
        request.getfixturevalue("double")
    X, y = table(n_classes=n_classes)
    times = np.random.default_rng(SEED).integers(0, 4, len(y))
    rows = np.repeat(np.arange(len(y)), times)
    weighted, repeated = classifier().fit(X, y, times), classifier().fit(X[rows], y[rows])
    assert weighted._single == (precision == SINGLE)
    atol = 3 * tolerance(repeated, eps=precision)
    found, known = (m.probit_scale_ * m.decision_function(X) for m in (weighted, repeated))
    np.testing.assert_allclose(found, known, rtol=0, atol=max(atol, WEIGHT_PRECISION))
    np.testing.assert_allclose(
        weighted.loo_proba_[rows], repeated.loo_proba_, atol=1e-4 + 10 * atol
    )
    assert np.isnan(weighted.loo_proba_[times == 0]).all()
    assert weighted.log_evidence_ == pytest.approx(repeated.log_evidence_, rel=10 * atol)
    # A weight that is wrong on purpose is seen.
    wrong = classifier().fit(X, y, np.minimum(times, 1))
    assert np.abs(wrong.probit_scale_ * wrong.decision_function(X) - known).max() > 10 * atol


def test_zero_is_removal_in_every_bit(large):
    X, y = table()
    weight = (np.random.default_rng(SEED).random(len(y)) < 0.7).astype(float)
    kept = np.flatnonzero(weight)
    weighted, removed = classifier().fit(X, y, weight), classifier().fit(X[kept], y[kept])
    np.testing.assert_array_equal(weighted.decision_function(X), removed.decision_function(X))
    np.testing.assert_array_equal(weighted.support_, kept[removed.support_])
    np.testing.assert_array_equal(weighted.draw_coef_, removed.draw_coef_)


WEIGHTS = {
    "that decay by e every two rows": np.exp(-np.arange(120) / 2),  # down to 1e-26
    "that decay by e every row": np.exp(-np.arange(120)),  # down to 1e-52: not in single precision
    "of a million for a row": np.where(np.arange(120) == 3, 1e6, 1.0),
    "of a billion for all rows": np.full(120, 1e9),
    "as large as allowed for a row": np.where(np.arange(120) == 3, MAX_WEIGHT, 1.0),
}


@pytest.mark.parametrize("name", WEIGHTS)
def test_both_paths_agree_with_weights(name, monkeypatch):
    X, y = table(n_classes=2)
    few, many = both(monkeypatch, classifier(), X, y, WEIGHTS[name])
    here, there = (m.probit_scale_ * m.decision_function(X) for m in (few, many))
    np.testing.assert_allclose(there, here, rtol=0, atol=1e-3)
    assert np.isfinite(many.loo_proba_).all()
    np.testing.assert_allclose(many.loo_proba_, few.loo_proba_, rtol=0, atol=1e-2)
    assert np.isfinite(many.log_evidence_)


def test_mixtures_are_chosen_quietly_with_weights_that_decay(large, monkeypatch):
    monkeypatch.setattr(mixture_candidates, "MAX_POINTS_WITHOUT_CANDIDATES", 1)
    X, y = table(n_classes=2)
    model = classifier(kernel="auto", gamma="auto", softness="auto")
    model.fit(X, y, WEIGHTS["that decay by e every row"])  # a warning would be an error
    assert np.isfinite(model.loo_proba_).all()


# Time


def stop_at_tile(monkeypatch, number, action):
    """Factor in tiles of twenty rows, and do something after one of them."""

    def slow(matrix, thread_map=map, is_over=None):
        def watched(n_rows):
            if n_rows == 20 * number:
                action()
            return is_over(n_rows)

        return factor(matrix, thread_map, 20, watched)

    monkeypatch.setattr(regression, "factor", slow)
    monkeypatch.setattr(regression_fit, "DRAW_LANDMARKS", 15)


def press():
    os.kill(os.getpid(), signal.SIGINT)
    time.sleep(0.01)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("n_tiles", [1, 4])
def test_ctrl_c_keeps_the_answer_of_the_points_so_far(n_tiles, n_classes, large, monkeypatch):
    X, y = table(n_classes=n_classes)
    monkeypatch.setattr(interrupt, "_last_press", -10.0)
    stop_at_tile(monkeypatch, n_tiles, press)
    with pytest.warns(ConvergenceWarning, match=rf"interrupted.*: {20 * n_tiles} of 120 points"):
        model = classifier().fit(X, y)
    used = np.flatnonzero(np.isfinite(model.loo_proba_).all(axis=1))
    assert len(used) == 20 * n_tiles
    assert model.diagnostics_.n_done[0] == 20 * n_tiles
    np.testing.assert_array_equal(model.support_, used)
    np.testing.assert_array_equal(model.diagnostics_.hits[0] > 0, np.isin(np.arange(120), used))
    # The same as a fit on these points alone: their order and the draws are random.
    monkeypatch.undo()
    alone = classifier().fit(X[used], y[used])
    assert_same_answer(alone, _only(model, used), X)


def _only(model, used):
    """Return a model whose results are those of the rows that were used."""
    model.loo_proba_ = model.loo_proba_[used]
    return model


def test_a_deadline_keeps_the_answer_of_the_points_so_far(large, monkeypatch):
    X, y = table()
    monkeypatch.setattr(regression_fit, "choose_rows", lambda task: np.arange(len(y)))
    stop_at_tile(monkeypatch, 3, partial(time.sleep, 0.5))
    with pytest.warns(ConvergenceWarning, match=r"max_time.*: 60 of 120 points.*Raise max_time"):
        model = classifier(max_time=0.5).fit(X, y)
    assert model.score(X, y) > 0.5


def test_a_deadline_that_passes_in_the_last_tile_stops_nothing(large, monkeypatch):
    X, y = table()
    monkeypatch.setattr(regression_fit, "choose_rows", lambda task: np.arange(len(y)))
    stop_at_tile(monkeypatch, 6, partial(time.sleep, 0.5))
    model = classifier(max_time=0.5).fit(X, y)  # a warning would be an error
    assert model.diagnostics_.stop[0] == "done"


def test_many_rare_classes_and_a_stop_in_the_first_tile(large, monkeypatch):
    """Each class has a landmark: there may be more of them than rows in a tile."""
    X, y = table(n_classes=2)
    y = y.copy()
    y[:30] = np.arange(30) + 2
    monkeypatch.setattr(interrupt, "_last_press", -10.0)
    stop_at_tile(monkeypatch, 1, press)
    with pytest.warns(ConvergenceWarning, match="interrupted"):
        model = classifier().fit(X, y)
    assert np.isfinite(model.predict_proba(X)).all()


# Determinism, memory, behavior


@pytest.mark.parametrize("kernel", ["rbf", "auto"])
def test_threads_do_not_matter(kernel, large, monkeypatch):
    monkeypatch.setattr(regression_fit, "GRAM_ROWS", 50)
    monkeypatch.setattr(regression, "factor", partial(factor, tile=50))
    X, y = table(300)
    given = {"gamma": "auto"} if kernel == "auto" else {}
    one, two = (classifier(kernel=kernel, n_jobs=n, **given).fit(X, y) for n in (1, 2))
    for name in ("dual_coef_", "draw_coef_", "loo_proba_", "log_evidence_"):
        np.testing.assert_array_equal(getattr(one, name), getattr(two, name))
    np.testing.assert_array_equal(one.predict_proba(X), two.predict_proba(X))


def test_the_order_of_the_rows_does_not_matter(large):
    X, y = table()
    order = np.random.default_rng(SEED).permutation(len(y))
    a, b = classifier().fit(X, y), classifier().fit(X[order], y[order])
    here, there = (m.probit_scale_ * m.decision_function(X) for m in (a, b))
    np.testing.assert_allclose(there, here, rtol=0, atol=2 * tolerance(a))
    np.testing.assert_allclose(b.loo_proba_, a.loo_proba_[order], rtol=0, atol=1e-4)


def test_all_predictions_agree(large):
    X, y = table(150)
    model = classifier().fit(X, y)
    new = np.concatenate([X, np.random.default_rng(1).normal(0, 3, (50, 2)), 1e3 * X[:9]])
    p, decision = model.predict_proba(new), model.decision_function(new)
    np.testing.assert_array_equal(model.predict(new), p.argmax(axis=1))
    np.testing.assert_allclose(p.sum(axis=1), 1)
    assert np.abs(decision).max() <= 1
    # One row is computed in double precision, and a batch in single.
    alone = np.concatenate([model.decision_function(new[i : i + 1]) for i in range(0, 200, 9)])
    gap = np.abs(alone - decision[:200:9]).max()
    assert 0 < model.probit_scale_ * gap < tolerance(model)
    assert len(model.hardest_examples(7)[0]) == 7


def test_memory_is_asked_for_before_it_is_taken(large):
    X, y = table(600, 2)
    with pytest.raises(ValueError, match=r"600 training points.*cache_size is 1\. Raise"):
        classifier(cache_size=1).fit(X, y)
    # One matrix, and draws: not several matrices.
    few = gram_fit.memory_needed(600, 1, Regression())
    assert few == pytest.approx(8 * 600 * (600 + 4 * 256) / 2**20)


def test_memory_that_is_not_set_does_no_harm(large, monkeypatch):
    """The part above the diagonal is not computed, so numbers that were there must not matter."""
    X, y = table()
    clean = classifier().fit(X, y)
    empty = np.empty

    def dirty(shape, dtype=float, **options):
        found = empty(shape, dtype, **options)
        if found.dtype.kind == "f":
            found.fill(np.finfo(found.dtype).max)
        return found

    monkeypatch.setattr(np, "empty", dirty)
    again = classifier().fit(X, y)
    np.testing.assert_array_equal(again.dual_coef_, clean.dual_coef_)


def test_progress_on_request(large, capsys):
    classifier(verbose=1).fit(*table())
    assert "[bayespoint] 120 of 120 points" in capsys.readouterr().err


def test_the_path_for_many_points_begins_after_two_thousand():
    assert gram_fit.MAX_COPIED_POINTS == 2000
    assert not gram_fit.is_solved_in_place(2000, Regression())
    assert gram_fit.is_solved_in_place(2001, Regression())
    X, y = table(2001, 2)
    model = classifier().fit(X, y)
    assert model._single
    assert model.score(X, y) > 0.8
