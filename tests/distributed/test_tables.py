import numpy as np
import pytest
from scipy import sparse

from bayespoint import BayesPointClassifier
from bayespoint.distributed.tables import read_partitions
from cluster_helpers import OneProcess, chunks, delayed_parts

pd = pytest.importorskip("pandas")
dd = pytest.importorskip("dask.dataframe")


@pytest.fixture
def table(rng):
    frame = pd.DataFrame(rng.standard_normal((60, 3)), columns=list("abc"))
    frame.loc[::7, "b"] = np.nan
    frame["text"] = np.where(frame.a > 0.5, "up", "down")
    frame.loc[50:, "text"] = "late"  # not in the first partitions
    frame["size"] = pd.Categorical(
        np.where(frame.c > 0, "large", "small"), ["small", "middle", "large"], ordered=True
    )
    return frame, np.where(frame.a + rng.standard_normal(60) > 0, "yes", "no")


def read(model, X, y, weight=None):
    return read_partitions(OneProcess(), model, X, y, weight)


@pytest.mark.parametrize("standardize", [True, False])
@pytest.mark.parametrize("weighted", [True, False])
def test_points_of_a_table(table, rng, standardize, weighted):
    frame, y = table
    weight = rng.integers(0, 3, 60).astype(float) if weighted else None
    model = BayesPointClassifier("rbf", gamma=1.0, standardize=standardize)
    alone = BayesPointClassifier("rbf", gamma=1.0, standardize=standardize, softness=1.0)
    alone.set_params(solver="ep").fit(frame, y, weight)
    parts = dd.from_pandas(frame, npartitions=4), dd.from_pandas(pd.Series(y), npartitions=4)
    weights = None if weight is None else dd.from_pandas(pd.Series(weight), npartitions=4)
    rows = read(model, *parts, weights)
    found = rows.take(np.arange(rows.n_rows))
    used = np.arange(60) if weight is None else np.flatnonzero(weight)
    np.testing.assert_array_equal(found.number, used)
    np.testing.assert_array_equal(model.classes_[found.target], y[used])
    expected = alone._read_points(frame.iloc[used])
    np.testing.assert_allclose(found.X, expected, rtol=1e-12, atol=1e-12)
    assert list(model.feature_names_in_) == list(frame.columns)


def test_class_weights(data):
    X, y = data
    weight = np.random.default_rng(0).integers(0, 3, len(y)).astype(float)
    model = BayesPointClassifier("rbf", class_weight="balanced")
    rows = read(model, *chunks(X, y), weight)
    part = rows.take(np.arange(rows.n_rows))
    totals = np.bincount(part.target, part.likelihood)
    np.testing.assert_allclose(totals, weight.sum() / 2)
    part_of_one = read(BayesPointClassifier("rbf", class_weight={0: 1.0, 1: 3.0}), *chunks(X, y))
    found = part_of_one.take(np.arange(len(y)))
    np.testing.assert_array_equal(found.likelihood, np.where(y == 1, 3.0, 1.0))


def test_a_class_without_weight_is_no_class(data):
    X, y = data
    y = np.where(X[:, 0] > 1, 2, y)
    model = BayesPointClassifier("rbf", class_weight={2: 0.0})
    rows = read(model, *chunks(X, y))
    np.testing.assert_array_equal(model.classes_, [0, 1])
    assert rows.n_rows == np.sum(y < 2)


def test_errors(data, table):
    X, y = data
    model = BayesPointClassifier("rbf")
    Xs, ys = np.split(X, 4), np.split(y, 4)
    with pytest.raises(ValueError, match=r"Partition 3: .*inconsistent numbers of samples"):
        read(model, delayed_parts(Xs), delayed_parts([*ys[:3], ys[3][1:]]))
    with pytest.raises(ValueError, match="all of its 2 partitions are empty"):
        read(model, delayed_parts([X[:0], X[:0]]), delayed_parts([y[:0], y[:0]]))
    with pytest.raises(ValueError, match="should be sparse, or none, but 1 of 4 are"):
        read(model, delayed_parts([sparse.csr_array(Xs[0]), *Xs[1:]]), delayed_parts(ys))
    with pytest.raises(ValueError, match="one class"):
        read(model, *chunks(X, 0 * y))
    with pytest.raises(ValueError, match=r"Partition 1: .*[Nn]egative"):
        read(model, *chunks(X, y), np.where(np.arange(200) == 60, -1.0, 1.0))
    with pytest.raises(ValueError, match="Partition 2 has 3 features, but partition 0 has 4"):
        read(model, delayed_parts([*Xs[:2], Xs[2][:, 1:], Xs[3]]), delayed_parts(ys))
    frame, labels = table
    halves = [frame[:30], frame[30:].assign(text=1.0)]
    with pytest.raises(ValueError, match=r"Column 3 of X .* categories in some partitions"):
        read(model, delayed_parts(halves), delayed_parts([labels[:30], labels[30:]]))
    other = frame[30:].assign(size=pd.Categorical(["small"] * 30, ["small", "big"], ordered=True))
    with pytest.raises(ValueError, match="ordered categories of column 4"):
        read(model, delayed_parts([frame[:30], other]), delayed_parts([labels[:30], labels[30:]]))
