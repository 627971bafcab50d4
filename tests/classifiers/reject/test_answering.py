import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

import bayespoint
from bayespoint import RejectOptionClassifier
from bayespoint.evaluation import evaluate


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    size, place = rng.normal(size=3000), rng.choice(["n", "s"], 3000)
    y = np.where(size + np.where(place == "s", 0.6, 0.2) * rng.normal(size=3000) > 0, "yes", "no")
    return pd.DataFrame({"size": size, "place": place}), y


@pytest.fixture(scope="module")
def model(table):
    X, y = table
    columns = bayespoint.BayesPointClassifier(gamma=1.0, softness=0.3)
    return RejectOptionClassifier(
        columns, max_error=0.1, groups="place", calibration_size=0.5, random_state=0
    ).fit(X[:1500], y[:1500])


def test_each_group_has_its_threshold(model, table):
    X, y = table
    thresholds = dict(zip(model.groups_, model.group_thresholds_, strict=True))
    assert thresholds["n"] < thresholds["s"] < np.inf  # "s" is noisier
    confidence = model.confidence(X)
    expected = confidence >= X["place"].map(thresholds).to_numpy()
    np.testing.assert_array_equal(model.accept(X), expected)
    labels = model.predict(X)
    np.testing.assert_array_equal(labels == "reject", ~expected)
    for name in "ns":  # three deviations above the promise at most
        rows = (X["place"] == name).to_numpy() & expected & (np.arange(len(y)) >= 1500)
        assert np.mean(labels[rows] != y[rows]) <= 0.1 + 3 * np.sqrt(0.09 / rows.sum())


def test_a_group_that_was_never_seen_is_refused(model, table):
    X = table[0].iloc[:3].assign(place="w")
    assert not model.accept(X).any()


def test_groups_by_answer(table):
    X, y = table
    model = RejectOptionClassifier(
        make_pipeline(OneHotEncoder(sparse_output=False), LogisticRegression()),
        max_error=0.3,
        groups="prediction",
        random_state=0,
    )
    X = X[["place"]].assign(sign=np.sign(X["size"]))
    model.fit(X, y)
    thresholds = dict(zip(model.groups_, model.group_thresholds_, strict=True))
    answer = model.at().predict(X)
    expected = model.confidence(X) >= [thresholds[name] for name in answer]
    np.testing.assert_array_equal(model.accept(X), expected)


def test_evaluation_files_and_export(model, table, tmp_path):
    X, y = table
    accepted = model.accept(X)
    promise = evaluate(model, X, y).promise
    assert promise.error.total == accepted.sum()
    assert promise.error.number == np.sum(accepted & (model.at().predict(X) != y))
    bayespoint.save(model, tmp_path / "m")
    again = bayespoint.load(tmp_path / "m")
    np.testing.assert_array_equal(again.accept(X), accepted)
    assert again.group_summary() == model.group_summary()
    onnx = pytest.importorskip("bayespoint.io.onnx")
    with pytest.raises(NotImplementedError, match="cannot be exported"):
        onnx.to_onnx(model)
