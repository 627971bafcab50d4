import numpy as np
import pytest
from scipy import sparse

from bayespoint import BayesPointClassifier, solvers
from bayespoint.distributed import fit
from bayespoint.distributed.members import MAX_LOSSES, ClusterMembers
from bayespoint.geometry.row_store import RowStore
from cluster_helpers import OneProcess, chunks, delayed_parts, kill_a_worker
from distributed import CancelledError


def machine(**parameters):
    solver = solvers.Perceptron(n_members=5)
    return BayesPointClassifier(solver=solver, **{"softness": 0.3, "random_state": 0} | parameters)


def assert_identical(model, other):
    for name in ("dual_coef_", "draw_coef_", "support_", "support_vectors_", "probit_scale_"):
        np.testing.assert_array_equal(getattr(model, name), getattr(other, name), err_msg=name)


def test_identical_members(data):
    X, y = data
    weight = np.random.default_rng(0).integers(0, 3, len(y)).astype(float)
    for given in ((), (weight,)):
        model = fit(machine(), *chunks(X, y), *given, client=OneProcess())
        assert_identical(model, machine().fit(X, y, *given))


def test_tables(data):
    pd, dd = pytest.importorskip("pandas"), pytest.importorskip("dask.dataframe")
    X, y = data
    frame = pd.DataFrame(X, columns=list("abcd")).assign(text=np.where(X[:, 0] > 0, "up", "down"))
    parts = dd.from_pandas(frame, npartitions=3), dd.from_pandas(pd.Series(y), npartitions=3)
    model = fit(machine(), *parts, client=OneProcess())
    np.testing.assert_array_equal(model.dual_coef_, machine().fit(frame, y).dual_coef_)


def test_sparse_rows(data):
    X, y = data
    parts = [sparse.csr_array(part) for part in (X[:0], X[:90], X[90:])]
    labels = delayed_parts([y[:0], y[:90], y[90:]])
    model = fit(machine(), delayed_parts(parts), labels, client=OneProcess())
    alone = machine().fit(sparse.csr_array(X), y)
    np.testing.assert_array_equal(model.dual_coef_, alone.dual_coef_)


@pytest.mark.slow
def test_a_killed_worker_changes_nothing(doomed_client, data, monkeypatch):
    X, y = data
    alone = machine().fit(X, y)
    monkeypatch.delattr(RowStore, "fetch")  # members cannot learn in this process
    scatter, sent = doomed_client.scatter, []

    def deadly_scatter(data, **options):
        found = scatter(data, **options)
        sent.append(isinstance(data, list))
        if sent[-1] and sum(sent) == 1:  # the members are on the workers, and on no other
            kill_a_worker(doomed_client)
        return found

    monkeypatch.setattr(doomed_client, "scatter", deadly_scatter)
    assert_identical(fit(machine(), *chunks(X, y), client=doomed_client), alone)
    assert sum(sent) > 1  # what was lost was sent again


def test_data_that_are_lost_are_sent_again():
    class Forgetful(OneProcess):
        n_sent, n_losses = 0, 2

        def scatter(self, data, **options):
            self.n_sent += not isinstance(data, list)
            if self.n_sent == 1:
                raise OSError("Stream is closed")
            return super().scatter(data, **options)

        def submit(self, task, *arguments, **options):
            found = super().submit(task, *arguments, **options)
            if found.value[0] == 20 and self.n_losses:
                self.n_losses -= 1
                found.result = self.fail
            return found

        def wait_for_workers(self, n_workers):
            assert n_workers == 1

        def fail(self):
            raise CancelledError("lost")

    def learn(solver, kernel, n_rows, part, seconds):
        return 10 * part

    cluster = Forgetful()
    assert ClusterMembers(cluster).run(learn, None, "rows", 1, [1, 2, 3], 1.0) == [10, 20, 30]
    assert cluster.n_sent == 1 + (1 + 3) + (1 + 1) + (1 + 1)  # rows, and parts that are missing
    cluster.n_losses = MAX_LOSSES + 1
    with pytest.raises(CancelledError):
        ClusterMembers(cluster).run(learn, None, "rows", 1, [1, 2, 3], 1.0)


def test_rows_that_do_not_fit_on_a_worker(data):
    with pytest.raises(ValueError, match=r"need all rows on every worker.*nystroem"):
        fit(machine(), *chunks(*data), client=OneProcess(memory_limit=10_000))
