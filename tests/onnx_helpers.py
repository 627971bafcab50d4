"""Run exported models, and compare them with Python."""

import json
import tempfile

import numpy as np
import onnx
import onnxruntime
import pandas as pd
from scipy import sparse
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from bayespoint import BayesPointClassifier, to_onnx
from bayespoint.io.onnx import graph as graphs

# The errors that to_onnx promises. Rounding of a few hundred terms leaves about 1e-13. In the
# quadrature for several classes, Phi has an error of 6e-11, and errors of factors add up.
TOLERANCE = 1e-11
QUADRATURE_TOLERANCE = 1e-9
# SciPy's stdtr with one degree of freedom has an error of 2e-9 for each class.
CAUCHY_TOLERANCE = 1e-8
# Numbers at the edge of single precision: largest, smallest, subnormal, signed zeros, integers
# that it cannot represent. Then numbers beyond it.
EDGE_NUMBERS = [
    *(0, -0.0, 1e38, -1e38, 3.4028235e38, -1.2e-38, 1e-38, 1.4e-45, -1e-45, 2**24 + 1, 2**53 - 1),
    *(1.0, -0.5, 1 / 3, 5e-324, 1e100, -1e100),
]


def session(model):
    exported = to_onnx(model)
    onnx.checker.check_model(exported, full_check=True)
    assert {node.domain for node in exported.graph.node} == {""}
    assert [opset.version for opset in exported.opset_import] == [21]
    return optimized(exported)


def optimized(exported):
    """Return a session whose optimized graph has no single precision factor (FusedMatMul)."""
    options = onnxruntime.SessionOptions()
    with tempfile.TemporaryDirectory() as folder:
        options.optimized_model_filepath = f"{folder}/model.onnx"
        options.intra_op_num_threads = 1
        options.log_severity_level = 3  # avoids the warning that the file is for this machine
        found = onnxruntime.InferenceSession(exported.SerializeToString(), options)
        nodes = onnx.load(options.optimized_model_filepath).graph.node
    factors = [a.f for node in nodes for a in node.attribute if a.name in ("alpha", "beta")]
    assert set(factors) <= {1.0}
    return found


def feeds(session, X):
    """Return the inputs of a session, by column name for a table."""
    if not isinstance(X, pd.DataFrame):
        return {"X": np.asarray(X.toarray() if sparse.issparse(X) else X, dtype=np.float64)}
    columns = json.loads(session.get_modelmeta().custom_metadata_map["columns"])
    found = {}
    for i in session.get_inputs():
        column = X[[columns[i.name]]]
        text = i.type == "tensor(string)"
        found[i.name] = column.fillna("").to_numpy(object) if text else column.to_numpy(float)
    return found


def run(session, X):
    names = [output.name for output in session.get_outputs()]
    return dict(zip(names, session.run(None, feeds(session, X)), strict=True))


def assert_same(model, X, tolerance=TOLERANCE, twin=None):
    """Compare an exported model with the Python model, for all rows, one row and no row."""
    exported, twin = session(model), twin or model
    has_probabilities = hasattr(twin, "predict_proba")
    expected = (twin.predict_proba if has_probabilities else twin.decision_function)(X)
    labels = twin.predict(X)
    # Scores are in units of the largest feature.
    allowed = np.full(len(labels), tolerance) * (1 if has_probabilities else largest_number(X))
    clear = margin(expected) > 2 * allowed
    assert clear.any()
    for n in (len(labels), 1, 0):
        found = run(exported, X[:n])
        scores = found["probabilities" if has_probabilities else "scores"]
        assert scores.shape == expected[:n].shape
        assert scores.dtype == np.float64
        off = np.abs(scores - expected[:n]).reshape(n, -1 if n else 1)
        assert np.all(off <= allowed[:n, None]), off.max()
        assert not has_probabilities or np.all((scores > 0) & (scores < 1))
        assert found["label"].shape == (n,)
        np.testing.assert_array_equal(found["label"][clear[:n]], labels[:n][clear[:n]])
        if has_probabilities and len(twin.classes_) == 2:
            np.testing.assert_array_equal(found["label"], twin.classes_[scores.argmax(axis=1)])


def largest_number(X):
    numbers = np.asarray(X.select_dtypes("number") if isinstance(X, pd.DataFrame) else X)
    return np.maximum(np.nanmax(np.abs(numbers), axis=1), 1)


def margin(scores):
    """Return the lead of the first class over the second."""
    if scores.ndim == 1:
        return np.abs(scores)
    second, first = np.sort(scores, axis=1)[:, -2:].T
    return first - second


def bayes_point(X, y, *args, **options):
    options = {"softness": 0.3, "random_state": 0, "solver": "ep", "gamma": 0.5} | options
    return BayesPointClassifier(*args, **options).fit(X, y)


def evaluate(function, x, n_columns=1):
    """Run a function of values on an array."""
    graph = graphs.Graph()
    values = function(graph.input("x", graphs.DOUBLE, 1))
    for i, value in enumerate(values):
        graph.output(f"y{i}", value, graphs.DOUBLE, ["rows", n_columns])
    model = onnx.helper.make_model(
        graph.proto(), opset_imports=[onnx.helper.make_opsetid("", 21)], ir_version=10
    )
    found = onnxruntime.InferenceSession(model.SerializeToString()).run(None, {"x": x[:, None]})
    return [values.squeeze() for values in found]


def numbers():
    return Pipeline(
        [
            ("impute", SimpleImputer(strategy="median", add_indicator=True)),
            ("scale", StandardScaler()),
        ]
    )


def prepared(classifier, **options):
    options = {"handle_unknown": "infrequent_if_exist", "min_frequency": 30} | options
    prepare = ColumnTransformer(
        [
            ("numbers", numbers(), ["age", "größe in m"]),
            ("categories", OneHotEncoder(**options), ["label", "_1"]),
        ],
        verbose_feature_names_out=False,
    )
    return Pipeline([("prepare", prepare), ("classify", classifier)])


def texts_and_labels():
    return pd.DataFrame({"a": ["x", "", None, "x", "y"] * 8}), [0, 1, 0, 0, 1] * 8
