"""Neither offsets nor scales of features matter: dense, sparse, streamed or merged."""

import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression

from bayespoint import LinearBayesPointClassifier, load, save
from bayespoint.solvers.weights import units
from weights_helpers import classifier

COVARIANCES = ["full", "factorized"]
# Offsets in standard deviations, and scales.
UNITS = [(0.0, 1e-8), (0.0, 1e8), (3.0, 1.0), (1e3, 1e8), (1e6, 1.0), (1e6, 1e-8)]
# The data are rounded to 1e-10 deviations, and fits stop when weights move by less than tol.
FIXED = {"tol": 1e-9, "max_iter": 3000}


def problem(n_classes=2, n=150, d=4, seed=0):
    """Return spread features, a rare one and a common category, centered and scaled."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    X[:, 1] *= rng.random(n) < 0.2
    X[:, 2] = rng.random(n) < 0.8
    scores = X @ rng.standard_normal((d, n_classes)) + 1.5 * rng.standard_normal((n, n_classes))
    return X, scores.argmax(axis=1)


def moved(X, offset, scale):
    """Return the table in other units; each column has its own."""
    return (X + offset * np.linspace(1, 0.5, X.shape[1])) * scale ** np.linspace(1, 0.7, X.shape[1])


def learn(X, y, covariance, stream):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = classifier(covariance=covariance, **FIXED, batch_sweeps=5)
        if not stream:
            return model.fit(X, y)
        for rows in np.array_split(np.arange(len(y)), 3):
            model.partial_fit(X[rows], y[rows], classes=np.unique(y))
        return model


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("covariance", COVARIANCES)
@pytest.mark.parametrize("stream", [False, True], ids=["fit", "stream"])
@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
def test_offsets_and_scales_do_not_matter(n_classes, covariance, stream, kind):
    X, y = problem(n_classes)
    expected = learn(X, y, covariance, stream).predict_proba(X)
    for offset, scale in UNITS:
        Z = kind(moved(X, offset, scale))
        model = learn(Z, y, covariance, stream)
        np.testing.assert_allclose(model.predict_proba(Z), expected, atol=1e-6)


def test_a_broken_center_is_noticed(monkeypatch):
    # Negative control: without centers the same comparison fails.
    X, y = problem()
    expected = learn(X, y, "full", False).predict_proba(X)
    whole = units.find_units
    monkeypatch.setattr(
        "bayespoint.fitting.weights_fit.find_units", lambda r, s, _: whole(0 * r, s, False)
    )
    Z = X + 3
    found = learn(Z, y, "full", False).predict_proba(Z)
    assert np.abs(found - expected).max() > 1e-3


@pytest.mark.parametrize("covariance", COVARIANCES)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_weights_are_reported_for_features_as_they_come(n_classes, covariance):
    X, y = problem(n_classes)
    X = moved(X, 10.0, 100.0)
    model = classifier(covariance=covariance).fit(X, y)
    draws = model.sample_coef(4000, random_state=0)
    ones = np.column_stack([X, np.ones(len(X))])
    outputs = ones @ (draws.T if n_classes == 2 else draws.transpose(0, 2, 1))
    if n_classes == 2:
        mean, axis = X @ model.coef_[0] + model.intercept_[0], 1
    else:
        outputs = np.einsum("nd,scd->snc", ones, draws)
        mean, axis = X @ model.coef_.T + model.intercept_, 0
    deviation = model.decision_std(X)
    # 4.5 standard errors of a mean and of a deviation from 4000 draws.
    assert np.abs((outputs.mean(axis=axis) - mean) / deviation).max() < 4.5 / np.sqrt(4000)
    np.testing.assert_allclose(outputs.std(axis=axis), deviation, rtol=4.5 / np.sqrt(8000))
    if covariance == "full":
        size = ones.shape[1]
        first = model.coef_covariance_[:size, :size]
        variance = np.einsum("ij,jk,ik->i", ones, first, ones)
        own = deviation if n_classes == 2 else deviation[:, 0]
        np.testing.assert_allclose(variance, own**2, rtol=1e-6)


def test_cases_that_were_silently_wrong(rng):
    X = rng.standard_normal((400, 3)) + 100
    y = (X - 100).sum(axis=1) + 0.3 * rng.standard_normal(400) > 0
    year = rng.integers(2000, 2020, (400, 1)).astype(float)
    pressure = 1013 + 8 * rng.standard_normal((400, 1))
    late = pressure[:, 0] - 1013 + 3 * rng.standard_normal(400) > 0
    for points, labels in (X, y), (year, year[:, 0] >= 2010), (pressure, late):
        peer = LogisticRegression(C=100).fit(points[:200], labels[:200])
        wanted = peer.score(points[200:], labels[200:]) - 0.03
        model = classifier().fit(points[:200], labels[:200])
        assert model.score(points[200:], labels[200:]) >= wanted
        stream = classifier()
        for rows in np.array_split(np.arange(200), 4):
            stream.partial_fit(points[rows], labels[rows])
        assert stream.score(points[200:], labels[200:]) >= wanted


@pytest.mark.parametrize("covariance", COVARIANCES)
def test_parts_around_different_centers_can_be_merged(covariance):
    X, y = problem(n=400)
    X += 50.0
    fixed = {"covariance": covariance, "prior_variance": 1.0, **FIXED}
    one, two = (classifier(**fixed).fit(X[i::2], y[i::2]) for i in range(2))
    assert np.abs(one.center_ - two.center_).max() > 0.01
    merged, whole = one.merge(two), classifier(**fixed).fit(X, y)
    assert merged.n_samples_seen_ == 400
    # Not identical: rows of one part did not know the other. Without the shift of the center, the
    # probabilities would differ by more than 0.01.
    assert np.abs(merged.predict_proba(X) - whole.predict_proba(X)).max() < 0.06
    exact = np.abs(merged.coef_ - whole.coef_) / np.sqrt(whole.coef_variance_)
    assert exact.max() < 0.5
    with pytest.raises(ValueError, match="Fit both with the same prior_variance"):
        classifier(standardize=True, **fixed).fit(X[::2], y[::2]).merge(two)


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("covariance", COVARIANCES)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_feature_that_varies_late_gets_its_unit_late(kind, covariance, n_classes):
    X, y = problem(n_classes, n=600)
    X[:200, 3] = 0.0
    found = []
    for factor in (1.0, 1e7):
        Z = X * [1, 1, 1, factor]
        model = classifier(covariance=covariance)
        for begin in (0, 200, 400):
            rows = slice(begin, begin + 200)
            model.partial_fit(kind(Z[rows]), y[rows], classes=np.unique(y))
            assert np.isnan(model.scale_[3]) == (begin == 0)
        np.testing.assert_allclose(model.scale_[3], factor, rtol=0.2)
        found.append(model.predict_proba(Z))
    np.testing.assert_allclose(*found, atol=1e-6)
    assert np.abs(model.coef_[:, 3]).max() > 0


def test_features_that_never_varied_are_ignored(rng):
    X, y = problem()
    X[:, 3] = 7.0
    model = classifier().fit(X, y)
    expected = model.predict_proba(X)
    X[:, 3] = rng.standard_normal(len(X)) * 1e9
    np.testing.assert_allclose(model.predict_proba(X), expected, atol=1e-12)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_extremes_are_explained(n_classes, kind):
    X, y = problem(n_classes)
    for factor in (1e-160, 1e300):
        for method in ("fit", "partial_fit"):
            with pytest.raises(ValueError, match=r"should vary by .*, but feature 0 varies"):
                getattr(classifier(), method)(kind(X * factor), y)
    outlier = X.copy()
    outlier[7, 1] = 1e200
    with pytest.raises(ValueError, match=r"feature 1 varies by more.*remove rows with extreme"):
        classifier().fit(kind(outlier), y)
    model = classifier().partial_fit(kind(X), y)
    with pytest.raises(ValueError, match=r"feature 1 should be at most .*one is 1e\+200"):
        model.partial_fit(kind(outlier), y)
    for method in ("predict", "predict_proba", "decision_function", "decision_std"):
        with pytest.raises(ValueError, match=r"should be at most .*Check its unit"):
            getattr(model, method)(kind(X * 1e160))


def test_the_old_model_can_still_be_fitted():
    # Without centers, in units of the root mean square of the entries that are not zero.
    X, y = problem()
    X = moved(X, 2.0, 10.0)
    model = classifier(standardize=False, **FIXED).fit(X, y)
    assert not model.center_.any()
    np.testing.assert_allclose(model.scale_, np.sqrt(np.sum(X**2, 0) / np.sum(X != 0, 0)))
    same = classifier(fit_intercept=False, **FIXED).fit(X, y)
    other = classifier(fit_intercept=False, standardize=False, **FIXED).fit(X, y)
    np.testing.assert_allclose(same.coef_, other.coef_, rtol=1e-10)


def test_a_number_is_the_variance_for_features_as_they_come(rng):
    X, y = problem()
    raw = classifier(prior_variance=2.0).fit(X * 10, y)
    np.testing.assert_allclose(raw.prior_variance_[:-1], 2.0)
    scaled = classifier(prior_variance=2.0, standardize=True).fit(X * 10, y)
    np.testing.assert_allclose(scaled.prior_variance_[:-1] * scaled.scale_**2, 2.0)
    again = classifier(prior_variance=2.0, standardize=True).fit(X, y)
    np.testing.assert_allclose(scaled.predict_proba(X * 10), again.predict_proba(X), atol=1e-10)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_saved_models_know_their_center(tmp_path, n_classes):
    X, y = problem(n_classes)
    X += 1000.0
    model = classifier().partial_fit(X[:100], y[:100])
    save(model, tmp_path / "model.bayespoint")
    again = load(tmp_path / "model.bayespoint")
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))
    for each in (model, again):
        each.partial_fit(X[100:], y[100:])
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))


def test_models_saved_without_a_center_still_work(tmp_path):
    X, y = problem()
    model = classifier(standardize=False).fit(X, y)
    expected = model.predict_proba(X)
    for name in ("standardize", "center_", "scale_"):
        delattr(model, name)
    save_state = tmp_path / "old.bayespoint"
    LinearBayesPointClassifier.standardize = False
    try:
        save(model, save_state)
    finally:
        del LinearBayesPointClassifier.standardize
    old = load(save_state)
    np.testing.assert_array_equal(old.predict_proba(X), expected)
    old.partial_fit(X, y)
