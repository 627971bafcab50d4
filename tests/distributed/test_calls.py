from concurrent.futures import CancelledError
from types import SimpleNamespace

import pytest

from bayespoint._runtime.interrupt import interrupts
from bayespoint._runtime.share_done import heard_by
from bayespoint.distributed import calls
from bayespoint.distributed.calls import (
    await_all,
    connected,
    gather,
    lost_scheduler_told,
    slots,
    submit,
)
from cluster_helpers import OneProcess


def test_a_worker_for_each_thread():
    assert slots(OneProcess(4)) == ["one", "one", "one", "two"]


def test_tasks_may_run_elsewhere():
    assert submit(OneProcess(), "gone", max, 1, 2).result() == 2


@pytest.mark.parametrize(
    ("status", "error", "is_lost"),
    [
        ("running", CancelledError("cancelled for reason: scheduler-connection-lost"), True),
        ("connecting", OSError("closed"), True),
        ("running", CancelledError("lost dependencies"), False),
        ("running", ValueError("y has one class"), False),
    ],
)
def test_a_scheduler_that_is_lost(status, error, is_lost):
    client = SimpleNamespace(status=status)
    with (
        pytest.raises(ConnectionError if is_lost else type(error)) as raised,
        lost_scheduler_told(client),
    ):
        raise error
    assert ("Start the cluster again" in str(raised.value)) == is_lost


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


class Later:
    """A future that is done when it has been asked so many times."""

    status = "pending"

    def __init__(self, n_questions):
        self.n_questions = n_questions

    def done(self):
        self.n_questions -= 1
        return self.n_questions < 0


def shares_heard(futures, *given):
    heard = []
    with heard_by(lambda *news: heard.append(news)):
        await_all(futures, "reading", *given)
    return heard


def test_shares_of_a_step_are_told(monkeypatch):
    monkeypatch.setattr(calls, "MAX_PAUSE", 0.0)
    heard = shares_heard([Later(0), Later(1), Later(3), Later(3)])
    assert heard == [(share, "reading") for share in (0.25, 0.5, 0.5)]
    assert gather(OneProcess(), [submit(OneProcess(), "one", max, 1, 2)], "reading") == [2]


def test_nobody_waits_after_a_failure_or_if_it_is_enough():
    failed = Later(9)
    failed.status = "error"
    await_all([failed], "reading")
    assert failed.n_questions == 8
    never = Later(10**9)
    assert shares_heard([never, Later(0)], lambda: True) == []
    assert shares_heard([Later(1)], lambda: True) == [(0.0, "reading")]  # nothing is not enough


def test_ctrl_c_twice_ends_the_wait(monkeypatch):
    def wait():
        with interrupts() as pressed:
            pressed.twice = True
            await_all([Later(10**9)], "reading")

    with pytest.raises(KeyboardInterrupt):
        wait()
