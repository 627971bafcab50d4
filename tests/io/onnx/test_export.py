import json

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from bayespoint import (
    BayesPointClassifier,
    LinearBayesPointClassifier,
    RejectOptionClassifier,
    to_onnx,
)
from onnx_helpers import QUADRATURE_TOLERANCE, prepared, run, session

LABELS = [
    ([3, -(2**40)], np.int64),
    ([True, False], np.bool_),
    ([-1.0, 1.0], np.float64),
    (["ja", "nein"], object),
]


@pytest.mark.parametrize(("labels", "kind"), LABELS, ids=str)
def test_labels(moons, labels, kind):
    X, y, points = moons
    model = LinearBayesPointClassifier().fit(X, np.array(labels)[y])
    exported = session(model)
    found = run(exported, points)["label"]
    assert found.dtype == kind
    np.testing.assert_array_equal(found, model.predict(points))
    classes = json.loads(exported.get_modelmeta().custom_metadata_map["classes"])
    assert classes == sorted(labels)


def test_labels_of_other_kinds(moons):
    X, y, _ = moons
    model = LinearBayesPointClassifier().fit(X, y)
    model.classes_ = np.array([b"a", b"b"])
    with pytest.raises(ValueError, match="Classes should be strings, numbers"):
        to_onnx(model)


def test_metadata(table):
    exported = to_onnx(prepared(LinearBayesPointClassifier()).fit(*table))
    about = {entry.key: entry.value for entry in exported.metadata_props}
    assert exported.producer_name == about["producer"] == "bayespoint"
    assert exported.producer_version == about["version"]
    assert about["estimator"] == "LinearBayesPointClassifier"
    assert json.loads(about["columns"])["column 3 label"] == "label"


def test_accept(table, strange):
    X, y = table
    model = RejectOptionClassifier(
        prepared(LinearBayesPointClassifier()), reject_rate=0.3, random_state=0
    ).fit(X, y)
    found = run(session(model), strange)
    assert 0.1 < found["accept"].mean() < 0.9
    np.testing.assert_array_equal(found["accept"], model.accept(strange))
    np.testing.assert_array_equal(found["label"], model.estimator_.predict(strange))


@pytest.mark.parametrize("classifier", [LinearBayesPointClassifier(), BayesPointClassifier()])
def test_costs_decide_the_label_and_what_is_accepted(table, strange, classifier):
    X, y = table
    n = len(np.unique(y))
    costs = np.linspace(1, 30, n * n).reshape(n, n) * (1 - np.eye(n))
    model = RejectOptionClassifier(
        prepared(classifier), costs=costs, reject_rate=0.3, random_state=0
    ).fit(X, y)
    found = run(session(model), strange)
    plain = model.estimator_.predict(strange)
    answers = model.at().predict(strange)
    assert (answers != plain).any()
    np.testing.assert_array_equal(found["label"], answers)
    np.testing.assert_array_equal(found["accept"], model.accept(strange))
    np.testing.assert_allclose(
        found["probabilities"], model.predict_proba(strange), atol=QUADRATURE_TOLERANCE
    )


def test_many_rows_have_the_confidence_of_the_threshold():
    rng = np.random.default_rng(0)
    X = rng.choice([0.1, 0.7], (500, 3))
    model = RejectOptionClassifier(LinearBayesPointClassifier(), reject_rate=0.3, random_state=0)
    model.fit(X, X @ [1, 2, 3] + rng.standard_normal(500) > 2)
    assert np.mean(model.confidence(X) == model.threshold_) > 0.05
    np.testing.assert_array_equal(run(session(model), X)["accept"], model.accept(X))


def test_no_threshold_and_no_acceptance(moons):
    X, y, points = moons
    model = RejectOptionClassifier(LinearBayesPointClassifier(), random_state=0).fit(X, y)
    assert list(run(session(model), points)) == ["label", "probabilities"]
    model.threshold_ = np.inf
    assert not run(session(model), points)["accept"].any()


def test_not_fitted():
    with pytest.raises(NotFittedError):
        to_onnx(LinearBayesPointClassifier())
