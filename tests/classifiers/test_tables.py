"""Tables as they are: what every way to give the same columns has in common, and errors."""

import re
import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import Bunch

from bayespoint import BayesPointClassifier, RejectOptionClassifier
from bayespoint.classifiers._tables import (
    bytes_of_copy,
    read_table,
    read_training_table,
    standardizes,
)
from bayespoint.fitting import mixture_search

METHODS = "predict", "predict_proba", "decision_function", "predict_vote", "sample_decision"
N = 60


def make_table(n=N, seed=0):
    rng = np.random.default_rng(seed)
    table = pd.DataFrame(
        {
            "age": rng.normal(40, 10, n),
            "color": rng.choice(["red", "green", "blue"], n),
            "visits": pd.array(rng.integers(0, 5, n), dtype="Int64"),
            "member": rng.random(n) < 0.5,
        }
    )
    table.loc[3, "age"] = np.nan
    table.loc[4, "visits"] = pd.NA
    table.loc[5, "color"] = None
    return table


TABLE = make_table()
Y = np.where((TABLE["age"].fillna(40) > 40) ^ (TABLE["color"] == "red"), "yes", "no")
NEW = make_table(20, seed=1)


def classifier(**parameters):
    given = {"kernel": "rbf", "gamma": 0.1, "softness": 0.1, "random_state": 0, **parameters}
    return BayesPointClassifier(**given)


@pytest.fixture(scope="module")
def model():
    return classifier(standardize=True).fit(TABLE, Y)


def as_lists(table):
    return [list(row) for row in table.astype(object).itertuples(index=False)]


def by_hand(table, training=TABLE):
    """Return the points of `make_table`, written down column by column."""
    points = []
    for name in ("age", "visits"):
        known = training[name].dropna().astype(float)
        values = table[name].astype(float)
        points.append((values.fillna(known.median()) - known.mean()) / known.std(ddof=0))
        points.append(0.5 * values.isna())
    colors = [table["color"] == color for color in ("blue", "green", "red")]
    member = (table["member"] - training["member"].mean()) / training["member"].std(ddof=0)
    points[2:2] = [*colors, table["color"].isna()]
    return np.column_stack([*points, member]).astype(float)


def test_a_table_is_like_its_columns_by_hand(model):
    X = by_hand(TABLE)
    np.testing.assert_allclose(model.support_vectors_, X[model.support_], atol=1e-14)
    twin = classifier().fit(X, Y)
    for method in METHODS:
        expected = getattr(twin, method)(by_hand(NEW))
        found = getattr(model, method)(NEW)
        if method.startswith("predict") and method != "predict_proba":
            assert np.array_equal(found, expected)
        else:  # the points differ by rounding, which EP amplifies by its tolerance
            np.testing.assert_allclose(found, expected, atol=1e-8)
    np.testing.assert_allclose(model.decision_std_error(NEW), twin.decision_std_error(by_hand(NEW)))
    np.testing.assert_allclose(
        model.draw_errors(TABLE, Y), twin.draw_errors(by_hand(TABLE), Y), atol=1e-12
    )
    assert model.n_features_in_ == 4
    assert list(model.feature_names_in_) == list(TABLE)


def test_the_default_needs_nothing_else(monkeypatch):
    # By hand, each category would be a column with a relevance of its own.
    monkeypatch.setattr(mixture_search, "learn_scales", lambda X, *_: np.ones(X.shape[1]))
    model = BayesPointClassifier(random_state=0).fit(TABLE, Y)
    twin = BayesPointClassifier(random_state=0, standardize=False).fit(by_hand(TABLE), Y)
    # The points differ by rounding, and the kernel is rounded to three digits.
    np.testing.assert_allclose(
        model.predict_proba(NEW), twin.predict_proba(by_hand(NEW)), atol=1e-8
    )
    # Units do not matter.
    other = clone(model).fit(TABLE.assign(age=1e6 + 1e-3 * TABLE["age"]), Y)
    found = other.predict_proba(NEW.assign(age=1e6 + 1e-3 * NEW["age"]))
    np.testing.assert_allclose(found, model.predict_proba(NEW), atol=1e-5)


WAYS = {
    "lists": as_lists,
    "objects": lambda table: table.to_numpy(dtype=object),
    "category": lambda table: table.astype({"color": "category"}),
    "string": lambda table: table.astype({"color": "string"}),
    "object columns": lambda table: table.astype(object),
    "arrow": lambda table: pytest.importorskip("pyarrow").Table.from_pandas(table),
    "floats": lambda table: table.astype({"visits": float, "member": float}),
}


@pytest.mark.parametrize("way", WAYS)
def test_every_way_to_give_a_table(way, model):
    give = WAYS[way]
    other = clone(model).fit(give(TABLE), Y)
    np.testing.assert_array_equal(other.predict_proba(give(NEW)), model.predict_proba(NEW))
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "X .* feature names")
        np.testing.assert_array_equal(other.predict_proba(NEW), model.predict_proba(NEW))
        np.testing.assert_array_equal(model.predict_proba(give(NEW)), model.predict_proba(NEW))


def test_a_data_frame_at_fit_and_an_array_at_predict_warn(model):
    with pytest.warns(UserWarning, match="X does not have valid feature names"):
        found = model.predict_proba(NEW.to_numpy(dtype=object))
    np.testing.assert_array_equal(found, model.predict_proba(NEW))


def test_other_columns_are_refused(model):
    with pytest.raises(ValueError, match="feature names should match"):
        model.predict(NEW[["color", "age", "visits", "member"]])
    with pytest.raises(ValueError, match="feature names should match"):
        model.predict(NEW.rename(columns={"age": "years"}))
    with pytest.raises(ValueError, match=r"has 3 features, but .* is expecting 4"):
        clone(model).fit(as_lists(TABLE), Y).predict(as_lists(NEW[["age", "color", "visits"]]))
    with pytest.raises(ValueError, match=r"Column 'age' of X should hold numbers, but holds 'old'"):
        model.predict(NEW.assign(age="old"))
    with pytest.raises(ValueError, match=r"Column 'color' .* like 'blue', .* but holds 3.0"):
        model.predict(NEW.assign(color=3))
    with pytest.raises(TypeError, match="X is sparse, but the training table had columns with"):
        model.predict(sparse.csr_matrix((2, 4)))


def test_named_kernels_use_numbers_as_they_are():
    X, y = load_iris(return_X_y=True)
    for kernel in ("linear", "poly", "rbf", "laplacian", lambda A, B: A @ B.T):
        model = BayesPointClassifier(kernel, gamma=0.1, softness=0.1).fit(X[::3], y[::3])
        assert np.array_equal(model.support_vectors_, X[::3][model.support_])
        assert not model.columns_.is_standardized
    points, _ = read_training_table(model, X, y)
    assert np.may_share_memory(points, X)
    assert bytes_of_copy(points, X) == 0


def test_standardize_is_like_a_scaler_before():
    X, y = load_iris(return_X_y=True)
    X = X * [1e-8, 1, 1e8, 1] + [0, 1e6, 0, 0]
    model = classifier(standardize=True).fit(X[::2], y[::2])
    pipeline = make_pipeline(StandardScaler(), classifier()).fit(X[::2], y[::2])
    # An offset of 1e6 deviations costs six digits, and EP's tolerance a few more.
    np.testing.assert_allclose(model.predict_proba(X), pipeline.predict_proba(X), atol=1e-7)


def test_sparse_columns_are_like_dense_ones():
    """The rbf kernel does not see that sparse columns keep their means."""
    X, y = load_iris(return_X_y=True)
    S = sparse.csr_matrix(X)
    dense = classifier(standardize=True).fit(X[::2], y[::2]).predict_proba(X)
    model = classifier(standardize=True).fit(S[::2], y[::2])
    assert sparse.issparse(model.support_vectors_)
    np.testing.assert_allclose(model.predict_proba(S), dense, atol=1e-8)
    np.testing.assert_allclose(model.predict_proba(X), dense, atol=1e-8)


def test_missing_values_carry_information():
    """The class is whether a value is missing, which only a mark can tell."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(80, 2)), rng.integers(0, 2, 80)
    X[y == 1, 0] = np.nan
    assert classifier().fit(X, y).score(X, y) == 1


def test_single_precision_with_missing_values():
    X, y = load_iris(return_X_y=True)
    X = X.astype(np.float32)
    X[::7, 2] = np.nan
    model = classifier().fit(X, y)
    assert model.support_vectors_.dtype == np.float32
    assert model.score(X, y) > 0.9


@pytest.mark.parametrize(
    "chosen", [[1], ["color"], [False, True, False, False], np.array([1]), ("color",)]
)
def test_chosen_columns(chosen, model):
    other = clone(model).set_params(categorical_features=chosen).fit(TABLE, Y)
    np.testing.assert_array_equal(other.predict_proba(NEW), model.predict_proba(NEW))


def test_numbers_as_categories():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 4, (100, 2)).astype(float)
    y = np.isin(X[:, 0], [0, 2])
    X[0, 0] = np.nan
    model = classifier(categorical_features=[0], kernel="linear", gamma="scale").fit(X, y)
    assert model.columns_.names(["a", "b"]) == [*(f"a={k}.0" for k in range(4)), "a missing", "b"]
    assert model.score(X[1:], y[1:]) == 1
    assert len(classifier(categorical_features=[]).fit(X, y).columns_.groups) == 3


def test_ordered_categoricals_are_numbers():
    sizes = pd.CategoricalDtype(["S", "M", "L", "XL"], ordered=True)
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"size": rng.choice(["S", "M", "L"], N), "x": rng.normal(size=N)})
    numbers = table.assign(size=table["size"].map({"S": 0, "M": 1, "L": 2}))
    y = (numbers["size"] + table["x"] > 1).to_numpy()
    model = classifier().fit(table.astype({"size": sizes}), y)
    twin = classifier().fit(numbers, y)
    expected = twin.predict_proba(numbers)
    # At prediction the values count, whatever their type; unknown ones are missing.
    for given in (table, table.astype({"size": sizes}), table.astype({"size": "category"})):
        np.testing.assert_array_equal(model.predict_proba(given), expected)
    large = twin.predict_proba(numbers.assign(size=3))
    np.testing.assert_array_equal(model.predict_proba(table.assign(size="XL")), large)
    unknown = twin.predict_proba(numbers.assign(size=np.nan))
    np.testing.assert_array_equal(model.predict_proba(table.assign(size="?")), unknown)
    # The user can say that they are categories without order.
    model.set_params(categorical_features=["size"]).fit(table.astype({"size": sizes}), y)
    assert model.columns_.names(["size", "x"]) == ["size=L", "size=M", "size=S", "x"]


def test_unseen_categories_and_categories_without_rows():
    table = TABLE.astype({"color": pd.CategoricalDtype(["red", "green", "blue", "violet"])})
    model = classifier().fit(table, Y)
    assert model.columns_.categories[1].tolist() == ["blue", "green", "red"]
    found = model.predict_proba(NEW.assign(color="violet"))
    np.testing.assert_array_equal(found, model.predict_proba(NEW.assign(color="pink")))
    # Missing is a category of its own, because the training table had it.
    assert np.any(found != model.predict_proba(NEW.assign(color=None)))


ODD = {
    "no values": [None] * N,
    "no categories": pd.Categorical([None] * N, categories=["a"]),
    "constant": [7.0] * N,
    "one category": ["a"] * N,
    "a category for each row": [f"row {i}" for i in range(N)],
    "huge": np.linspace(-1e300, 1e300, N),
    "tiny": np.linspace(1e-300, 2e-300, N),
    "far away": 1e12 + np.arange(N),
}


@pytest.mark.parametrize("kind", ODD)
def test_odd_columns_do_no_harm(kind):
    X = pd.DataFrame({"x": np.arange(N) % 2, "odd": ODD[kind]})
    y = np.arange(N) % 2
    model = BayesPointClassifier(standardize=True, gamma=0.3, softness=0.1).fit(X, y)
    assert model.score(X, y) == 1
    assert np.isfinite(model.predict_proba(X.assign(odd=[X["odd"][0]] * N))).all()


def fit_error(X, error=ValueError, y=None, **parameters):
    with pytest.raises(error) as caught:
        classifier(**parameters).fit(X, np.arange(len(X)) % 2 if y is None else y)
    return str(caught.value)


def test_columns_that_are_refused():
    def with_(values):
        return pd.DataFrame({"x": np.arange(4.0), "bad": values})

    message = fit_error(with_(pd.date_range("2020", periods=4)), TypeError)
    assert re.match(r"Column 'bad' of X .* holds another type: datetime64", message)
    assert "holds both 'a' and 1" in fit_error(with_(["a", 1, "b", 2]))
    assert "contains infinity" in fit_error(with_([1, np.inf, 2, 3]))
    assert "contains infinity" in fit_error(with_([1, np.inf, 2, 3]).assign(c=list("abca")))
    assert "Complex data" in fit_error(with_([1j, 2, 3, 4]))
    assert "Complex data" in fit_error(with_([1j, 2, 3, 4]).assign(c=list("abca")))
    assert "unhashable" in fit_error(np.array([[{}], [1.0]], dtype=object), TypeError)
    for flat in (["a", "b"], pd.Series(["a", "b"]), np.full((2, 2, 2), "a"), "ab"):
        assert "Expected 2D array" in fit_error(flat, y=[0, 1])
    far = with_([-1.7e308, 1.7e308, 1e308, 1e308])
    assert "too far apart" in fit_error(far, standardize=True)
    assert "Convert them to text" in fit_error(
        with_([2**53 + 2, 1, 2, 3]), categorical_features=["bad"]
    )
    texts = with_(list("abca"))
    assert "'bad' of X should hold numbers, but holds 'a'" in fit_error(
        texts, categorical_features=None
    )
    assert "should hold numbers" in fit_error(texts, categorical_features=["x"])
    assert "inconsistent numbers of samples" in fit_error(texts, y=[0, 1])
    assert "0 sample" in fit_error(texts[:0])


def test_columns_that_do_not_exist():
    X, y = np.arange(8.0).reshape(4, 2), [0, 1, 0, 1]
    for wrong in ([2], [-1], [True], [1.5], ["a"], [[0]]):
        message = fit_error(X, categorical_features=wrong, y=y)
        assert re.search(r"mask of 2 booleans, column numbers from 0 to 1, or", message)
    frame = pd.DataFrame(X, columns=["a", "b"])
    assert "names 'c', but the columns of X are ['a', 'b']" in fit_error(
        frame, categorical_features=["c"]
    )


def test_sparse_tables():
    S = sparse.csr_matrix(np.array([[1.0, 0], [np.nan, 2], [0, 3], [1, 1]]))
    message = fit_error(S, y=[0, 1, 0, 1])
    assert "contains NaN" in message
    assert "sparse" in message
    model = classifier().fit(np.nan_to_num(S.toarray()), [0, 1, 0, 1])
    with pytest.raises(ValueError, match="contains NaN"):
        model.predict(S)
    S.data = np.nan_to_num(S.data)
    assert "needs a dense table" in fit_error(S, TypeError, [0, 1, 0, 1], categorical_features=[0])
    frame = pd.DataFrame.sparse.from_spmatrix(S)
    assert sparse.issparse(classifier().fit(frame, [0, 1, 0, 1]).support_vectors_)


def test_duplicate_entries_of_a_sparse_matrix_are_added():
    data, indices = np.array([1.0, 2.0, 4.0, 1.0]), np.array([0, 0, 1, 0])
    S = sparse.csr_matrix((data, indices, np.array([0, 2, 3, 4])), shape=(3, 2))
    model = classifier(standardize=True).fit(S, [0, 1, 0])
    dense = classifier(standardize=True).fit(S.toarray(), [0, 1, 0])
    np.testing.assert_allclose(model.columns_.scale, dense.columns_.scale)
    np.testing.assert_allclose(model.predict_proba(S), dense.predict_proba(S), atol=1e-8)


def test_a_precomputed_kernel_is_not_a_table():
    X, y = np.eye(4), [0, 1, 0, 1]
    model = classifier(kernel="precomputed").fit(X, y)
    assert model.columns_ is None
    assert not model.__sklearn_tags__().input_tags.allow_nan
    with pytest.raises(ValueError, match="contains NaN"):
        model.fit(np.full((4, 4), np.nan), y)
    for option in ({"standardize": True}, {"categorical_features": [0]}):
        assert "X is the kernel matrix" in fit_error(X, kernel="precomputed", y=y, **option)


def test_too_many_categories_for_memory():
    table = pd.DataFrame({"id": [str(i) for i in range(1000)], "x": np.arange(1000.0)})
    message = fit_error(table.astype({"id": "category"}), cache_size=5)
    assert "1000 of them for the categories of column 0" in message
    assert "7.64 MB, but cache_size is 5" in message


def test_labels_are_checked_as_for_numbers():
    with pytest.raises(ValueError, match="Input y contains NaN"):
        classifier().fit(TABLE, np.full(N, np.nan))
    with pytest.raises(ValueError, match="requires y to be passed"):
        classifier().fit(TABLE, None)


def test_inside_a_rejector_and_after_a_second_fit(model):
    rejector = RejectOptionClassifier(classifier(), reject_rate=0.1, random_state=0).fit(TABLE, Y)
    assert rejector.predict(NEW).shape == (20,)
    again = clone(model).fit(TABLE.iloc[:, [0, 3]].fillna(0.0), Y).fit(TABLE, Y)
    np.testing.assert_array_equal(again.predict_proba(NEW), model.predict_proba(NEW))


def test_weights_reach_the_columns():
    weight = np.random.default_rng(0).integers(1, 4, N)
    model = classifier(standardize=True)
    read_training_table(model, TABLE, Y, weight.astype(float))
    weighted = read_table(model, NEW)
    rows = np.repeat(np.arange(N), weight)
    read_training_table(model, TABLE.iloc[rows], Y[rows])
    np.testing.assert_allclose(read_table(model, NEW), weighted, atol=1e-13)


def test_weights_of_a_table_are_repeated_and_removed_rows():
    rare = make_table().assign(color="rare")
    table, y = pd.concat([TABLE, rare], ignore_index=True), np.concatenate([Y, Y])
    weight = np.random.default_rng(1).integers(1, 4, N)
    weighted = classifier(standardize=True).fit(table, y, np.append(weight, np.zeros(N)))
    rows = np.repeat(np.arange(N), weight)
    repeated = classifier(standardize=True).fit(TABLE.iloc[rows], Y[rows])
    assert weighted.columns_.categories[1].tolist() == ["blue", "green", "red"]
    # Sums of about a hundred numbers.
    np.testing.assert_allclose(weighted._read_points(NEW), repeated._read_points(NEW), atol=1e-13)


@pytest.mark.parametrize("kernel", ["auto", "rbf", np.dot])
@pytest.mark.parametrize("standardize", ["auto", True, False, np.True_])
def test_auto_standardizes_for_the_kernel_that_is_chosen(kernel, standardize):
    estimator = Bunch(kernel=kernel, gamma="auto", standardize=standardize)
    is_auto = isinstance(standardize, str)
    X = np.ones((3, 2))
    assert standardizes(estimator, X) == (kernel == "auto" if is_auto else bool(standardize))
    # A gamma of the user belongs to a kernel on the numbers as they are; sparse columns stay.
    assert standardizes(Bunch(**estimator | {"gamma": 1.0}), X) == (
        not is_auto and bool(standardize)
    )
    assert standardizes(estimator, sparse.csr_array(X)) == (not is_auto and bool(standardize))


def test_tags():
    tags = BayesPointClassifier().__sklearn_tags__().input_tags
    assert tags.allow_nan
    assert tags.categorical


@pytest.mark.parametrize(
    ("texts", "advice"),
    [
        ([*map(str, range(149)), "-"], "to_numeric"),
        ([f"customer {i}" for i in range(150)], "Leave it out"),
    ],
)
def test_columns_that_are_hardly_categories_are_doubted(texts, advice):
    y = np.arange(150) % 2
    table = pd.DataFrame({"x": y + 0.1 * np.arange(150), "name": texts})
    model = BayesPointClassifier("linear", gamma=1.0, softness=0.1)
    with pytest.warns(UserWarning, match=f"'name' of X holds text with 150 .*{advice}"):
        model.fit(table, y)
    # What the user calls a category is one.
    model.fit(table.astype({"name": "category"}), y)
    model.fit(table.assign(name=[f"customer {i % 60}" for i in range(150)]), y)
