import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError

from bayespoint import (
    BayesPointClassifier,
    LinearBayesPointClassifier,
    RejectOptionClassifier,
    distributed,
)
from cluster_helpers import da, dask, delayed_parts


@pytest.fixture(scope="module")
def iris():
    X, y = load_iris(return_X_y=True)
    return X, np.array(["one", "two", "three"])[y]


@pytest.fixture(scope="module", params=["kernel", "linear", "two classes", "reject"])
def model(request, iris):
    X, y = iris
    if request.param == "kernel":
        return BayesPointClassifier(random_state=0).fit(X, y)
    if request.param == "linear":
        return LinearBayesPointClassifier().fit(X, y)
    if request.param == "two classes":
        return BayesPointClassifier(random_state=0).fit(X[:100], y[:100])
    linear = LinearBayesPointClassifier()
    return RejectOptionClassifier(linear, reject_rate=0.3, random_state=0).fit(X, y)


METHODS = ["predict", "predict_proba", "decision_function"]


def assert_alike(found, expected):
    if expected.dtype.kind == "f":
        # Matrix products of other sizes round differently, each of 150 terms.
        np.testing.assert_allclose(found, expected, rtol=0, atol=150 * np.finfo(float).eps)
    else:
        np.testing.assert_array_equal(found, expected)


@pytest.fixture(autouse=True)
def _in_this_process():
    with dask.config.set(scheduler="synchronous"):
        yield


@pytest.mark.parametrize("method", METHODS)
def test_arrays(model, iris, method):
    X = iris[0]
    lazy = getattr(distributed, method)(model, da.from_array(X, chunks=(40, 3)))
    expected = getattr(model, method)(X)
    assert lazy.shape == expected.shape
    found = lazy.compute()
    assert lazy.dtype == found.dtype
    assert_alike(found, expected)


@pytest.mark.parametrize("method", METHODS)
def test_unknown_and_empty_chunks(model, iris, method):
    X = da.from_array(iris[0], chunks=(50, 4))
    some = X[X[:, 0] > 6.9]  # no row of the first class
    found = getattr(distributed, method)(model, some).compute()
    expected = getattr(model, method)(iris[0][iris[0][:, 0] > 6.9])
    assert_alike(found, expected)


@pytest.mark.parametrize("method", METHODS)
def test_data_frames_keep_their_index(model, iris, method):
    pd, dd = pytest.importorskip("pandas"), pytest.importorskip("dask.dataframe")
    frame = pd.DataFrame(iris[0], index=np.arange(150) + 1000, columns=list("abcd"))
    n = 50 * len(model.classes_)
    model = clone(model).fit(frame[:n], iris[1][:n])  # with names of columns
    found = getattr(distributed, method)(model, dd.from_pandas(frame, npartitions=3))
    computed = found.compute()
    assert list(computed.index) == list(frame.index)
    if computed.ndim == 2:
        assert list(computed.columns) == list(found.columns) == list(model.classes_)
    assert_alike(computed.to_numpy(), getattr(model, method)(frame))


def test_delayed_partitions(iris):
    X, y = iris
    model = LinearBayesPointClassifier().fit(sparse.csr_array(X), y)
    parts = [sparse.csr_array(part) for part in np.array_split(X, 3)]
    found = dask.compute(*distributed.predict_proba(model, delayed_parts(parts)))
    np.testing.assert_array_equal(np.vstack(found), model.predict_proba(sparse.csr_array(X)))


def test_labels_have_room_for_refusals(iris):
    X, y = iris
    model = RejectOptionClassifier(
        LinearBayesPointClassifier(),
        random_state=0,
        reject_rate=0.3,
        reject_label="not certain",
    ).fit(X, y)
    dX = da.from_array(X, chunks=(10, 4))  # in some chunks, nothing is refused
    found = distributed.predict(model, dX)
    assert found.dtype == "<U11"
    np.testing.assert_array_equal(found.compute(), model.predict(X))
    accepted = distributed.accept(model, dX).compute()
    np.testing.assert_array_equal(accepted, found.compute() != "not certain")
    assert 0 < accepted.mean() < 1


def test_nothing_is_computed_before(iris, monkeypatch):
    X, y = iris
    model = LinearBayesPointClassifier().fit(X, y)
    calls = []
    monkeypatch.setattr(
        LinearBayesPointClassifier, "predict", lambda self, X: calls.append(len(X)) or y[: len(X)]
    )
    lazy = distributed.predict(model, da.from_array(X, chunks=(50, 4)))
    assert not calls
    lazy.compute()
    assert calls == [50, 50, 50]


def test_errors(iris):
    X, y = iris
    model = LinearBayesPointClassifier()
    with pytest.raises(NotFittedError):
        distributed.predict(model, da.from_array(X))
    with pytest.raises(TypeError, match="use the method predict_proba of the model"):
        distributed.predict_proba(model.fit(X, y), X)
