import pytest

from bayespoint.distributed.calls import connected, slots, submit
from cluster_helpers import OneProcess


def test_a_worker_for_each_thread():
    assert slots(OneProcess(4)) == ["one", "one", "one", "two"]


def test_tasks_may_run_elsewhere():
    assert submit(OneProcess(), "gone", max, 1, 2).result() == 2


def test_clusters_that_cannot_be_used(monkeypatch):
    pytest.importorskip("distributed")
    cluster = OneProcess()
    assert connected(cluster) is cluster
    monkeypatch.setattr(cluster, "asynchronous", True)
    with pytest.raises(ValueError, match="asynchronous=False"):
        connected(cluster)
    monkeypatch.setattr(cluster, "asynchronous", False)
    monkeypatch.setattr(cluster, "nthreads", dict)
    with pytest.raises(ValueError, match="no workers"):
        connected(cluster)
