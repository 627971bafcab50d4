"""Training in the span of landmarks: agreement with EP, precision, label noise."""

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import rbf_kernel

from bayespoint.fitting import landmarks_fit
from bayespoint.solvers import EP, Nystroem
from many_points import FIXED, classifier, noisy


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
    # Landmarks within rounding of the span of the others are left out: their squared distance
    # is at most 4 m eps, a length of 6e-7. The mean hypothesis has a length of at most about 20.
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
    # Landmarks go by the order of content, with a precomputed kernel by the order of rows.
    order = np.lexsort(X.T[::-1])
    X, y = X[order], y[order]
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


@pytest.mark.parametrize("data", ["moons", "three"])
def test_with_all_landmarks_and_weights_it_is_ep(data, request):
    X, y = request.getfixturevalue(data)
    weight = np.random.default_rng(0).uniform(0.3, 3.0, len(y))
    exact, ours = (
        classifier(solver=s).fit(X, y, weight)
        for s in (EP(tol=1e-9), Nystroem(n_landmarks=len(y), tol=1e-9, max_iter=500))
    )
    np.testing.assert_allclose(ours.predict_proba(X), exact.predict_proba(X), atol=1e-6)
    np.testing.assert_allclose(ours.loo_proba_, exact.loo_proba_, atol=1e-6)
    assert ours.log_evidence_ == pytest.approx(exact.log_evidence_, abs=1e-6 * len(y))


def test_landmarks_that_do_not_converge_say_less(moons, monkeypatch):
    X, y = moons
    fits = []
    for trust in (landmarks_fit.trust_in, lambda residual: 1.0):
        monkeypatch.setattr(landmarks_fit, "trust_in", trust)
        with pytest.warns(ConvergenceWarning, match="max_iter"):
            fits.append(classifier(softness=1e-3, solver=Nystroem(max_iter=2)).fit(X, y))
    model, bold = fits
    residual = model.diagnostics_.residual[0]
    assert residual > 0.1
    np.testing.assert_allclose(model.probit_scale_, bold.probit_scale_ * 0.1 / residual)
    assert np.abs(model.loo_proba_ - 0.5).max() < np.abs(bold.loo_proba_ - 0.5).max()
