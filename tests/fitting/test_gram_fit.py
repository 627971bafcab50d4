"""Training with the whole Gram matrix: memory, fallback, indefinite kernels."""

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import log_loss

from bayespoint import BayesPointClassifier
from bayespoint.fitting import gram_fit
from bayespoint.fitting.gram_fit import _affordable_jobs, _seconds, memory_needed
from bayespoint.fitting.task import Task
from bayespoint.fitting.time_budget import solve_at_once
from bayespoint.geometry.problem import Problem
from bayespoint.solvers import EP, Billiard, Corners, Regression
from bayespoint.solvers.propagation.approximation import MAX_TRUSTED_RESIDUAL

X = np.random.default_rng(0).standard_normal((50, 2))
Y = (X[:, 0] > 0).astype(int)


def test_memory_counts_matrices_and_draws():
    m = 1000
    assert memory_needed(m, 1, EP(n_draws=2)) == pytest.approx(8 * m * (4 * m + 8) / 2**20)
    assert memory_needed(m, 1, Corners()) > memory_needed(m, 1, Billiard())
    assert memory_needed(m, 3, EP()) > memory_needed(m, 1, EP())
    assert memory_needed(m, 1, object()) == memory_needed(m, 1, Billiard())
    # A label regression of 300 classes draws 16 hypotheses of each, not 256.
    assert memory_needed(m, 300, Regression()) == pytest.approx(
        8 * m * (5 * m + 4 * 300 * 16) / 2**20
    )


def test_time_of_a_regression_does_not_depend_on_the_number_of_classes():
    def seconds(n_outputs, solver):
        signs = np.ones((n_outputs, 3))
        task = Task(X, signs, Y, None, solver, 0.1, np.random.default_rng(0))
        return _seconds(task, np.array([1000]))

    assert seconds(10, Regression()) == seconds(1, Regression())
    assert seconds(10, EP()) > seconds(1, EP())


def test_too_little_memory_is_an_error_before_the_matrix_is_made():
    def kernel(a, b):
        raise AssertionError("computed")

    with pytest.raises(ValueError, match=r"need up to .* MB, but cache_size is 0.001"):
        BayesPointClassifier(
            lambda a, b: a @ b.T if len(a) < 50 else kernel(a, b),
            solver="billiard",
            softness=0.1,
            cache_size=0.001,
            fit_intercept=False,
        ).fit(X, Y)


def test_outputs_in_threads_have_the_bits_of_outputs_in_turn(monkeypatch):
    three = Y + (X[:, 1] > 0.5)
    used = []

    def at_once(*given):
        used.append(given)
        return solve_at_once(*given)

    monkeypatch.setattr(gram_fit, "solve_at_once", at_once)
    machine = BayesPointClassifier("rbf", random_state=0)
    models = [machine.set_params(n_jobs=n).fit(X, three).__dict__.copy() for n in (1, 2, 3)]
    assert len(used) == 2
    for model in models[1:]:
        for name in ("dual_coef_", "draw_coef_", "loo_proba_"):
            np.testing.assert_array_equal(model[name], models[0][name])
        np.testing.assert_array_equal(model["candidates_"].score, models[0]["candidates_"].score)


@pytest.mark.parametrize(("megabytes", "expected"), [(1000, 3), (33, 2), (0, 1)])
def test_memory_limits_the_outputs_at_once(megabytes, expected):
    m = 1000
    cache_size = memory_needed(m, 3, EP()) + megabytes
    task = Task(X, np.ones((3, m)), Y, None, EP(), 0.1, None, cache_size=cache_size, n_jobs=5)
    problem = Problem(np.arange(m), [None] * 3)
    # Three matrices of 8 MB (7.6 MiB) for each further output.
    assert _affordable_jobs(task, problem) == expected


def test_an_indefinite_kernel_is_softened_only_if_softness_is_ours():
    def no_kernel(a, b):
        return 1.0 - 0.1 * np.abs(a[:, :1] - b[:, :1].T) ** 3

    line = np.linspace(-4, 8, 30)[:, None]
    labels = (np.arange(30) > 14).astype(int)
    # Candidates of softness end at 10, and this kernel needs more.
    machine = BayesPointClassifier(no_kernel, solver="ep", fit_intercept=False, random_state=0)
    with pytest.warns(UserWarning, match='softness="auto" chose softness='):
        model = machine.fit(line, labels)
    assert model.softness_ > 10
    with pytest.raises(ValueError, match="positive semi-definite"):
        machine.set_params(softness=0.1).fit(line, labels)


def test_all_version_spaces_are_entered_before_one_is_sampled(monkeypatch):
    """A class that cannot be separated is found before time is spent on the others."""
    sampled = []
    monkeypatch.setattr(Billiard, "solve", lambda *args, **kwargs: sampled.append(1))
    line = np.arange(6.0)[:, None]
    with pytest.raises(ValueError, match="version space"):
        BayesPointClassifier("linear", solver="billiard", softness=0).fit(line, [0, 0, 1, 1, 2, 2])
    assert not sampled


# Propagation that does not converge


def flipped_labels(n, seed=2):
    """Return points with a curved boundary, a tenth of whose labels are flipped."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 3))
    y = (X[:, 0] + 0.5 * X[:, 1] ** 2 > 0.3).astype(int)
    flipped = rng.random(n) < 0.1
    return X, np.where(flipped, 1 - y, y)


def fit_flipped(solver="ep", y=None):
    # A hard boundary that is not linear, with few flips: the posterior has many modes.
    X, labels = flipped_labels(580)
    model = BayesPointClassifier("linear", solver=solver, softness=0, label_noise=0.01)
    with pytest.warns(ConvergenceWarning, match="stopped early"):
        model.fit(X[:80], labels[:80] if y is None else y)
    return model, X[80:], labels[80:]


def test_propagation_that_does_not_converge_says_less(monkeypatch):
    model, X, y = fit_flipped()
    residual = model.diagnostics_.residual[0]
    assert residual > MAX_TRUSTED_RESIDUAL
    assert np.isnan(model.log_evidence_)
    monkeypatch.setattr(gram_fit, "trust_in", lambda residual: 1.0)
    bold, _, _ = fit_flipped()
    share = MAX_TRUSTED_RESIDUAL / residual
    np.testing.assert_allclose(model.probit_scale_, share * bold.probit_scale_)
    np.testing.assert_array_equal(model.decision_function(X), bold.decision_function(X))
    for mine, theirs in (
        (model.predict_proba(X), bold.predict_proba(X)),
        (model.loo_proba_, bold.loo_proba_),
    ):
        assert np.all(np.abs(mine - 0.5) <= np.abs(theirs - 0.5))
    # Knowing nothing costs log 2 = 0.69.
    assert log_loss(y, model.predict_proba(X)) < 0.69 < log_loss(y, bold.predict_proba(X))


def test_only_classes_that_did_not_converge_say_less(monkeypatch):
    X, y = flipped_labels(80)
    y = np.where(X[:, 2] > 1, 2, y)
    given = {"softness": 0, "label_noise": 0.01, "solver": "ep"}
    fits = []
    for trust in (gram_fit.trust_in, lambda residual: 1.0):
        monkeypatch.setattr(gram_fit, "trust_in", trust)
        with pytest.warns(ConvergenceWarning):
            fits.append(BayesPointClassifier("linear", **given).fit(X, y))
    model = fits[0]
    trust = np.minimum(1, MAX_TRUSTED_RESIDUAL / model.diagnostics_.residual)
    assert trust.max() > trust.min()
    ours, theirs = (m.decision_function(X) * m.probit_scale_ for m in fits)
    # The temperature of left-out points, common to all classes, does not undo it.
    ratio = ours / (trust * theirs)
    np.testing.assert_allclose(ratio, ratio[0, 0], rtol=1e-9)
    proba = model.predict_proba(X)
    np.testing.assert_array_equal(model.predict(X), model.classes_[proba.argmax(axis=1)])
