import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_digits

from bayespoint import BayesPointClassifier
from bayespoint.classifiers import _pool
from bayespoint.classifiers._pool import PoolKernel

X, Y = load_digits(return_X_y=True)
POOL = X[100:600]


def assert_same(pool, model, rows):
    # Sums of up to 100 products, each exact to rounding, times a power of at most ten.
    np.testing.assert_allclose(pool.proba(model), model.predict_proba(rows), atol=1e-10)


@pytest.mark.parametrize(
    "options",
    [{}, {"solver": "ep"}, {"kernel": "rbf"}, {"kernel": "poly", "normalize": True}],
)
def test_what_predict_proba_gives(options):
    model = BayesPointClassifier(random_state=0, **options).fit(X[:60], Y[:60])
    pool = PoolKernel(POOL)
    assert_same(pool, model, POOL)
    model.partial_fit(X[60:65], Y[60:65], choose=False)
    assert_same(pool, model, POOL)
    model.forget([3, 62], choose=False)
    assert_same(pool, model, POOL)
    model.partial_fit(X[[3, 3]], Y[[3, 3]], choose=False)  # equal rows
    assert_same(pool, model, POOL)
    model.choose_again()
    assert_same(pool, model, POOL)


def test_two_classes_and_sparse_rows():
    is_even, rows = Y % 2, sparse.csr_matrix(POOL)
    model = BayesPointClassifier(random_state=0).fit(sparse.csr_matrix(X[:60]), is_even[:60])
    pool = PoolKernel(rows)
    assert_same(pool, model, rows)
    model.partial_fit(sparse.csr_matrix(X[60:61]), is_even[60:61], choose=False)
    assert_same(pool, model, rows)


def test_only_new_columns_are_computed(monkeypatch):
    model = BayesPointClassifier(random_state=0).fit(X[:60], Y[:60])
    pool = PoolKernel(POOL)
    pool.proba(model)
    seen = []
    values = PoolKernel._values
    monkeypatch.setattr(
        PoolKernel, "_values", lambda self, some: seen.append(len(some)) or values(self, some)
    )
    model.partial_fit(X[60:61], Y[60:61], choose=False)
    pool.proba(model)
    assert seen == [1]
    pool.proba(model.forget(0, choose=False))
    assert seen == [1]


def test_columns_of_forgotten_rows_are_given_up():
    model = BayesPointClassifier(random_state=0).fit(X[:90], Y[:90])
    pool = PoolKernel(POOL)
    pool.proba(model)
    model.forget(np.arange(60), choose=False)
    assert_same(pool, model, POOL)
    assert pool._n_slots == 30


def test_a_stale_column_is_wrong(monkeypatch):
    """Without the content of rows as a key, a forgotten row would be mistaken for another."""
    model = BayesPointClassifier(random_state=0).fit(X[:60], Y[:60])
    pool = PoolKernel(POOL)
    monkeypatch.setattr(_pool, "_keys", lambda support: list(range(len(support))))
    pool.proba(model)
    model.forget(0, choose=False)
    assert np.abs(pool.proba(model) - model.predict_proba(POOL)).max() > 1e-3


def test_a_mosaic_is_asked_itself():
    model = BayesPointClassifier(solver="mosaic", random_state=0).fit(X[:300], Y[:300])
    np.testing.assert_array_equal(PoolKernel(POOL).proba(model), model.predict_proba(POOL))
