import numpy as np
import pytest
from scipy import sparse

from bayespoint.distributed.point_statistics import ClusterStatistics
from bayespoint.distributed.row_parts import Part, RowParts
from bayespoint.geometry.kernels import Kernel
from bayespoint.geometry.settle import Statistics, settle_kernel
from cluster_helpers import OneProcess


def on_cluster(X, weight):
    client = OneProcess()
    cuts = [slice(0, 0), slice(0, 30), slice(30, 31), slice(31, None)]
    nothing = np.zeros(X.shape[0])
    parts = [client.submit(Part, X[c], nothing[c], weight[c], weight[c], nothing[c]) for c in cuts]
    return ClusterStatistics(RowParts(client, parts))


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("weighted", [False, True])
def test_the_statistics_of_all_points(rng, kind, weighted):
    X = rng.standard_normal((80, 3)) + np.array([0, 5, 1])
    X = kind(np.where(np.abs(X) > 0.5, X, 0.0))
    weight = rng.integers(1, 4, 80).astype(float) if weighted else np.ones(80)
    found, expected = on_cluster(X, weight), Statistics(X, weight if weighted else None)
    np.testing.assert_allclose(found.mean(), expected.mean(), rtol=1e-12)
    dense = X.toarray() if sparse.issparse(X) else X
    rows = np.repeat(dense, weight.astype(int), axis=0)
    assert expected.variance() == pytest.approx(rows.var(), rel=1e-12)
    assert found.variance() == expected.variance()  # in every bit
    assert found.largest() == expected.largest()
    for kernel in (Kernel("rbf"), Kernel("linear"), Kernel("poly", gamma=0.2)):
        square = expected.mean_squared_length(kernel)
        assert found.mean_squared_length(kernel) == pytest.approx(square, rel=1e-12)
    if kind is np.asarray:
        np.testing.assert_allclose(found.median(), expected.median(), rtol=1e-15)
        assert found.differ()


def test_equal_points_do_not_differ():
    X = np.full((40, 2), 3.0)
    assert not on_cluster(X, np.ones(40)).differ()
    options = {"degree": 3, "coef0": 1.0, "normalize": False, "fit_intercept": True}
    found = settle_kernel("rbf", on_cluster(X, np.ones(40)), gamma="scale", **options)
    assert found.gamma == settle_kernel("rbf", X, gamma="scale", **options).gamma == 1.0
