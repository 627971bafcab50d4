import os
import pickle
import signal
import subprocess
import sys
import time
from itertools import pairwise

import joblib
import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import make_classification
from sklearn.exceptions import ConvergenceWarning

from bayespoint import BayesPointClassifier, LinearBayesPointClassifier, solvers
from bayespoint.distributed.linear import _Cluster, _Portion, _recover, _sweep, fit
from bayespoint.geometry.row_store import RowStore
from bayespoint.solvers.rounds import Step
from bayespoint.solvers.weights.linear import FullRows, even_blocks, independent, iterate

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")
dask_distributed = pytest.importorskip("distributed")

COVARIANCES = ["full", "factorized"]
UNMIXED = np.empty(0)


@pytest.fixture
def data():
    # Few features that are hardly correlated: factorized sweeps are slow where they are.
    X, y = make_classification(
        200, 4, n_informative=3, n_redundant=0, flip_y=0.2, class_sep=0.5, random_state=0
    )
    return X, y


def exact(**parameters):
    """Everything fixed, and iterated to the end."""
    given = {"prior_variance": 1.0, "tol": 1e-10, "max_iter": 10_000}
    return LinearBayesPointClassifier(**{**given, **parameters})


def chunks(X, y, n=4):
    size = -(-len(y) // n)
    return da.from_array(X, chunks=(size, X.shape[1])), da.from_array(y, chunks=size)


def delayed_parts(parts):
    """Return partitions that Dask can make again."""
    return [dask.delayed(part) for part in parts]


def assert_same(model, other, limit=1e-8):
    deviation = np.sqrt(other.coef_variance_)
    np.testing.assert_allclose(model.coef_ / deviation, other.coef_ / deviation, atol=limit)
    np.testing.assert_allclose(model.intercept_, other.intercept_, atol=limit)
    np.testing.assert_allclose(model._precision, other._precision, rtol=limit, atol=limit)
    assert model.log_evidence_ == pytest.approx(other.log_evidence_, abs=1e3 * limit)
    assert model.n_samples_seen_ == pytest.approx(other.n_samples_seen_)


# The same posterior


@pytest.mark.parametrize("covariance", COVARIANCES)
def test_same_posterior(client, data, covariance):
    # Each sweep moves the weights by less than tol = 1e-10, and what is left of a slow one
    # is some hundred times that.
    model = fit(exact(covariance=covariance), *chunks(*data))
    assert_same(model, exact(covariance=covariance).fit(*data))
    # One batch, swept as often as it takes.
    stream = exact(covariance=covariance, batch_sweeps=10_000).partial_fit(*data)
    assert_same(model, stream)
    # It goes on without Dask.
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
    # The factor of the prior is found to tol, too.
    model = fit(exact(prior_variance="auto"), *chunks(*data))
    alone = exact(prior_variance="auto").fit(*data)
    np.testing.assert_allclose(model.prior_variance_, alone.prior_variance_, rtol=1e-8)
    assert_same(model, alone, 1e-7)


def test_a_first_look_at_few_rows(client):
    # More than 4000 rows: a part of them is looked at first.
    X, y = make_classification(9000, 3, n_informative=2, n_redundant=1, random_state=1)
    model = fit(exact(prior_variance="auto", tol=1e-8), *chunks(X, y, 3))
    assert_same(model, exact(prior_variance="auto", tol=1e-8).fit(X, y), 1e-6)


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
    ends = [0, 0, 90, 91, 170, 170, 200]  # empty ones, and one with a single row
    here = [slice(*pair) for pair in pairwise(ends)]
    parts = delayed_parts([sparse.coo_array(X[part]) for part in here])
    labels = delayed_parts([y[part] for part in here])
    model = fit(exact(covariance=covariance), parts, labels)
    assert_same(model, exact(covariance=covariance).fit(sparse.csr_array(X), y))


def test_weights(client, data):
    X, y = data
    weight = np.random.default_rng(0).integers(0, 3, len(y)).astype(float)
    weight[:50] = 0  # a partition that does not count
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


def test_predictions_on_dask(client, data):
    X, y = data
    dX, dy = chunks(X, y)
    model = fit(exact(tol=0.01), dX, dy)
    predicted = dX.map_blocks(model.predict, drop_axis=1, dtype=y.dtype)
    np.testing.assert_array_equal(predicted.compute(), model.predict(X))


def test_not_there_yet(client, data):
    with pytest.warns(ConvergenceWarning, match="after 2 sweeps"):
        fit(exact(max_iter=2), *chunks(*data))


# The loss of a worker


def kill_a_worker(client, number=0):
    pid = list(client.run(os.getpid).values())[number]
    os.kill(pid, signal.SIGKILL)


@pytest.mark.parametrize("covariance", COVARIANCES)
def test_a_killed_worker_changes_nothing(doomed_client, data, covariance, monkeypatch):
    sweeps, recovered = [], []
    sweep, recover = _Cluster.sweep, _Cluster._recover

    def deadly_sweep(self, belief, share):
        sweeps.append(share)
        if len(sweeps) == 3:
            kill_a_worker(doomed_client)
        return sweep(self, belief, share)

    def counted_recover(self, handles, *request):
        recovered.append(len(handles))
        return recover(self, handles, *request)

    monkeypatch.setattr(_Cluster, "sweep", deadly_sweep)
    monkeypatch.setattr(_Cluster, "_recover", counted_recover)
    model = fit(exact(covariance=covariance), *chunks(*data))
    assert any(recovered)
    assert_same(model, exact(covariance=covariance).fit(*data))


def test_a_new_worker_takes_its_share(doomed_client, data, monkeypatch):
    sweep, places = _Cluster.sweep, []

    def places_of(cluster):
        return {handle.address for handle in cluster.handles}

    def deadly_sweep(self, belief, share):
        if len(places) == 2:
            kill_a_worker(doomed_client)
        product = sweep(self, belief, share)
        places.append(places_of(self))
        late = time.monotonic() + 60
        while len(places_of(self)) < 2 and time.monotonic() < late:
            time.sleep(0.1)
            self._spread()
        return product

    monkeypatch.setattr(_Cluster, "sweep", deadly_sweep)
    model = fit(exact(), *chunks(*data))
    assert len(places[1] | places[-1]) == 3  # one is gone, another has come,
    assert len(places[-1]) == 2  # and has a portion
    assert_same(model, exact().fit(*data))


def test_killed_before_the_evidence_is_known(doomed_client, data, monkeypatch):
    log_constant = _Cluster.log_constant

    def deadly(self, belief):
        kill_a_worker(doomed_client)
        return log_constant(self, belief)

    monkeypatch.setattr(_Cluster, "log_constant", deadly)
    model = fit(exact(), *chunks(*data))
    alone = exact().fit(*data)
    assert model.log_evidence_ == pytest.approx(alone.log_evidence_, abs=1e-7)


def test_sites_that_nobody_knows_of_are_not_used(data):
    X, y = data
    prior = independent(np.ones(4), True)

    def rows():
        return FullRows(X, 2.0 * y - 1, np.ones(len(y)), 1.0, even_blocks(*X.shape))

    here = "bayespoint.distributed._here"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(here, lambda: "")
        known, belief = _Portion(rows()), prior
        for stamp in range(20):
            product = _sweep(known, stamp, stamp + 1, belief, 1.0, UNMIXED).value
            belief = prior.times(product)
        # Made anew, it does not know what the belief takes for known.
        fresh = _Portion(rows())
        assert _sweep(fresh, 20, 21, belief, 1.0, UNMIXED).value is None
        again = _recover(fresh, 21, belief, product, 0).value
        assert _sweep(fresh, 21, 22, prior.times(again), 1.0, UNMIXED).value is not None
    np.testing.assert_allclose(again.precision, product.precision, rtol=1e-8, atol=1e-8)
    np.testing.assert_allclose(again.shift, product.shift, rtol=1e-8, atol=1e-8)
    alone = iterate(rows(), prior, 1000, 1e-12)
    np.testing.assert_allclose(prior.times(product).mean(), alone.belief.mean(), atol=1e-8)


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


# What can go wrong


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


# Kernel machines on whatever backend joblib has


SOLVERS = [
    solvers.Billiard(tol=0.1, n_chains=4),
    solvers.Gibbs(tol=0.2, n_chains=4),
    solvers.Perceptron(n_members=5),
]


def kernel_machine(solver):
    parameters = {"gamma": 0.5, "softness": 0.3, "label_noise": 0.0, "random_state": 0}
    return BayesPointClassifier(solver=solver, **parameters)


@pytest.mark.parametrize("solver", SOLVERS, ids=lambda solver: type(solver).__name__)
@pytest.mark.parametrize("backend", ["dask", "loky"])
def test_chains_and_members_on_a_backend(client, data, solver, backend, monkeypatch):
    X, y = data[0][:60], data[1][:60]
    alone = kernel_machine(solver).fit(X, y)
    # Nobody can do it here.
    monkeypatch.delattr(Step, "__call__")
    monkeypatch.delattr(RowStore, "fetch")
    with pytest.raises((AttributeError, TypeError)):
        kernel_machine(solver).fit(X, y)
    with joblib.parallel_config(backend, n_jobs=2):
        other = kernel_machine(solver).fit(X, y)
    np.testing.assert_array_equal(other.dual_coef_, alone.dual_coef_)
    np.testing.assert_array_equal(other.draw_coef_, alone.draw_coef_)
    np.testing.assert_array_equal(other.predict_proba(X), alone.predict_proba(X))


def test_time_is_up_elsewhere(client, data):
    X, y = data
    solver = solvers.Billiard(tol=1e-6, n_bounces=10**12)
    model = kernel_machine(solver).set_params(max_time=1.0)
    with joblib.parallel_config("dask"), pytest.warns(ConvergenceWarning):
        model.fit(X, y)
    assert model.diagnostics_["stop"] == "max_time"
