import numpy as np
import pytest
from scipy.optimize import linprog
from sklearn.base import BaseEstimator
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.svm import SVC, LinearSVC

from bayespoint.bounds import (
    adaptive_margin_bound,
    adaptive_margin_certificate,
    margin_distribution_bound,
    normalized_margins,
)
from bayespoint.classifiers.adaptive_margin import AdaptiveMarginSVC
from bayespoint.datasets.two_gaussians import TwoGaussians


def printed(kappa, m, risk):
    """Return eq. 2.19 of 004, in natural logarithms."""
    ln2 = np.log(2)
    first = kappa * np.log(8 * np.e * m / kappa) * np.log(32 * m) / ln2**2
    return 2 / m * (first + np.log(2 * m * (28 + np.log(m) / ln2) / risk) / ln2)


def test_is_the_printed_formula(rng):
    m, risk = 3_000_000, 0.01
    margins = np.clip(rng.normal(0.7, 0.0001, m), -1, 1)
    short = np.sqrt(np.sum(np.maximum(0, 0.7 - margins) ** 2))
    kappa = np.floor(65 * ((1 + short) ** 2 + 2.25 * short) / 0.7**2)
    bound = margin_distribution_bound(margins, margin=0.7, confidence=1 - risk)
    assert bound == pytest.approx(printed(kappa, m, risk), rel=1e-12)
    assert bound < 1


def test_augmented_space_gives_the_capacity(rng):
    """Derive (R + D)^2: each point gets a coordinate of its own, of length s.

    In this space the weights have lengths 1 and d_i / s, the points R and s. The product of the
    squared lengths is smallest at s^2 = R D. A grid of s with factors of two costs at most
    2.25 R D.
    """
    for _ in range(50):
        R, D = rng.uniform(0.1, 5, 2)
        s = np.geomspace(1e-3, 1e3, 20_001)
        products = (R**2 + s**2) * (1 + D**2 / s**2)
        assert products.min() == pytest.approx((R + D) ** 2, rel=1e-4)
        near = (s**2 / (R * D) <= 4) & (s**2 / (R * D) >= 1 / 4)
        assert products[near].max() <= (R + D) ** 2 + 2.25 * R * D + 1e-9


def test_best_margin_and_unit_of_length(rng):
    m = 1_000_000
    margins = np.where(np.arange(m) < 3, 0.02, 0.8)
    best = margin_distribution_bound(margins)
    assert best < 1
    for margin in np.linspace(0.01, 0.8, 40):
        assert best <= margin_distribution_bound(margins, margin=margin) * (1 + 0.05)
    scaled = margin_distribution_bound(50 * margins, radius=50.0)
    assert scaled == pytest.approx(best, rel=1e-9)


def test_outside_its_conditions_the_bound_is_trivial():
    for m in (1, 3, 5):
        assert margin_distribution_bound(np.ones(m), confidence=0.5) == 1
    for m in (6, 100, 10**6):
        assert printed(np.e * m, m, 0.999) > 1
        assert printed(65, m, 0.999) > 2 / m


def test_holds_on_a_problem_with_known_error():
    """The bound needs a million points; it is trivial for few."""
    problem = TwoGaussians([4.0, 4.0])
    X, y = problem.draw(1_000_000, random_state=0)
    model = LinearSVC(C=1e-4, fit_intercept=False).fit(X[:1000], y[:1000])
    margins = normalized_margins(model, X, y)
    bound = margin_distribution_bound(margins)
    assert problem.error(model.coef_) < bound < 1


class Fitted(BaseEstimator):
    """A classifier with only the attributes of AdaptiveMarginSVC."""

    def __init__(self, **attributes):
        self.__dict__.update(attributes)

    def fit(self, X, y):
        return self


def adaptive_margin_svm(X, y, gamma, adaptivity):
    """Solve program 2.10 to 2.12 of 004 with SciPy."""
    K, m = rbf_kernel(X, gamma=gamma), len(y)
    rows = K * np.outer(y, y) - adaptivity * np.diag(np.diagonal(K))
    program = linprog(
        np.concatenate([np.zeros(m), np.ones(m)]), -np.hstack([rows, np.eye(m)]), -np.ones(m)
    )
    return K, program.x[:m], program.x[m:]


def test_adaptive_margins_of_a_fitted_classifier(rng):
    X, y = TwoGaussians([2.0, 0.0]).draw(60, random_state=0)
    K, alphas, slacks = adaptive_margin_svm(X, y, 0.5, 0.7)
    support = np.flatnonzero(alphas > 1e-9)
    model = Fitted(
        kernel="rbf",
        gamma_=0.5,
        adaptivity=0.7,
        classes_=np.array([-1, 1]),
        support_=support,
        support_vectors_=X[support],
        dual_coef_=(alphas * y)[None, support],
    )
    found = adaptive_margin_certificate(model, X, y)
    norm = np.sqrt((alphas * y) @ K @ (alphas * y))
    assert found == adaptive_margin_bound(slacks, alphas, np.ones(60), norm, adaptivity=0.7) == 1
    # The bound is trivial for sixty points, but its inputs agree.
    captured = {}

    def capture(slacks, alphas, diagonal, norm, **options):
        captured.update(slacks=slacks, alphas=alphas, norm=norm, **options)
        return 1.0

    with pytest.MonkeyPatch.context() as patch:
        name = "bayespoint.bounds.margin_distribution.adaptive_margin_bound"
        patch.setattr(name, capture)
        adaptive_margin_certificate(model, X, y)
    assert np.allclose(captured["slacks"], slacks, atol=1e-7)
    assert np.allclose(captured["alphas"], alphas, atol=1e-7)
    assert captured["norm"] == pytest.approx(norm)
    assert (captured["radius"], captured["adaptivity"]) == (1.0, 0.7)


def test_certificate_of_the_machine_itself(rng, monkeypatch):
    """The bound uses the slacks that the program minimized."""
    X = rng.standard_normal((80, 2))
    y = np.where(X[:, 0] + 0.5 * rng.standard_normal(80) > 0, 1, -1)
    model = AdaptiveMarginSVC("rbf", gamma=1.0, adaptivity=0.7, fit_intercept=False).fit(X, y)
    captured = []

    def capture(slacks, *rest, **options):
        captured.append(slacks.sum())
        return adaptive_margin_bound(slacks, *rest, **options)

    monkeypatch.setattr("bayespoint.bounds.margin_distribution.adaptive_margin_bound", capture)
    assert 0 < adaptive_margin_certificate(model, X, y) <= 1
    assert captured[0] == pytest.approx(np.sum(model.objective_), rel=1e-6)


def test_adaptive_bound_is_a_little_above_the_other_one(rng):
    """Theorem 2.2 follows from 2.1 with margin 1 / norm."""
    m = 2_000_000
    outputs = np.where(np.arange(m) < 2, 0.9, 1.5)
    alphas, norm = np.full(m, 0.1), 2.0
    slacks = np.maximum(0, 1 + 0.5 * alphas - outputs)
    adaptive = adaptive_margin_bound(slacks, alphas, np.ones(m), norm, adaptivity=0.5)
    plain = margin_distribution_bound(outputs / norm, margin=1 / norm)
    assert plain < adaptive < 1
    short = np.sqrt(2) * 0.1
    assert adaptive == pytest.approx(printed(np.floor(65 * (norm + 3 * short) ** 2), m, 0.05))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: margin_distribution_bound([0.5, 1.2]), "at most the radius, 1, but is 1.2"),
        (lambda: margin_distribution_bound([-0.5]), "largest margin should be positive"),
        (lambda: margin_distribution_bound([0.5], margin=0.6), "attained by a training point"),
        (lambda: margin_distribution_bound([0.5], margin=0.0), "margin should be a positive"),
        (lambda: margin_distribution_bound([np.nan]), "NaN or infinite"),
        (lambda: margin_distribution_bound([]), "one for each training point"),
        (lambda: margin_distribution_bound([0.5], radius=-1.0), "radius should be a positive"),
        (lambda: margin_distribution_bound([0.5], confidence=2.0), "confidence should be"),
        (lambda: adaptive_margin_bound([2.0], [1.0], [1.0], 1.0), "y f.x. >= 1, but none has"),
        (lambda: adaptive_margin_bound([-1.0], [1.0], [1.0], 1.0), "slacks should not be neg"),
        (lambda: adaptive_margin_bound([0.0], [-1.0], [1.0], 1.0), "alphas should not be neg"),
        (lambda: adaptive_margin_bound([0.0], [1.0], [1.0], 0.0), "norm should be a positive"),
        (
            lambda: adaptive_margin_bound([0.0], [1.0], [1.0], 1.0, adaptivity=-1.0),
            "adaptivity should be a number of at least 0",
        ),
    ],
)
def test_refuses(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_certificate_refuses_an_intercept_and_unknown_radius():
    X, y = TwoGaussians([2.0, 0.0], [-1.0, 0.0]).draw(60, random_state=0)
    model = SVC(kernel="rbf", gamma=0.5).fit(X, y)
    with pytest.raises(TypeError, match="SVC has no adaptivity"):
        adaptive_margin_certificate(model, X, y)
    model.adaptivity = 1.0
    with pytest.raises(ValueError, match="without intercept, but this one has"):
        adaptive_margin_certificate(model, X, y)
    linear = SVC(kernel="linear").fit(X, y)
    weights = linear.dual_coef_.copy()
    plain = Fitted(
        kernel="linear",
        adaptivity=1.0,
        classes_=np.array([-1, 1]),
        support_=linear.support_,
        support_vectors_=linear.support_vectors_,
        dual_coef_=weights,
    )
    with pytest.raises(ValueError, match="radius should be given, because points have different"):
        adaptive_margin_certificate(plain, X, y)
    with pytest.raises(ValueError, match=r"length of every point, but is 0\.1"):
        adaptive_margin_certificate(plain, X, y, radius=0.1)
    assert adaptive_margin_certificate(plain, X, y, radius=100.0) == 1
