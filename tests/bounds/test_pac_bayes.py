import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import brentq
from scipy.special import gammaln, logsumexp, ndtr, xlogy
from scipy.stats import binom, multivariate_normal
from sklearn.linear_model import LogisticRegression
from sklearn.svm import SVC, LinearSVC

from bayespoint import BayesPointClassifier, LinearBayesPointClassifier
from bayespoint.bounds import (
    gaussian_bound,
    invert_binary_kl,
    normalized_margins,
    pac_bayes_bound,
    pac_bayes_certificate,
)
from bayespoint.datasets.two_gaussians import TwoGaussians


def binary_kl(q, p):
    return xlogy(q, q / p) + xlogy(1 - q, (1 - q) / (1 - p))


@given(st.floats(0, 1), st.floats(1e-6, 20))
def test_kl_is_inverted(q, divergence):
    p = invert_binary_kl(q, divergence)
    assert q <= p <= 1
    if p < 1:
        # p is rounded up: its divergence is not too small by more than rounding.
        assert binary_kl(q, p) >= divergence * (1 - 1e-9) - 1e-12
    if q > 1e-6 and p < 1 - 1e-9 and divergence > 1e-3:
        root = brentq(lambda p: binary_kl(q, p) - divergence, q, 1 - 1e-16, xtol=1e-15)
        assert p == pytest.approx(root, abs=1e-9)
    assert invert_binary_kl(0.0, divergence) == pytest.approx(1 - np.exp(-divergence), abs=1e-12)


def test_kl_at_its_ends():
    assert invert_binary_kl(0.3, 0.0) == pytest.approx(0.3, abs=1e-7)
    assert invert_binary_kl(1.0, 0.0) == 1
    assert invert_binary_kl(0.2, np.inf) == 1


@pytest.mark.parametrize("m", [*range(1, 30), 100, 1000, 20_000])
def test_constant_is_above_the_exact_one(m):
    """The mean of exp(m kl) for a binomial share is the same for every probability."""
    k = np.arange(m + 1)
    log_terms = gammaln(m + 1) - gammaln(k + 1) - gammaln(m - k + 1)
    exact = np.exp(logsumexp(log_terms + xlogy(k, k / m) + xlogy(m - k, 1 - k / m)))
    p = 0.3
    direct = np.sum(binom(m, p).pmf(k) * np.exp(np.minimum(m * binary_kl(k / m, p), 700)))
    assert m > 300 or direct == pytest.approx(exact, rel=1e-6)
    assert exact <= 2 * math.sqrt(m) * (1 + 1e-12)
    assert m == 1 or exact > math.sqrt(m)


@given(st.floats(0, 100), st.integers(1, 10**6), st.floats(0.01, 0.99))
def test_without_training_errors_it_has_a_closed_form(divergence, m, confidence):
    exact = (1 - confidence) / (2 * math.sqrt(m) * math.exp(divergence))
    bound = pac_bayes_bound(0.0, divergence, m, confidence=confidence)
    assert bound == pytest.approx(1 - exact ** (1 / m), abs=1e-12)


def test_holds_for_the_luckiest_of_many_guesses(rng):
    """Uniform prior on N coins, posterior on the luckiest: KL = ln N, and the error is 1/2."""
    m, n_coins, confidence = 50, 1000, 0.8
    lucky = rng.binomial(m, 0.5, (400, n_coins)).min(axis=1) / m
    bounds = [pac_bayes_bound(q, np.log(n_coins), m, confidence=confidence) for q in lucky]
    assert np.mean(np.array(bounds) < 0.5) <= 1 - confidence
    forgotten = [pac_bayes_bound(q, 0.0, m, confidence=confidence) for q in lucky]
    assert np.mean(np.array(forgotten) < 0.5) > 1 - confidence


def test_gaussian_terms_are_those_of_sampling(rng):
    """Compare divergence and training error of N(mu w, I) with twenty thousand draws."""
    X, y = TwoGaussians([1.0, 0.3, 0.0]).draw(400, random_state=0)
    w = np.array([2.0, 1.0, -1.0])
    unit = w / np.linalg.norm(w)
    cosines = y * (X @ unit) / np.linalg.norm(X, axis=1)
    found = gaussian_bound(cosines)
    draws = found.mu * unit + rng.standard_normal((20_000, 3))
    wrong = np.mean((draws @ X.T) * y <= 0, axis=1)
    assert abs(wrong.mean() - found.training_gibbs) < 4 * wrong.std() / np.sqrt(len(draws))
    ratio = multivariate_normal(found.mu * unit).logpdf(draws) - multivariate_normal(
        np.zeros(3)
    ).logpdf(draws)
    assert abs(ratio.mean() - found.divergence) < 4 * ratio.std() / np.sqrt(len(draws))
    bound = pac_bayes_bound(found.training_gibbs, found.divergence, 400)
    assert found.gibbs == pytest.approx(bound, rel=1e-12)


def test_takes_the_best_mu(rng):
    for scale in (0.02, 0.2, 0.9):
        cosines = np.clip(rng.normal(scale, scale, 500), -1, 1)
        found = gaussian_bound(cosines)
        tried = [
            pac_bayes_bound(
                np.mean([0.5 * math.erfc(mu * c / math.sqrt(2)) for c in cosines]), mu**2 / 2, 500
            )
            for mu in np.linspace(0, 40, 401)
        ]
        assert found.gibbs <= min(tried) + 1e-9
        assert found.mean == min(1, 2 * found.gibbs)


def gibbs_error(model, problem, mu, rng):
    """Return the error of N(mu w, I) on fresh points, and its standard error."""
    X, y = problem.draw(20_000, random_state=np.random.RandomState(rng.integers(2**31)))
    wrong = ndtr(-mu * normalized_margins(model, X, y))
    return wrong.mean(), wrong.std() / np.sqrt(len(y))


@pytest.mark.parametrize(
    "model",
    [
        LinearSVC(C=1.0),
        SVC(gamma=0.2),
        LogisticRegression(),
        LinearBayesPointClassifier(),
        BayesPointClassifier(gamma=0.2, softness=0.1),
        BayesPointClassifier(kernel="linear", fit_intercept=False, softness=0.1),
    ],
    ids=repr,
)
def test_holds_for_every_kind_of_model(model, rng):
    problem = TwoGaussians([1.2, 0.6])
    for seed in range(5):
        X, y = problem.draw(300, random_state=seed)
        found = pac_bayes_certificate(model.fit(X, y), X, y)
        assert found.gibbs < 0.5
        error, uncertainty = gibbs_error(model, problem, found.mu, rng)
        assert found.gibbs > error + 4 * uncertainty
        fresh_X, fresh_y = problem.draw(20_000, random_state=100 + seed)
        assert found.mean > np.mean(model.predict(fresh_X) != fresh_y)


def margins_of_noise(rng):
    """Return margins for coin labels, where all classifiers have error 1/2."""
    found = []
    for _ in range(60):
        X = rng.standard_normal((40, 60))
        y = rng.choice([-1, 1], 40)
        model = LinearSVC(fit_intercept=False, C=100.0, dual=True, max_iter=100_000).fit(X, y)
        found.append(normalized_margins(model, X, y))
    return found


def test_memorized_noise_gets_no_certificate(rng):
    """The problem is separable without any structure; a bound without divergence would fail."""
    found = margins_of_noise(rng)
    assert all(np.all(cosines > 0) for cosines in found)
    gibbs = np.array([gaussian_bound(cosines).gibbs for cosines in found])
    assert np.mean(gibbs < 0.5) <= 0.05
    large_mu = [float(np.mean(ndtr(-20 * cosines / cosines.mean()))) for cosines in found]
    forgotten = np.array([pac_bayes_bound(error, 0.0, 40) for error in large_mu])
    assert np.mean(forgotten < 0.5) > 0.5


def test_a_bad_classifier_is_certified_to_be_no_worse_than_a_coin():
    found = gaussian_bound(np.full(100, -0.5))
    assert (found.gibbs, found.mean, found.mu, found.divergence) == (0.5, 1, 0, 0)


def test_tuning_costs_a_logarithm(rng):
    cosines = np.clip(rng.normal(0.3, 0.2, 400), -1, 1)
    tuned = gaussian_bound(cosines, n_tuned=540)
    same = gaussian_bound(cosines, confidence=1 - 0.05 / 540)
    assert tuned.gibbs == pytest.approx(same.gibbs, rel=1e-9)
    assert tuned.gibbs > gaussian_bound(cosines).gibbs
    assert tuned.confidence == 0.95


TUNED = [SVC(), BayesPointClassifier("rbf"), SVC(kernel="poly")]


@pytest.mark.parametrize("model", TUNED, ids=repr)
def test_a_gamma_from_the_data_needs_n_tuned(model):
    X, y = TwoGaussians([1.2, 0.6]).draw(100, random_state=0)
    model.fit(X, y)
    with pytest.raises(ValueError, match="n_tuned is needed: the number of values"):
        pac_bayes_certificate(model, X, y)
    assert 0 < pac_bayes_certificate(model, X, y, n_tuned=540).gibbs <= 1


@pytest.mark.parametrize(
    "model", [SVC(gamma="auto"), SVC(kernel="linear"), BayesPointClassifier("linear")], ids=repr
)
def test_other_models_do_not_need_n_tuned(model):
    X, y = TwoGaussians([1.2, 0.6]).draw(100, random_state=0)
    assert 0 < pac_bayes_certificate(model.fit(X, y), X, y).gibbs < 0.5


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: gaussian_bound([1.5]), "cosines should be between -1 and 1"),
        (lambda: gaussian_bound([]), "one for each training point"),
        (lambda: gaussian_bound([[0.1]]), r"has shape \(1, 1\)"),
        (lambda: gaussian_bound([np.nan]), "NaN"),
        (lambda: gaussian_bound([0.1], n_tuned=0.5), "n_tuned should be a number of at least 1"),
        (lambda: gaussian_bound([0.1], confidence=1.0), "confidence should be between"),
        (lambda: pac_bayes_bound(1.1, 0.0, 10), "gibbs_error should be a share"),
        (lambda: pac_bayes_bound(0.1, -1.0, 10), "divergence should be a number of at least 0"),
        (lambda: pac_bayes_bound(0.1, np.nan, 10), "divergence should be a number"),
        (lambda: pac_bayes_bound(0.1, 1.0, 0), "n_samples should be a whole number"),
        (lambda: invert_binary_kl(-0.1, 1.0), "q should be a share"),
        (lambda: invert_binary_kl(0.1, -1.0), "divergence should be"),
    ],
)
def test_refuses(call, message):
    with pytest.raises(ValueError, match=message):
        call()
