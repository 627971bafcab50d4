import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler, OneHotEncoder, StandardScaler

from bayespoint import BayesPointClassifier, LinearBayesPointClassifier, LinearMarginSVC, to_onnx
from bayespoint.solvers import Cells
from onnx_helpers import assert_same, numbers, prepared, session, texts_and_labels

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
        # For OneHotEncoder, NaN differs from None, and columns of pandas 2 may hold None.
        X, strange = (t.assign(label=t.label.where(t.label.notna(), np.nan)) for t in (X, strange))
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
# Up to version 1.7, scikit-learn keeps such features if filled with a constant, and warns.
@pytest.mark.filterwarnings("ignore:Currently, when `keep_empty_feature=False`:FutureWarning")
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


def test_missing_values_and_empty_texts():
    X, y = texts_and_labels()
    model = make_pipeline(OneHotEncoder(), LinearBayesPointClassifier()).fit(X, y)
    with pytest.raises(ValueError, match="an empty string stands for a missing value"):
        to_onnx(model)
    model.fit(X.fillna("none"), y)
    assert_same(model, X.fillna("none"))


def test_imputed_texts():
    X, y = texts_and_labels()
    imputer = SimpleImputer(strategy="most_frequent")
    model = make_pipeline(imputer, OneHotEncoder(), LinearBayesPointClassifier()).fit(X, y)
    with pytest.raises(ValueError, match="A SimpleImputer for text cannot be exported"):
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
    with pytest.raises(ValueError, match="Categories should be strings or numbers"):
        to_onnx(model)
