import json
import sys
import tempfile

import numpy as np
import onnx
import onnxruntime
import pandas as pd
import pytest
from scipy import sparse, special
from sklearn.compose import ColumnTransformer
from sklearn.datasets import load_iris, make_blobs, make_moons
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import (
    MaxAbsScaler,
    MinMaxScaler,
    OneHotEncoder,
    StandardScaler,
)

from bayespoint import (
    AdaptiveMarginSVC,
    BayesPointClassifier,
    LinearBayesPointClassifier,
    LinearMarginSVC,
    LinearProgramSVC,
    OnionClassifier,
    RejectOptionClassifier,
    to_onnx,
)
from bayespoint.io.onnx import graph as graphs
from bayespoint.io.onnx import inputs
from bayespoint.io.onnx.kernels import _FAR
from bayespoint.io.onnx.probabilities import log_normal_tail, normal_tail, student_tail, two_classes
from bayespoint.solvers import Billiard, Cells, Corners, Gibbs, Nystroem, Perceptron
from bayespoint.solvers.weights import multiclass

# What to_onnx promises. Rounding of some hundred terms leaves 1e-13 or so; Phi is right to 6e-11
# in the quadrature for several classes, and a product of factors has as many times that.
CLOSE = 1e-11
QUADRATURE = 1e-9
# The error of scipy's stdtr with one degree of freedom is 2e-9 a class.
CAUCHY = 1e-8
# The edge of single precision: its largest, its smallest, subnormal and signed numbers, whole
# numbers that it does not have; and double precision beyond it.
EDGE = [0, -0.0, 1e38, -1e38, 3.4028235e38, -1.2e-38, 1e-38, 1.4e-45, -1e-45, 2**24 + 1, 2**53 - 1]
EDGE += [1.0, -0.5, 1 / 3, 5e-324, 1e100, -1e100]


def session(model):
    exported = to_onnx(model)
    onnx.checker.check_model(exported, full_check=True)
    assert {node.domain for node in exported.graph.node} == {""}
    assert [opset.version for opset in exported.opset_import] == [21]
    return optimized(exported)


def optimized(exported):
    """A session whose optimized graph has no factor in single precision (FusedMatMul)."""
    options = onnxruntime.SessionOptions()
    with tempfile.TemporaryDirectory() as folder:
        options.optimized_model_filepath = f"{folder}/model.onnx"
        options.intra_op_num_threads = 1
        options.log_severity_level = 3  # it warns that the file is for this machine
        found = onnxruntime.InferenceSession(exported.SerializeToString(), options)
        nodes = onnx.load(options.optimized_model_filepath).graph.node
    factors = [a.f for node in nodes for a in node.attribute if a.name in ("alpha", "beta")]
    assert set(factors) <= {1.0}
    return found


def feeds(session, X):
    """The inputs of a session, by the name of columns where there are some."""
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


def assert_same(model, X, close=CLOSE, twin=None):
    """Compare an exported model with itself in Python, for all rows, one row and none."""
    exported, twin = session(model), twin or model
    has_probabilities = hasattr(twin, "predict_proba")
    expected = (twin.predict_proba if has_probabilities else twin.decision_function)(X)
    labels = twin.predict(X)
    # Scores are in units of the largest feature.
    close = np.full(len(labels), close) * (1 if has_probabilities else largest_number(X))
    clear = margin(expected) > 2 * close
    assert clear.any()
    for n in (len(labels), 1, 0):
        found = run(exported, X[:n])
        scores = found["probabilities" if has_probabilities else "scores"]
        assert scores.shape == expected[:n].shape
        assert scores.dtype == np.float64
        off = np.abs(scores - expected[:n]).reshape(n, -1 if n else 1)
        assert np.all(off <= close[:n, None]), off.max()
        assert not has_probabilities or np.all((scores > 0) & (scores < 1))
        assert found["label"].shape == (n,)
        np.testing.assert_array_equal(found["label"][clear[:n]], labels[:n][clear[:n]])
        if has_probabilities and len(twin.classes_) == 2:
            np.testing.assert_array_equal(found["label"], twin.classes_[scores.argmax(axis=1)])


def largest_number(X):
    numbers = np.asarray(X.select_dtypes("number") if isinstance(X, pd.DataFrame) else X)
    return np.maximum(np.nanmax(np.abs(numbers), axis=1), 1)


def margin(scores):
    """By how much the first class is ahead of the second."""
    if scores.ndim == 1:
        return np.abs(scores)
    second, first = np.sort(scores, axis=1)[:, -2:].T
    return first - second


@pytest.fixture(scope="module")
def moons():
    X, y = make_moons(60, noise=0.25, random_state=0)
    rng = np.random.default_rng(1)
    return X, y, np.vstack([X, rng.uniform(-3, 4, (2000, 2)), rng.choice(EDGE, (1000, 2))])


@pytest.fixture(scope="module")
def iris():
    X, y = load_iris(return_X_y=True)
    rng = np.random.default_rng(2)
    points = [X, rng.uniform(-1, 9, (700, 4)), rng.choice(EDGE, (300, 4))]
    return X[::3], np.array(["setosa", "vergißmeinnicht", ""])[y[::3]], np.vstack(points)


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


FAR_OUT = np.r_[0, 5e-324, 1e-38, np.logspace(-12, 2, 4001), 1e8]


def test_normal_tail():
    tail, log_tail = evaluate(lambda a: (normal_tail(a), log_normal_tail(a)), FAR_OUT)
    np.testing.assert_allclose(tail, special.ndtr(-FAR_OUT), rtol=0, atol=5e-15)
    np.testing.assert_allclose(log_tail, special.log_ndtr(-FAR_OUT), rtol=1e-14)


def test_normal_tail_of_infinity_and_of_what_is_no_number():
    x = np.array([np.inf, 1e300, np.nan])
    tail, log_tail = evaluate(lambda a: (normal_tail(a), log_normal_tail(a)), x)
    np.testing.assert_array_equal(tail, [0, 0, np.nan])
    assert np.all(np.isfinite(log_tail[:2]))


def test_a_polynomial_of_lower_degree_is_noticed():
    (tail,) = evaluate(lambda a: [normal_tail(a, 10)], FAR_OUT)
    assert np.abs(tail - special.ndtr(-FAR_OUT)).max() > 1e-8


@pytest.mark.parametrize("df", [1, 2, 4, 8, 10])
def test_student_tail(df):
    (tail,) = evaluate(lambda a: [student_tail(a, df)], FAR_OUT)
    # scipy is off by 2e-9 for df=1.
    expected = special.stdtr(df, -FAR_OUT) if df > 1 else np.arctan2(1, FAR_OUT) / np.pi
    np.testing.assert_allclose(tail, expected, rtol=1e-12)


@pytest.mark.parametrize("normalize", [False, True])
@pytest.mark.parametrize("fit_intercept", [False, True])
@pytest.mark.parametrize("kernel", ["linear", "poly", "rbf", "laplacian"])
def test_kernels(moons, iris, kernel, fit_intercept, normalize):
    for X, y, points in (moons, iris):
        options = {"fit_intercept": fit_intercept, "normalize": normalize, "degree": 2}
        model = bayes_point(X, y, kernel, **options)
        assert_same(model, points)


@pytest.mark.parametrize("degree", [1, 1.5, 2, 5, 7])
def test_degrees(moons, degree):
    X, y, _ = moons
    X = X - X.min(axis=0)  # no power of a negative number
    assert_same(bayes_point(X, y, "poly", degree=degree), np.vstack([X, 10 * X]))


@pytest.mark.parametrize("normalize", [False, True])
def test_sigmoid(moons, normalize):
    X, y, points = moons
    model = bayes_point(X, y, "sigmoid", solver="perceptron", gamma=0.1, normalize=normalize)
    assert_same(model, points[:2000], close=CLOSE if model.probit_df_ > 1 else CAUCHY)


SOLVERS = [
    Billiard(tol=0.2, n_draws=20),
    Gibbs(tol=0.2, n_draws=20),
    Corners(),
    Perceptron(n_members=5),
    Nystroem(n_landmarks=20),
    Cells(),
]


@pytest.mark.parametrize("solver", SOLVERS, ids=lambda s: type(s).__name__)
def test_solvers(moons, iris, solver):
    for X, y, points in (moons, iris):
        model = bayes_point(X, y, solver=solver)
        assert_same(model, points, close=CLOSE if model.probit_df_ > 1 else CAUCHY)


@pytest.mark.parametrize("kernel", ["linear", "rbf", "laplacian"])
def test_cells(moons, iris, kernel):
    # Beyond 1e10, the cell that scikit-learn finds for a point is one of rounding.
    for X, y, points in (moons, iris):
        model = bayes_point(X, y, kernel, solver=Cells(n_points=15))
        assert len(model.cell_centers_) > 2
        assert_same(model, points[np.abs(points).max(axis=1) < 1e10])


@pytest.mark.parametrize("df", [np.inf, 1, 2, 4, 8])
@pytest.mark.parametrize("label_noise", [0.0, 0.05])
def test_laws(moons, iris, df, label_noise):
    for X, y, points in (moons, iris):
        model = bayes_point(X, y)
        for scale in (1e-3, model.probit_scale_, 1e6):
            model.probit_df_, model.label_noise_, model.probit_scale_ = df, label_noise, scale
            # Errors of outputs are multiplied by the scale, and scipy has one of its own.
            assert_same(model, points, close=CLOSE if scale < 1e6 and df > 1 else CAUCHY)


def test_label_noise_and_automatic_parameters(moons):
    X, y, points = moons
    model = BayesPointClassifier(label_noise=0.1, random_state=0).fit(X, y)
    assert_same(model, points)


def test_points_far_from_each_other():
    """Squares lose the digits of distances, so that differences are taken."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 3)) + 1e6 * rng.integers(0, 2, (60, 1))
    model = bayes_point(X, (X[:, 0] % 1e3 < 500).astype(int), solver="perceptron", gamma=1.0)
    squares = np.sum((model.support_vectors_ - model.origin_) ** 2, axis=1)
    assert squares.max() > _FAR
    assert_same(model, X + 0.1 * rng.standard_normal(X.shape))


@pytest.mark.parametrize("kernel", ["rbf", "laplacian"])
def test_the_edge_of_double_precision(moons, kernel):
    X, y, _ = moons
    far = np.array([[1.7e308, -1.7e308], [1.7e308, 0], [-1.7e308, 1]])
    assert_same(bayes_point(30 * X, y, kernel, gamma=0.01), np.vstack([30 * X, far]))


def test_many_features_and_the_single_precision_of_python():
    X, y = make_blobs(150, 40, centers=3, cluster_std=9, random_state=0)
    model = bayes_point(X, y, solver="perceptron", gamma=1e-4)
    assert_same(model, X)
    model._single = True  # as with many training points
    error = np.abs(run(session(model), X)["probabilities"] - model.predict_proba(X)).max()
    assert CLOSE < error < 1e-5


@pytest.mark.parametrize("covariance", ["full", "factorized"])
@pytest.mark.parametrize("options", [{}, {"fit_intercept": False}, {"noise_variance": 1e-3}])
def test_linear(moons, iris, covariance, options):
    for X, y, points in (moons, iris):
        model = LinearBayesPointClassifier(covariance=covariance, **options).fit(X, y)
        assert_same(model, points, close=CLOSE if len(model.classes_) == 2 else QUADRATURE)


@pytest.mark.parametrize("covariance", ["full", "factorized"])
@pytest.mark.parametrize("n_classes", [4, 7])
def test_linear_with_many_classes(covariance, n_classes):
    X, y = make_blobs(250, 3, centers=n_classes, cluster_std=4, random_state=0)
    model = LinearBayesPointClassifier(covariance=covariance).fit(X, y)
    edge = np.random.default_rng(0).choice(EDGE, (100, 3))
    assert_same(model, np.vstack([X, 30 * X[:50], edge]), close=QUADRATURE)


def test_linear_with_negative_correlations():
    """Scores of two classes that go apart: the third one is above one or the other."""
    X = np.linspace(-2, 2, 60)[:, None]
    y = np.digitize(X[:, 0], [-1, 1])
    options = {"covariance": "full", "fit_intercept": False, "noise_variance": 0.01}
    model = LinearBayesPointClassifier(**options).fit(X, y)
    apart = np.array([1.0, 0.0, -1.0]) @ multiclass.basis(3)
    model._precision = np.linalg.inv(np.outer(apart, apart) + 0.01 * np.eye(2))
    model._shift = model._precision @ [0.1, 0.2]
    model.coef_ = multiclass.class_means(model._belief(), 3)
    assert_same(model, X, close=QUADRATURE)


def test_linear_without_noise():
    X, y = make_blobs(60, 2, centers=4, cluster_std=0.3, random_state=0)
    model = LinearBayesPointClassifier(noise_variance=0.0, covariance="full").fit(X, y)
    assert_same(model, np.vstack([X, np.zeros((1, 2)), 5 * X]), close=QUADRATURE)


def test_linear_that_learned_from_a_stream(iris):
    X, y, points = iris
    model = LinearBayesPointClassifier().partial_fit(X, y, classes=["", "other", *np.unique(y)[1:]])
    assert_same(model, points[:1000], close=QUADRATURE)


@pytest.mark.parametrize("kernel", ["linear", "poly", "rbf", "laplacian"])
@pytest.mark.parametrize("machine", [AdaptiveMarginSVC, LinearProgramSVC])
def test_linear_programs(moons, iris, machine, kernel):
    for X, y, points in (moons, iris):
        near = points[np.abs(points).max(axis=1) < 1e3]
        for options in ({}, {"fit_intercept": True}, {"normalize": True}):
            model = machine(kernel, gamma=0.5, degree=2, **options).fit(X - 1, y)
            # Large coefficients enlarge the rounding of kernel values.
            size = np.abs(model.dual_coef_).sum()
            assert_same(model, near, close=CLOSE * max(size, 1))


@pytest.mark.filterwarnings("ignore:With adaptivity")
def test_linear_program_without_support_vectors(moons):
    X, y, points = moons
    model = AdaptiveMarginSVC(gamma=0.5, adaptivity=1e6, fit_intercept=True).fit(X, y[::-1])
    assert len(model.support_) == 0
    found = run(session(model), points)
    np.testing.assert_array_equal(found["label"], model.predict(points))


@pytest.mark.parametrize("distance", ["l1", "l2"])
def test_hyperplanes(moons, iris, distance):
    for X, y, points in (moons, iris):
        assert_same(LinearMarginSVC(distance).fit(X, y), points)


def test_onion(moons):
    X, y, points = moons
    model = OnionClassifier(gamma=0.5, softness=0.3, random_state=0, n_bounces=2000).fit(X, y)
    assert_same(model, points)
    other = model.classifier(0, 1)
    assert_same(other, points)


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
    with pytest.raises(ValueError, match="Classes should be texts, whole numbers"):
        to_onnx(model)


def test_sparse():
    X = sparse.random(200, 30, 0.2, random_state=0, format="csr")
    y = np.where(X @ np.arange(30) > np.mean(X @ np.arange(30)), 1.0, -1.0)
    for classifier in (
        LinearBayesPointClassifier(),
        LinearBayesPointClassifier(covariance="factorized"),
        BayesPointClassifier("linear", softness=0.3),
        BayesPointClassifier(softness=0.3, gamma=0.5, solver=Cells(n_points=50)),
    ):
        assert_same(make_pipeline(MaxAbsScaler(), classifier).fit(X, y), X)


# Tables


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    n = 400
    table = pd.DataFrame(
        {
            "age": rng.normal(40, 10, n),
            "größe in m": rng.standard_cauchy(n),
            "unused": 1.0,
            "label": rng.choice(["a", "日本", "b c", None], n, p=[0.4, 0.3, 0.25, 0.05]),
            "_1": rng.choice(list("abcdefgh"), n, p=[0.3, 0.3, 0.3, 0.02, 0.02, 0.02, 0.02, 0.02]),
        }
    )
    table.loc[rng.random(n) < 0.1, "age"] = np.nan
    noise = rng.normal(0, 5, n)
    y = table.age.fillna(40) + 5 * (table.label == "a") + 5 * (table._1 == "b") + noise > 45
    return table, np.where(y, "yes", "no")


@pytest.fixture(scope="module")
def strange(table):
    """What a model may meet later."""
    rows = table[0].sample(3000, replace=True, random_state=0).reset_index(drop=True)
    rng = np.random.default_rng(1)
    for column in ("age", "größe in m"):
        some = rng.random(len(rows)) < 0.3
        rows.loc[some, column] = rng.choice([*EDGE, np.nan], some.sum())
    for column in ("label", "_1"):
        some = rng.random(len(rows)) < 0.3
        rows.loc[some, column] = rng.choice(["A", "unknown", "日", " ", "a\0", None], some.sum())
    return rows


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


CLASSIFIERS = [
    LinearBayesPointClassifier(),
    LinearBayesPointClassifier(covariance="factorized"),
    BayesPointClassifier(gamma=0.1, softness=0.5),
    BayesPointClassifier(gamma=0.1, softness=0.5, solver="nystroem", random_state=0),
    LinearMarginSVC(),
]


@pytest.mark.parametrize("classifier", CLASSIFIERS, ids=str)
def test_table(table, strange, classifier):
    X, y = table
    model = prepared(classifier).fit(X, y)
    assert_same(model, strange)
    assert [i.name for i in session(model).get_inputs()] == [
        "age",
        "größe in m",
        "column 3 label",
        "_1",
    ]


ENCODERS = [
    {"handle_unknown": "ignore", "min_frequency": None},
    {"handle_unknown": "ignore", "min_frequency": 30},
    {"min_frequency": 0.2},
    {"max_categories": 2, "min_frequency": None},
    {"drop": "first"},
    {"drop": ["a", "b"]},
    {"drop": "if_binary", "max_categories": 2},
    {"categories": [["b c", "a", "x", np.nan], list("habc")], "min_frequency": None},
    {"sparse_output": False},
]


@pytest.mark.filterwarnings("ignore:Found unknown categories")
@pytest.mark.parametrize("options", ENCODERS, ids=str)
def test_encoders(table, strange, options):
    X, y = table
    model = prepared(LinearBayesPointClassifier(), **options)
    if "categories" in options:
        X = X[X._1.isin(list("habc")) & (X.label != "日本")]
        y = y[X.index]
        model.set_params(prepare__categories__handle_unknown="ignore")
    assert_same(model.fit(X, y), strange)


def test_categories_that_are_numbers():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"a": rng.choice([1.5, 2, np.nan], 200), "b": rng.choice([True, False], 200)})
    y = (X.a > 1.8) ^ X.b
    encoder = OneHotEncoder(handle_unknown="ignore")
    model = make_pipeline(encoder, LinearBayesPointClassifier()).fit(X, y)
    X.loc[:20, "a"] = 7
    assert_same(model, X)


@pytest.mark.parametrize(
    "options",
    [
        {"strategy": "mean"},
        {"strategy": "most_frequent", "add_indicator": True},
        {"strategy": "constant", "fill_value": -3.0},
        {"missing_values": -1.0, "add_indicator": True},
        {"keep_empty_features": True, "add_indicator": True},
    ],
    ids=str,
)
@pytest.mark.filterwarnings("ignore:Skipping features without any observed values")
def test_imputers(options):
    rng = np.random.default_rng(0)
    X = rng.integers(0, 4, (300, 4)).astype(float)
    y = X[:, 0] > X[:, 1]
    missing = options.get("missing_values", np.nan)
    X[rng.random(X.shape) < 0.2] = missing
    X[:, 2] = missing  # nothing to learn from
    model = make_pipeline(SimpleImputer(**options), LinearBayesPointClassifier()).fit(X, y)
    X[:, 3] = rng.choice([1, missing], 300)
    assert_same(model, X)


COLUMNS = [
    [0, 1],
    [-1, 0],
    slice(0, 2),
    slice("age", "größe in m"),
    [True, True, False, False, False],
    lambda table: ["größe in m"],
]
REMAINDERS = {"drop": "drop", "passthrough": "passthrough", "transformer": numbers()}


@pytest.mark.parametrize("columns", COLUMNS, ids=range(len(COLUMNS)))
@pytest.mark.parametrize("remainder", REMAINDERS)
def test_ways_to_name_columns(table, columns, remainder):
    X, y = table
    X = X.drop(columns=["label", "_1"]).assign(b=1.0, c=2.0).fillna(0.0)
    parts = [("scale", StandardScaler(), columns), ("gone", "drop", ["c"])]
    if not callable(columns) and -1 in (columns if isinstance(columns, list) else []):
        parts.pop()
    prepare = ColumnTransformer(parts, remainder=REMAINDERS[remainder])
    assert_same(make_pipeline(prepare, LinearBayesPointClassifier()).fit(X, y), X)


def test_one_column_and_arrays(table):
    X, y = table
    prepare = ColumnTransformer([("encode", OneHotEncoder(), ["_1"])])
    assert_same(make_pipeline(prepare, LinearBayesPointClassifier()).fit(X, y), X)
    prepare = ColumnTransformer([("scale", StandardScaler(with_mean=False), [1, 0])])
    array = X[["age", "größe in m"]].fillna(0.0).to_numpy()
    model = make_pipeline("passthrough", prepare, LinearBayesPointClassifier())
    assert_same(model[1:].fit(array, y), array)


def test_names_of_inputs():
    names = inputs.input_names(["label", "column 0 label", "", "a", "a", "accept"])
    assert len(set(names)) == 6
    assert names[1] == "column 0 label"
    assert names[3] == "a"
    assert not set(names) & {"", "label", "accept"}


def test_metadata(table):
    exported = to_onnx(prepared(LinearBayesPointClassifier()).fit(*table))
    about = {entry.key: entry.value for entry in exported.metadata_props}
    assert exported.producer_name == about["producer"] == "bayespoint"
    assert exported.producer_version == about["version"]
    assert about["estimator"] == "LinearBayesPointClassifier"
    assert json.loads(about["columns"])["column 3 label"] == "label"


# Rejection


def test_accept(table, strange):
    X, y = table
    model = RejectOptionClassifier(
        prepared(LinearBayesPointClassifier()), reject_rate=0.3, random_state=0
    ).fit(X, y)
    found = run(session(model), strange)
    assert 0.1 < found["accept"].mean() < 0.9
    np.testing.assert_array_equal(found["accept"], model.accept(strange))
    np.testing.assert_array_equal(found["label"], model.estimator_.predict(strange))


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


def test_accept_by_scores(moons, iris):
    for X, y, points in (moons, iris):
        frozen = FrozenEstimator(LinearMarginSVC().fit(X, y))
        model = RejectOptionClassifier(frozen, reject_rate=0.4).fit(X, y)
        near = points[np.abs(points).max(axis=1) < 1e3]
        found = run(session(model), near)
        assert 0 < found["accept"].mean() < 1
        np.testing.assert_array_equal(found["accept"], model.accept(near))


# What cannot be exported


def test_the_smallest_output_keeps_its_sign():
    model = LinearBayesPointClassifier(prior_variance=1.0, fit_intercept=False)
    model.fit([[1.0], [-1.0]], [1, 0])
    X = np.array([[1e-300], [-1e-300], [1e-20], [0.0], [-0.0]])
    found = run(session(model), X)
    np.testing.assert_array_equal(found["label"], [1, 0, 1, 0, 0])
    np.testing.assert_array_equal(found["probabilities"].argmax(axis=1), [1, 0, 1, 0, 0])


def test_the_smallest_output_keeps_its_sign_with_any_law():
    (p,) = evaluate(lambda x: [two_classes(x, df=2.0)], np.array([1e-300, -1e-300]), n_columns=2)
    np.testing.assert_array_equal(p.argmax(axis=1), [1, 0])


def test_a_changed_model_is_noticed(moons):
    X, y, points = moons
    model, twin = bayes_point(X, y), bayes_point(X, y)
    twin.dual_coef_ = twin.dual_coef_ * (1 + 1e-8)
    with pytest.raises(AssertionError):
        assert_same(model, points, twin=twin)


def test_not_fitted():
    with pytest.raises(NotFittedError):
        to_onnx(LinearBayesPointClassifier())


def test_kernels_that_are_not_known(moons):
    X, y, _ = moons
    model = bayes_point(X @ X.T + 1, y, "precomputed")
    with pytest.raises(ValueError, match="A precomputed kernel cannot be exported"):
        to_onnx(model)
    model = bayes_point(X, y, lambda A, B: A @ B.T + 1)
    with pytest.raises(ValueError, match="A kernel function cannot be exported"):
        to_onnx(model)


def test_other_estimators(moons):
    X, y, _ = moons
    with pytest.raises(ValueError, match="LogisticRegression cannot be exported"):
        to_onnx(LogisticRegression().fit(X, y))
    model = make_pipeline(MinMaxScaler(), LinearBayesPointClassifier()).fit(X, y)
    with pytest.raises(ValueError, match="MinMaxScaler cannot be exported"):
        to_onnx(model)


def test_degrees_of_freedom_without_a_formula(moons):
    model = bayes_point(*moons[:2])
    model.probit_df_ = 3.0
    with pytest.raises(ValueError, match="probit_df_ is 3"):
        to_onnx(model)


def texts_and_labels():
    return pd.DataFrame({"a": ["x", "", None, "x", "y"] * 8}), [0, 1, 0, 0, 1] * 8


def test_missing_values_and_empty_texts():
    X, y = texts_and_labels()
    model = make_pipeline(OneHotEncoder(), LinearBayesPointClassifier()).fit(X, y)
    with pytest.raises(ValueError, match="an empty text stands for a missing value"):
        to_onnx(model)
    model.fit(X.fillna("none"), y)
    assert_same(model, X.fillna("none"))


def test_texts_without_names():
    X, y = texts_and_labels()
    model = make_pipeline(OneHotEncoder(), LinearBayesPointClassifier())
    with pytest.raises(ValueError, match="fit the model on a DataFrame"):
        to_onnx(model.fit(X.fillna("").to_numpy(), y))


def test_imputed_texts():
    X, y = texts_and_labels()
    imputer = SimpleImputer(strategy="most_frequent")
    model = make_pipeline(imputer, OneHotEncoder(), LinearBayesPointClassifier()).fit(X, y)
    with pytest.raises(ValueError, match="A SimpleImputer for texts cannot be exported"):
        to_onnx(model)


def test_categories_of_different_kinds():
    X, y = texts_and_labels()
    X["a"] = X.a.map({"x": "x", "y": "y", "": True}).astype(object)
    model = make_pipeline(
        OneHotEncoder(categories=[["x", "y", None]]), LinearBayesPointClassifier()
    )
    X = X[X.a != True].where(X.notna(), None)  # noqa: E712
    model.fit(X, np.asarray(y)[X.index])
    model[0].categories_[0][1] = 3
    with pytest.raises(ValueError, match="Categories should be texts or numbers"):
        to_onnx(model)


def test_numbers_that_are_also_texts(table):
    X, y = table
    model = prepared(LinearBayesPointClassifier()).fit(X, y)
    prepare = model[0]
    prepare.transformers_[0] = ("numbers", prepare.transformers_[0][1], ["label", "_1"])
    with pytest.raises(ValueError, match="'label' is used both as numbers and as texts"):
        to_onnx(model)


def test_too_large(moons, monkeypatch):
    monkeypatch.setattr(graphs, "LARGEST", 1000)
    with pytest.raises(ValueError, match="an ONNX model can have 2 GB"):
        to_onnx(bayes_point(*moons[:2]))


def test_says_how_to_get_onnx(moons, monkeypatch):
    model = LinearBayesPointClassifier().fit(*moons[:2])
    for name in [name for name in sys.modules if name.startswith("bayespoint.io.onnx.")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(ImportError, match=r"bayespoint\[onnx\]"):
        to_onnx(model)
