"""The guarantees section: limits, promises and certificates."""

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from bayespoint import BayesPointClassifier, LinearBayesPointClassifier, RejectOptionClassifier
from bayespoint.evaluation.report.formatting import percent
from report_helpers import Constant, Reject


@pytest.mark.parametrize(
    ("attributes", "words"),
    [
        ({"max_error": 0.05, "calibration_confidence_": np.ones(500)}, "At most 5% of the answers"),
        ({"max_error": 0.05, "calibration_confidence_": np.ones(500)}, "500 held-out rows"),
        ({"max_error": 0.05, "cv": 5}, "not a strict promise"),
        ({"max_error": 0.5, "threshold_": -np.inf}, "need not refuse anything"),
        ({"reject_rate": 0.25}, "to refuse 25%. That is no promise about the error"),
        ({"reject_rate": 0.25, "threshold_": np.inf}, "answers none of the rows"),
        ({"max_error": 0.05, "threshold_": np.inf}, "No threshold can promise that"),
        ({"max_error": 0.0001}, "more than was promised"),
    ],
)
def test_reject_option(write, attributes, words):
    rng = np.random.default_rng(0)
    right = rng.uniform(0.5, 1, size=400)
    y = (rng.random(400) < right).astype(int)
    model = Reject(np.column_stack([1 - right, right]), [0, 1], 0.8, **attributes)
    evaluation, page = write(model, rng.normal(size=(400, 2)), y)
    assert words in page.text
    assert evaluation.promise.error == evaluation.at(model.threshold_)
    if model.threshold_ < np.inf:
        # The slider starts at the threshold of the model.
        accepted = np.count_nonzero(right >= model.threshold_)
        assert f"answered {accepted} of 400 rows" in page.text
    else:
        assert "with rejection –" in page.text


def test_the_real_reject_option(write):
    X, y = load_breast_cancer(return_X_y=True)
    X, y, X_test, y_test = X[::2], y[::2], X[1::2], y[1::2]
    inner = make_pipeline(StandardScaler(), LinearBayesPointClassifier())
    model = RejectOptionClassifier(inner, max_error=0.1, random_state=0).fit(X, y)
    evaluation, page = write(model, X_test, y_test)
    assert evaluation.promise.error.total == np.count_nonzero(model.accept(X_test))
    wrong = (model.predict(X_test) != y_test) & model.accept(X_test)
    assert evaluation.promise.error.number == np.count_nonzero(wrong)
    assert "At most 10% of the answers" in page.text
    assert "57 held-out rows" in page.text
    assert "A linear Bayes point machine" in page.text
    assert "StandardScaler" in page.text
    model = RejectOptionClassifier(FrozenEstimator(model.estimator_)).fit(X, y)
    evaluation, page = write(model, X_test, y_test)
    assert evaluation.promise is None
    assert "The model answers every row" in page.text
    assert "A linear Bayes point machine" in page.text


def test_certificate_where_it_is_valid(write):
    X, y = load_breast_cancer(return_X_y=True)
    X = X / X.max(axis=0)
    train = X[::2], y[::2]
    model = BayesPointClassifier(gamma=1.0, softness=0.5, random_state=0).fit(*train)
    _, page = write(model, X[1::2], y[1::2], train=train)
    assert "From the training rows alone: at most" in page.text
    scaled = make_pipeline(StandardScaler(), model).fit(*train)
    _, page = write(scaled, X[1::2], y[1::2], train=train)
    assert "which makes it invalid" in page.text
    tuned = BayesPointClassifier("rbf", random_state=0).fit(*train)
    _, page = write(tuned, X[1::2], y[1::2], train=train)
    assert "n_tuned is needed" in page.text
    mixed = BayesPointClassifier(random_state=0).fit(*train)
    _, page = write(mixed, X[1::2], y[1::2], train=train)
    assert "chose a mixture of kernels by the training labels" in page.text
    assert "a mixture of kernels, by label regression" in page.text


def test_one_sided_limit(write):
    # With no errors in n rows, the limit p satisfies (1 - p)^n = 5 %.
    y = np.zeros(59, dtype=int)
    _, page = write(Constant([[0.9, 0.1]] * 59, [0, 1]), np.zeros((59, 1)), y)
    assert f"At most {percent(1 - 0.05 ** (1 / 59))} of all rows" in page.text
