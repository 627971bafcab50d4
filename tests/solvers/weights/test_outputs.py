from functools import partial

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import make_classification

from bayespoint.solvers.weights import outputs as module
from bayespoint.solvers.weights.belief import Belief
from bayespoint.solvers.weights.outputs import (
    is_sparse_enough,
    multiply_sites,
    outputs,
    outputs_in_parts,
)
from bayespoint.solvers.weights.points import CenteredRows, entries
from weights_helpers import classifier


def problem(rng, density, n=50, d=8):
    """Return points, and a belief about correlated weights with an intercept."""
    X = rng.standard_normal((n, d)) * (rng.random((n, d)) < density)
    root = rng.standard_normal((d + 1, d + 1))
    return X, Belief(root @ root.T + np.eye(d + 1), rng.standard_normal(d + 1))


@pytest.mark.parametrize("density", [1.0, 0.1])
@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array, CenteredRows])
def test_outputs_are_products_with_rows_and_a_one(rng, density, kind, monkeypatch):
    monkeypatch.setattr(module, "PART_NUMBERS", 60)  # several parts
    X, belief = problem(rng, density)
    ones = np.column_stack([X, np.ones(len(X))])
    if kind is CenteredRows:
        center = rng.standard_normal(X.shape[1])
        kind = partial(CenteredRows, center=center)
        ones[:, :-1] -= center
    diagonal = Belief(np.diagonal(belief.precision).copy(), belief.shift)
    for each in belief, diagonal:
        mean, variance = outputs(kind(X), each)
        covariance = each.covariance() if each.is_full else np.diag(each.covariance())
        np.testing.assert_allclose(mean, ones @ each.mean(), atol=1e-10)
        np.testing.assert_allclose(variance, np.diag(ones @ covariance @ ones.T), atol=1e-10)


@pytest.mark.parametrize("density", [1.0, 0.1])
@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_sites_on_outputs_are_a_factor_of_the_weights(rng, density, kind):
    X, belief = problem(rng, density)
    ones = np.column_stack([X, np.ones(len(X))])
    precision, shift = rng.uniform(0, 2, len(X)), rng.standard_normal(len(X))
    product = belief.nothing()
    for here, rows, *_ in outputs_in_parts(kind(X), belief):
        multiply_sites(product, rows, precision[here], shift[here])
    np.testing.assert_allclose(product.precision, (ones.T * precision) @ ones, atol=1e-10)
    np.testing.assert_allclose(product.shift, shift @ ones, atol=1e-10)


@pytest.fixture
def data():
    return make_classification(150, 6, n_informative=3, flip_y=0.1, random_state=0)


def test_indices_of_either_size_and_kind_give_the_same(data):
    X, y = data
    X, rows = sparse.csr_matrix(np.where(X > 0, X, 0)), {}
    for size in (np.int32, np.int64):
        X.indices, X.indptr = X.indices.astype(size), X.indptr.astype(size)
        data, indices, indptr = entries(X)
        assert indices.itemsize == indptr.itemsize == np.dtype(size).itemsize
        assert indices.dtype.kind == indptr.dtype.kind == "u"
        np.testing.assert_array_equal(indices, X.indices)
        model = classifier(covariance="factorized").fit(X, y)
        rows[size] = model.partial_fit(X, y).coef_
    np.testing.assert_array_equal(*rows.values())


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_short_sparse_rows_give_the_same(fit_intercept):
    # Variances and products of short rows are summed entry by entry.
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 30)) * (rng.random((300, 30)) < 0.1)
    y = (X.sum(axis=1) + rng.standard_normal(300) > 0).astype(int)
    sparse_rows = sparse.csr_array(X)
    assert is_sparse_enough(sparse_rows)
    options = {"covariance": "full", "fit_intercept": fit_intercept}
    one, two = (
        classifier(**options).fit(X, y),
        classifier(**options).fit(sparse_rows, y),
    )
    np.testing.assert_allclose(one.coef_, two.coef_, atol=1e-10)
    np.testing.assert_allclose(one.predict_proba(X), two.predict_proba(sparse_rows), atol=1e-10)
    assert one.log_evidence_ == pytest.approx(two.log_evidence_, abs=1e-8)
