import pickle
import subprocess
import sys
import time

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import make_classification
from sklearn.exceptions import ConvergenceWarning

from bayespoint import LinearBayesPointClassifier
from bayespoint.distributed import fit
from cluster_helpers import COVARIANCES, assert_same, chunks, dask, delayed_parts, exact

dask_distributed = pytest.importorskip("distributed")


@pytest.mark.parametrize("covariance", COVARIANCES)
def test_same_posterior(client, data, covariance):
    # Each sweep moves the weights by less than tol = 1e-10. The remaining error of a slow fit
    # is a few hundred times that.
    model = fit(exact(covariance=covariance), *chunks(*data))
    assert_same(model, exact(covariance=covariance).fit(*data))
    # One batch, swept until it converges.
    stream = exact(covariance=covariance, batch_sweeps=10_000).partial_fit(*data)
    assert_same(model, stream)
    # The model can continue without Dask.
    model.partial_fit(*data)
    assert model.n_samples_seen_ == 400


@pytest.mark.parametrize("covariance", COVARIANCES)
def test_more_than_two_classes(client, covariance):
    X, y = make_classification(
        150, 3, n_informative=3, n_redundant=0, n_classes=3, n_clusters_per_class=1, random_state=0
    )
    model = fit(exact(covariance=covariance, tol=1e-9), *chunks(X, y))
    alone = exact(covariance=covariance, tol=1e-9).fit(X, y)
    assert_same(model, alone, 1e-6)
    np.testing.assert_allclose(model.predict_proba(X), alone.predict_proba(X), atol=1e-6)


def test_the_prior_is_chosen_alike(client, data):
    # The factor of the prior is also found to tol.
    model = fit(exact(prior_variance="auto"), *chunks(*data))
    alone = exact(prior_variance="auto").fit(*data)
    np.testing.assert_allclose(model.prior_variance_, alone.prior_variance_, rtol=1e-8)
    assert_same(model, alone, 1e-7)


def test_a_first_look_at_few_rows(client):
    # With more than 4000 rows, a part of them is used first.
    X, y = make_classification(9000, 3, n_informative=2, n_redundant=1, random_state=1)
    model = fit(exact(prior_variance="auto", tol=1e-8), *chunks(X, y, 3))
    assert_same(model, exact(prior_variance="auto", tol=1e-8).fit(X, y), 1e-6)


def test_predictions_on_dask(client, data):
    X, y = data
    dX, dy = chunks(X, y)
    model = fit(exact(tol=0.01), dX, dy)
    predicted = dX.map_blocks(model.predict, drop_axis=1, dtype=y.dtype)
    np.testing.assert_array_equal(predicted.compute(), model.predict(X))


def test_too_few_sweeps_give_a_warning(client, data):
    with pytest.warns(ConvergenceWarning, match="after 2 sweeps"):
        fit(exact(max_iter=2), *chunks(*data))


def test_data_are_never_gathered(client, monkeypatch):
    def part(seed):
        rng = np.random.default_rng(seed)
        X = rng.standard_normal((20_000, 5))
        return X, X[:, 0] + rng.standard_normal(len(X)) > 0

    largest, gather = [], dask_distributed.Client.gather

    def weighed(self, futures, *args, **options):
        results = gather(self, futures, *args, **options)
        largest.append(len(pickle.dumps(results)))
        return results

    monkeypatch.setattr(dask_distributed.Client, "gather", weighed)
    before = set(client.futures)
    parts = [dask.delayed(part, nout=2)(seed) for seed in range(4)]
    model = fit(LinearBayesPointClassifier(), [p[0] for p in parts], [p[1] for p in parts])
    assert model.n_samples_seen_ == 80_000
    assert largest
    assert max(largest) < 10_000  # the labels of a partition alone take 20,000 bytes
    # Nothing is left on the cluster; futures are released in another thread.
    for _ in range(100):
        if left := set(client.futures) - before:
            time.sleep(0.1)
    assert not left


def test_without_a_cluster(data, monkeypatch):
    def none():
        raise ValueError("No clients found")

    monkeypatch.setattr(dask_distributed, "default_client", none)
    with pytest.raises(ValueError, match="no connection to a Dask cluster"):
        fit(exact(), *chunks(*data))


def test_without_dask(data, monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(ImportError, match=r'pip install "bayespoint\[distributed\]"'):
        fit(exact(), [], [])


def test_import_does_not_need_dask():
    code = "import sys, bayespoint.distributed; assert 'dask' not in sys.modules"
    subprocess.run([sys.executable, "-W", "ignore", "-c", code], check=True)


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("covariance", COVARIANCES)
def test_offsets_and_scales_do_not_matter(client, data, covariance, kind):
    X, y = data
    X = np.where(np.arange(X.shape[1]) == 0, X > 0.8, X)  # a rare category
    options = {"covariance": covariance, "tol": 1e-9, "max_iter": 3000}
    alone = LinearBayesPointClassifier(**options).fit(X, y)
    for offset, scale in [(0.0, 1.0), (1e6, 1e-8), (1e3, 1e8)]:
        Z = (X + offset) * scale ** np.linspace(1, 0.5, X.shape[1])
        parts = np.array_split(np.arange(len(y)), 3)
        given = [delayed_parts([values[rows] for rows in parts]) for values in (kind(Z), y)]
        model = fit(LinearBayesPointClassifier(**options), *given)
        found = model.predict_proba(kind(Z))
        np.testing.assert_allclose(found, alone.predict_proba(X), atol=1e-6)
