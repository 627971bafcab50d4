import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import make_classification

from bayespoint.solvers.weights import column_sums as module
from bayespoint.solvers.weights.column_sums import column_sums
from weights_helpers import classifier


@pytest.fixture
def data():
    return make_classification(150, 6, n_informative=3, flip_y=0.1, random_state=0)


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_sums_count_rows_by_their_weight(rng, kind, monkeypatch):
    monkeypatch.setattr(module, "BLOCK_ROWS", 7)
    X = rng.standard_normal((30, 4)) * (rng.random((30, 4)) < 0.5)
    weight = rng.uniform(0, 2, 30)
    squares, counts, n_rows = column_sums(kind(X), weight)
    np.testing.assert_allclose(squares, weight @ X**2)
    np.testing.assert_allclose(counts, weight @ (X != 0))
    assert n_rows == pytest.approx(weight.sum())


def test_units_give_outputs_a_variance_of_one(rng):
    X = rng.standard_normal((500, 4)) * [1, 10, 100, 0]
    unit = column_sums(X, np.ones(500)).unit_variances()
    assert np.mean(X**2 @ unit) == pytest.approx(1.0)
    # Scale rare features by their nonzero entries.
    rare = X * (rng.random((500, 4)) < [1, 0.1, 1, 1])
    ratio = column_sums(rare, np.ones(500)).unit_variances() / unit
    assert ratio[1] / ratio[0] == pytest.approx(1.0, rel=0.5)


def test_features_need_not_be_scaled(data):
    X, y = data
    units = 10.0 ** np.arange(-3, 3)
    one, two = (
        classifier().fit(X, y),
        classifier().fit(X * units, y),
    )
    np.testing.assert_allclose(one.predict_proba(X), two.predict_proba(X * units), atol=1e-6)
