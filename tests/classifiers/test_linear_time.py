"""Linear fits that a time limit or Ctrl-C stops."""

import signal
import time

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from bayespoint import LinearBayesPointClassifier
from bayespoint._runtime import interrupt
from bayespoint.fitting import weights_fit
from bayespoint.fitting.sweep_time import SweepTimer
from bayespoint.solvers.weights import factorized_rows
from bayespoint.solvers.weights.multiclass import factorized_rows as many_classes
from weights_helpers import classifier


def problem(n_rows=6000, n_classes=2, n_features=5):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n_rows, n_features))
    scores = X @ rng.standard_normal((n_features, n_classes))
    return X, (scores + rng.standard_normal(scores.shape)).argmax(axis=1)


@pytest.fixture
def short_parts(monkeypatch):
    """Look at the clock often."""
    monkeypatch.setattr(factorized_rows, "MAX_ENTRIES_PER_CALL", 1000)
    monkeypatch.setattr(many_classes, "MAX_OPERATIONS_PER_CALL", 1000)


@pytest.mark.parametrize("covariance", ["full", "factorized"])
@pytest.mark.parametrize("n_classes", [2, 4])
def test_the_answer_does_not_depend_on_a_long_limit(covariance, n_classes, monkeypatch):
    X, y = problem(5000, n_classes)
    same = classifier(covariance=covariance).fit(X, y)
    monkeypatch.setattr(factorized_rows, "MAX_ENTRIES_PER_CALL", 1000)
    monkeypatch.setattr(many_classes, "MAX_OPERATIONS_PER_CALL", 1e5)
    model = classifier(covariance=covariance, max_time=1e6).fit(X, y)
    np.testing.assert_array_equal(model.coef_, same.coef_)
    assert model.n_rows_learned_ == model.n_samples_seen_ == len(X)


@pytest.mark.parametrize("covariance", ["full", "factorized"])
@pytest.mark.parametrize("n_classes", [2, 4])
def test_rows_are_learned_once_if_there_is_no_time_for_more(covariance, n_classes, monkeypatch):
    X, y = problem(n_classes=n_classes)
    whole = classifier(covariance=covariance).fit(X, y)
    monkeypatch.setattr(SweepTimer, "has_time", lambda *_: False)
    monkeypatch.setattr(weights_fit, "MAX_SITES_AT_ONCE", 5000)  # in several parts
    model = classifier(covariance=covariance, max_time=1e6)
    with pytest.warns(ConvergenceWarning, match=r"6,000 of 6,000 rows, from most of them only"):
        model.fit(X, y)
    # As good as a whole fit, within two standard errors of the difference.
    X_new, y_new = problem(12_000, n_classes)
    differ = whole.predict(X_new) != model.predict(X_new)
    worse = whole.score(X_new, y_new) - model.score(X_new, y_new)
    assert worse <= 2 * np.sqrt(differ.mean() / len(X_new))


@pytest.mark.parametrize("covariance", ["full", "factorized"])
@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("method", ["fit", "partial_fit"])
def test_even_no_time_gives_an_answer(covariance, n_classes, method, short_parts):
    X, y = problem(n_classes=n_classes)
    model = classifier(covariance=covariance, max_time=1e-9)
    with pytest.warns(ConvergenceWarning, match=r"max_time\): .* of 6,000 rows.*Raise max_time"):
        getattr(model, method)(X, y)
    assert 0 < model.n_rows_learned_ == model.n_samples_seen_ < len(X)
    assert np.isfinite(model.predict_proba(X)).all()


def test_many_classes_keep_the_limit():
    X, y = problem(30_000, 20, 40)
    model = LinearBayesPointClassifier(covariance="factorized", max_time=0.1)
    with pytest.warns(ConvergenceWarning):
        model.fit(X[:3000], y[:3000])  # loads compiled code
    began = time.process_time()
    with pytest.warns(ConvergenceWarning, match="of 30,000 rows"):
        model.set_params(max_time=0.5).fit(X, y)
    # CPU time: other programs cannot make it longer. Without a limit it takes about 10 s.
    assert time.process_time() - began < 1.2 * 0.5 + 0.1


def test_a_stream_goes_on_after_a_batch_that_was_stopped(short_parts):
    X, y = problem()
    model = classifier(covariance="factorized").partial_fit(X[:3000], y[:3000])
    with pytest.warns(ConvergenceWarning, match=r"[0-9]+ of 3,000 rows"):
        model.set_params(max_time=1e-9).partial_fit(X[3000:], y[3000:])
    assert model.n_samples_seen_ == 3000 + model.n_rows_learned_
    assert 0 < model.n_rows_learned_ < 3000


@pytest.mark.parametrize("n_classes", [2, 4])
def test_ctrl_c_keeps_the_answer_so_far(n_classes, monkeypatch, short_parts):
    X, y = problem(n_classes=n_classes)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    monkeypatch.setattr(interrupt, "_last_press", -np.inf)
    parts = factorized_rows.parts_of_sweep

    def press(rows, n_parts):
        for number, part in enumerate(parts(rows, n_parts)):
            yield part
            if number == 2:
                signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(factorized_rows, "parts_of_sweep", press)
    monkeypatch.setattr(many_classes, "parts_of_sweep", press)
    model = classifier(covariance="factorized")
    try:
        with pytest.warns(ConvergenceWarning, match=r"interrupted\): .*Press Ctrl-C twice"):
            model.fit(X, y)
    finally:
        signal.signal(signal.SIGINT, before)
    assert 0 < model.n_rows_learned_ < len(X)
    assert model.score(X, y) > 1.5 / n_classes


def test_a_hard_boundary_can_be_stopped_too(short_parts):
    X = np.random.default_rng(0).standard_normal((3000, 3))
    y = X[:, 0] > 0
    model = classifier(noise_variance=0.0, covariance="factorized", max_time=1e-9)
    with pytest.warns(ConvergenceWarning, match="max_time"):
        model.fit(X, y)
    assert np.isnan(model.log_evidence_)
