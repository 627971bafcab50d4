from itertools import pairwise

import numpy as np
import pytest
from scipy import sparse

from bayespoint.distributed import fit
from cluster_helpers import COVARIANCES, assert_same, chunks, da, dask, delayed_parts, exact


def test_data_frames(client, data):
    pd, dd = pytest.importorskip("pandas"), pytest.importorskip("dask.dataframe")
    X, y = data
    frame = pd.DataFrame(X, columns=list("abcd")).assign(y=np.where(y, "yes", "no"))
    frame = dd.from_pandas(frame, npartitions=3)
    model = fit(exact(), frame[list("abcd")], frame["y"])
    assert list(model.feature_names_in_) == list("abcd")
    assert list(model.classes_) == ["no", "yes"]
    assert_same(model, exact().fit(X, y))


@pytest.mark.parametrize("covariance", COVARIANCES)
def test_sparse_partitions_of_any_size(client, data, covariance):
    X, y = data
    X = np.where(X > 0.5, X, 0.0)
    order = np.argsort(y, kind="stable")  # partitions with a single class
    X, y = X[order], y[order]
    ends = [0, 0, 90, 91, 170, 170, 200]  # empty partitions, and one with a single row
    here = [slice(*pair) for pair in pairwise(ends)]
    parts = delayed_parts([sparse.coo_array(X[part]) for part in here])
    labels = delayed_parts([y[part] for part in here])
    model = fit(exact(covariance=covariance), parts, labels)
    assert_same(model, exact(covariance=covariance).fit(sparse.csr_array(X), y))


def test_weights(client, data):
    X, y = data
    weight = np.random.default_rng(0).integers(0, 3, len(y)).astype(float)
    weight[:50] = 0  # a partition without weight
    dX, dy = chunks(X, y)
    for class_weight in (None, "balanced", {0: 1.0, 1: 2.5}):
        alone = exact(class_weight=class_weight).fit(X, y, sample_weight=weight)
        assert_same(fit(exact(class_weight=class_weight), dX, dy, weight), alone)


def test_chunks_need_not_agree(client, data):
    X, y = data
    alone = exact(fit_intercept=False).fit(X, y)
    wide = da.from_array(X, chunks=(70, 2))
    for labels in (y, da.from_array(y, chunks=30)):
        assert_same(fit(exact(fit_intercept=False), wide, labels), alone)


def test_partitions_that_do_not_fit(client, data):
    X, y = data
    Xs, ys = np.split(X, 4), np.split(y, 4)
    with pytest.raises(ValueError, match="as many partitions as X, 4, but has 3"):
        fit(exact(), delayed_parts(Xs), delayed_parts(ys[:3]))
    with pytest.raises(ValueError, match="as many partitions as X, 4, but has 3"):
        fit(exact(), delayed_parts(Xs), delayed_parts(ys), delayed_parts(ys[:3]))
    with pytest.raises(ValueError, match="Partition 2 has 3 features, but partition 0 has 4"):
        fit(exact(), delayed_parts([*Xs[:2], Xs[2][:, 1:], Xs[3]]), delayed_parts(ys))
    with pytest.raises(ValueError, match=r"Partition 3: .*inconsistent numbers of samples"):
        fit(exact(), delayed_parts(Xs), delayed_parts([*ys[:3], ys[3][1:]]))
    with pytest.raises(ValueError, match=r"Partition 1: .*NaN"):
        fit(exact(), delayed_parts([Xs[0], Xs[1] * np.nan, *Xs[2:]]), delayed_parts(ys))
    with pytest.raises(ValueError, match=r"Partition 0: .*continuous"):
        fit(exact(), delayed_parts(Xs), delayed_parts([ys[0] + 0.5 * Xs[0][:, 0], *ys[1:]]))
    with pytest.raises(ValueError, match=r"Partition 1: .*[Nn]egative"):
        fit(exact(), *chunks(X, y), np.where(np.arange(200) == 60, -1.0, 1.0))
    with pytest.raises(ValueError, match="all of its 2 partitions are empty"):
        fit(exact(), delayed_parts([X[:0], X[:0]]), delayed_parts([y[:0], y[:0]]))
    with pytest.raises(ValueError, match="at least one partition"):
        fit(exact(), [], [])


def test_names_that_differ(client, data):
    pd = pytest.importorskip("pandas")
    X, y = data
    frames = [pd.DataFrame(X, columns=list(names)) for names in ("abcd", "abdc")]
    with pytest.raises(ValueError, match="Partition 1 has features named"):
        fit(exact(), delayed_parts(frames), delayed_parts([y, y]))


def test_classes_that_cannot_be_told_apart(client, data):
    X, y = data
    with pytest.raises(ValueError, match="one class"):
        fit(exact(), *chunks(X, 0 * y))
    with pytest.raises(ValueError, match="no row of positive weight"):
        fit(exact(), *chunks(X, y), 1.0 * y)


def test_data_in_memory_need_no_cluster(client, data):
    X, y = data
    with pytest.raises(TypeError, match=r"X should be a dask array.*but is of type ndarray"):
        fit(exact(), X, y)
    with pytest.raises(TypeError, match=r"y should be a dask array.*but is of type str"):
        fit(exact(), chunks(X, y)[0], "y")


def test_errors_of_loaders_surface(client, data):
    def broken():
        raise OSError("no such file")

    with pytest.raises(OSError, match="no such file"):
        fit(exact(), [dask.delayed(broken)()], delayed_parts([data[1]]))
