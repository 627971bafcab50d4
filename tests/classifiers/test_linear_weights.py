"""Weights of rows and classes: a row of weight two is two rows, one of weight zero is none."""

import warnings

import numpy as np
import pytest
import sklearn
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import SGDClassifier
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import compute_class_weight

from bayespoint.classifiers import linear
from weights_helpers import classifier

KINDS = [np.asarray, sparse.csr_array]
# Sweeps end when they move the weights by 1e-12 deviations. Each gains at least a few percent.
CONVERGED = {"covariance": "full", "tol": 1e-12, "max_iter": 1000}


def problem(n_classes=2, n=90, seed=0):
    """Return points far from zero, labels, and weights 0 to 3."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 3))
    y = (X @ rng.standard_normal((3, n_classes)) + rng.standard_normal((n, n_classes))).argmax(1)
    X[:, 1] *= rng.random(n) < 0.3
    return X + np.array([10, 0, -5]), y, rng.integers(0, 4, n)


def assert_same(one, two):
    np.testing.assert_allclose(one.coef_, two.coef_, rtol=1e-8, atol=1e-8)
    np.testing.assert_allclose(one.intercept_, two.intercept_, rtol=1e-8, atol=1e-8)
    np.testing.assert_allclose(one.prior_variance_, two.prior_variance_, rtol=1e-8)
    assert one.log_evidence_ == pytest.approx(two.log_evidence_, abs=1e-8)
    assert one.n_samples_seen_ == two.n_samples_seen_


def fitted(X, y, **options):
    weight = options.pop("sample_weight", None)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return classifier(**CONVERGED, **options).fit(X, y, sample_weight=weight)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("prior_variance", ["auto", 1.0])
def test_weights_are_repetitions(kind, n_classes, prior_variance):
    X, y, weight = problem(n_classes)
    options = {"prior_variance": prior_variance}
    one = fitted(kind(X), y, sample_weight=weight, **options)
    two = fitted(kind(np.repeat(X, weight, axis=0)), np.repeat(y, weight), **options)
    assert_same(one, two)
    used = weight > 0
    three = fitted(kind(X[used]), y[used], sample_weight=weight[used], **options)
    assert_same(one, three)


def test_weights_that_miss_the_center_are_noticed(monkeypatch):
    # Negative control: the center of the rows as if all weights were one.
    from bayespoint.fitting import weights_fit

    right = weights_fit.column_sums
    monkeypatch.setattr(weights_fit, "column_sums", lambda X, w, r: right(X, np.ones_like(w), r))
    X, y, weight = problem()
    one = fitted(X, y, sample_weight=weight)
    two = fitted(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    with pytest.raises(AssertionError):
        assert_same(one, two)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_classes_count_as_their_rows_do(n_classes):
    X, y, weight = problem(n_classes)
    y[:20] = 0
    given = {0: 0.5, 1: 2.0} | ({2: 1.0} if n_classes == 3 else {})
    by_row = np.array([given[label] for label in y])
    both = fitted(X, y, class_weight=given, sample_weight=weight)
    assert_same(both, fitted(X, y, sample_weight=weight * by_row))
    classes = np.unique(y)
    balanced = compute_class_weight("balanced", classes=classes, y=y)
    one = fitted(X, y, class_weight="balanced")
    assert_same(one, fitted(X, y, class_weight=dict(zip(classes.tolist(), balanced, strict=True))))
    # All classes have the same total weight.
    totals = np.bincount(y, balanced[y])
    np.testing.assert_allclose(totals, totals[0])


def test_streams_refuse_balanced_classes_as_sgd_does():
    X, y, _ = problem()
    with pytest.raises(ValueError, match="partial_fit knows only a part of them"):
        classifier(class_weight="balanced").partial_fit(X, y)
    with pytest.raises(ValueError, match="balanced"):
        SGDClassifier(class_weight="balanced").partial_fit(X, y, classes=[0, 1])
    assert hasattr(classifier(class_weight={0: 2.0}).partial_fit(X, y), "coef_")


def test_weights_are_routed():
    X, y, weight = problem()
    with sklearn.config_context(enable_metadata_routing=True):
        model = classifier().set_fit_request(sample_weight=True)
        pipeline = make_pipeline(StandardScaler().set_fit_request(sample_weight=False), model)
        found = pipeline.fit(X, y, sample_weight=weight)[-1]
        scaled = StandardScaler().fit_transform(X)
        np.testing.assert_array_equal(found.coef_, classifier().fit(scaled, y, weight).coef_)
        search = GridSearchCV(
            model.set_score_request(sample_weight=False), {"prior_variance": [0.1, 1.0]}, cv=2
        )
        best = search.fit(X, y, sample_weight=weight).best_estimator_
        expected = classifier(**search.best_params_).fit(X, y, sample_weight=weight)
        np.testing.assert_array_equal(best.coef_, expected.coef_)
    assert linear.LinearBayesPointClassifier().set_partial_fit_request is not None
