import itertools
import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from bayespoint._runtime.interrupt import Interrupted
from bayespoint.fitting import weights_fit
from bayespoint.fitting.weights_fit import PILOT_ROWS, Settings, Table, learn_all
from bayespoint.solvers.watch import Watch
from bayespoint.solvers.weights.belief import ImproperBeliefError
from bayespoint.solvers.weights.row_order import chosen_rows
from weights_helpers import classifier

COVARIANCES = ["full", "factorized"]


@pytest.mark.parametrize("covariance", COVARIANCES)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_few_of_the_first_rows_choose_the_prior(covariance, n_classes):
    # More than half of the entries are zero, and all others have the same size. So any rows give
    # the features the same center and scale, and the prior the same units if as many are zero.
    rng = np.random.default_rng(0)
    X = np.zeros((5000, 12))
    np.put_along_axis(
        X, rng.permuted(np.tile(np.arange(12), (5000, 1)), axis=1)[:, :5], 1.0, axis=1
    )
    X *= rng.choice([-1.0, 1.0], X.shape)
    y = (X[:, :n_classes] + rng.standard_normal((5000, n_classes))).argmax(axis=1)
    few = chosen_rows(5000, PILOT_ROWS)
    assert few.sum() == PILOT_ROWS
    model = classifier(covariance=covariance).partial_fit(X, y)
    first = classifier(covariance=covariance).partial_fit(X[few], y[few])
    evidence = first.log_evidence_
    second = first.partial_fit(X[~few], y[~few])
    np.testing.assert_allclose(model.coef_, second.coef_, rtol=1e-10)
    np.testing.assert_allclose(model.prior_variance_, second.prior_variance_, rtol=1e-10)
    assert model.log_evidence_ == pytest.approx(evidence + second.log_evidence_)
    assert model.n_samples_seen_ == 5000


def test_large_problems_are_factorized():
    X = sparse.random_array(
        (50, 600), density=0.05, random_state=np.random.default_rng(0), format="csr"
    )
    model = classifier().fit(X, np.arange(50) % 2)
    assert model.covariance_ == "factorized"
    assert classifier().fit(X[:, :200], np.arange(50) % 2).covariance_ == "full"
    assert classifier().partial_fit(X[:, :200], np.arange(50) % 2).covariance_ == "factorized"
    assert classifier().partial_fit(X[:, :90], np.arange(50) % 2).covariance_ == "full"
    assert not hasattr(model, "coef_covariance_")


def test_many_classes_of_few_rows_have_correlated_weights(monkeypatch):
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((40, 5)), np.arange(40) % 4
    for limit, few, kind in (20, 40, "full"), (17, 40, "factorized"), (20, 39, "factorized"):
        monkeypatch.setattr(weights_fit, "MAX_FULL_WEIGHTS", 10)
        monkeypatch.setattr(weights_fit, "MAX_FULL_WEIGHTS_OF_FEW_ROWS", limit)
        monkeypatch.setattr(weights_fit, "FEW_ROWS", few)
        assert classifier(max_iter=300).fit(X, y).covariance_ == kind
        assert classifier().fit(X, y % 2).covariance_ == "full"


@pytest.mark.parametrize("covariance", COVARIANCES)
def test_contradictions_under_a_hard_boundary_are_an_error(covariance):
    X = np.repeat(np.random.default_rng(0).standard_normal((10, 3)), 2, axis=0)
    y = np.tile([0, 1], 10)
    model = classifier(covariance=covariance, noise_variance=0.0, prior_variance=1.0, max_iter=20)
    with pytest.warns(ConvergenceWarning), pytest.raises(ValueError, match="Raise noise_variance"):
        model.fit(X, y)


@pytest.mark.parametrize("seed", range(12))
def test_numbers_are_finite_or_the_labels_inexplicable(seed):
    # Features span 120 decades, sample weights 1e-6 to 1e6, priors 1e-12 to 1e12.
    rng = np.random.default_rng(seed)
    n, d = rng.integers([2, 1], [80, 12])
    X = np.where(rng.random((n, d)) < rng.random(), rng.standard_normal((n, d)), 0.0)
    X *= 10.0 ** rng.uniform(-60, 60, d) if seed % 3 == 1 else 10.0
    X = np.round(X) if seed % 3 == 0 else X
    y = X @ rng.standard_normal(d) > 0 if seed % 2 else rng.random(n) < 0.5
    y[0], y[-1] = True, False
    weight = 10.0 ** rng.uniform(-6, 6, n) if seed % 4 > 1 else None
    for noise, prior, covariance, method in itertools.product(
        (1.0, 1e-8, 0.0), ("auto", 1.0, 1e12, 1e-12), COVARIANCES, ("fit", "partial_fit")
    ):
        model = classifier(
            noise_variance=noise, prior_variance=prior, covariance=covariance, max_iter=30
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            try:
                getattr(model, method)(X, y, sample_weight=weight)
            except ValueError as error:
                if noise == 0 and "Raise noise_variance" in str(error):
                    continue
                raise
        for values in model.coef_, model.coef_variance_, model.log_evidence_:
            assert np.all(np.isfinite(values))
        assert np.all(np.isfinite(model.predict_proba(X)))


@pytest.mark.parametrize("covariance", COVARIANCES)
@pytest.mark.parametrize("method", ["fit", "partial_fit"])
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("n", [300, 3000])
def test_labels_that_no_weights_explain_need_noise(covariance, method, n_classes, n):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, 20))
    clean = (X @ rng.standard_normal((20, n_classes))).argmax(axis=1)
    noisy = np.where(rng.random(n) < 0.2, rng.integers(n_classes, size=n), clean)
    model = classifier(covariance=covariance, noise_variance=0.0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        with pytest.raises(ValueError, match="Raise noise_variance"):
            getattr(clone(model), method)(X, noisy)
        assert getattr(clone(model), method)(X, clean).score(X, clean) > 0.99
        # A first call that failed can be repeated.
        with pytest.raises(ValueError, match="Raise noise_variance"):
            getattr(model, method)(X, noisy)
        getattr(model.set_params(noise_variance=1.0), method)(X, noisy)


@pytest.mark.parametrize(("noise", "message"), [(0.0, "Raise noise_variance"), (1.0, "moderate")])
def test_an_improper_belief_means_inseparable_only_without_noise(noise, message, monkeypatch):
    def improper(*_, **__):
        raise ImproperBeliefError("improper")

    monkeypatch.setattr(weights_fit, "iterate", improper)
    table = Table(np.eye(2), np.array([-1.0, 1.0]), np.ones(2))
    settings = Settings(2, 1.0, noise, "full", False, 10, 0.1, 1, "auto")
    with pytest.raises(ValueError, match=message) as raised:
        learn_all(settings, table, Watch(Interrupted()))
    assert not isinstance(raised.value, ImproperBeliefError)


def test_other_errors_are_not_blamed_on_the_labels(monkeypatch):
    def broken(*_, **__):
        raise ValueError("array must not contain infs or NaNs")

    monkeypatch.setattr(weights_fit, "iterate", broken)
    table = Table(np.eye(2), np.array([-1.0, 1.0]), np.ones(2))
    with pytest.raises(ValueError, match="infs or NaNs"):
        learn_all(
            Settings(2, 1.0, 0.0, "full", False, 10, 0.1, 1, "auto"), table, Watch(Interrupted())
        )
