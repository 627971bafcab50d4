import os
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

from bayespoint.cli import cluster
from bayespoint.cli.cluster import ClusterChoice, check_cluster, memory_for_each, workers
from bayespoint.cli.source import Plan
from cli_helpers import fails, mixed_table

pytest.importorskip("distributed")


@pytest.fixture
def table(tmp_path):
    mixed_table(400).to_csv(tmp_path / "t.csv", index=False)
    return tmp_path / "t.csv"


def train(table, *options):
    return ["train", table, "--target", "kind", "--model", table.parent / "m.bpm", *options]


@pytest.mark.parametrize("address", ["tcp://127.0.0.1:9", "nowhere", "http://x:1"])
def test_nobody_answers(table, address, monkeypatch):
    monkeypatch.setattr(cluster, "CONNECT_SECONDS", 0.5)
    assert f"no Dask scheduler at {address!r}" in fails(*train(table, "--scheduler", address))


def test_dask_is_not_installed(table, monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    assert 'pip install "bayespoint[distributed]"' in fails(*train(table, "--workers", "2"))


def test_options_that_do_not_go_together(table, scheduler):
    given = train(table, "--workers", 2, "--scheduler", scheduler)
    assert "--workers or --scheduler, not both" in fails(*given, code=2)
    given = train(table, "--scheduler", scheduler, "--max-memory", "4G")
    assert "cannot limit workers of another cluster" in fails(*given, code=2)


def test_rows_that_workers_cannot_share(tmp_path, scheduler):
    given = "--model", tmp_path / "m.bpm", "--scheduler", scheduler
    assert "Standard input cannot be read by several" in fails("train", "-", *given)
    (tmp_path / "t.svm").write_text("1 1:2\n-1 1:3\n")
    assert "is LIBSVM" in fails("train", tmp_path / "t.svm", *given)


def test_memory_is_divided():
    assert memory_for_each(3, 4 * 2**30) == 2**30
    with pytest.raises(ValueError, match="512M of memory each, but --max-memory is 1G"):
        memory_for_each(3, 2**30)
    assert memory_for_each(1, None) >= 512 * 2**20
    plan = Plan(max_memory=3 * 2**30)
    assert check_cluster(ClusterChoice(2), plan).max_memory == 2**30


def test_another_version_on_workers(scheduler, monkeypatch):
    monkeypatch.setattr(cluster.importlib.metadata, "version", lambda name: _version())
    with (
        pytest.raises(ValueError, match=r"Workers should have bayespoint .* but some have 0\.0\.1"),
        workers(ClusterChoice(scheduler=scheduler), Plan()),
    ):
        pass


def _version():
    """Return another version on workers."""
    return "0.0.2" if threading.current_thread() is threading.main_thread() else "0.0.1"


@pytest.mark.slow
def test_processes_and_a_killed_worker(tmp_path):
    """Dask starts another worker, and its work is done again."""
    with workers(ClusterChoice(2), Plan()) as client:
        pids = list(client.run(os.getpid).values())
        futures = client.map(slowly, range(8), pure=False)
        time.sleep(0.5)
        os.kill(pids[0], signal.SIGKILL)
        assert client.gather(futures) == list(range(8))
    for pid in pids:
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)


def slowly(number):
    time.sleep(0.3)
    return number


@pytest.mark.slow
def test_ctrl_c_keeps_the_answer_so_far(tmp_path):
    """The signal reaches the whole group of processes, as from a terminal."""
    rng = np.random.default_rng(0)
    table = mixed_table(60_000)
    for i in range(20):
        table[f"x{i}"] = rng.normal(size=len(table))
    table.to_parquet(tmp_path / "t.parquet")
    command = [sys.executable, "-m", "bayespoint"]
    command += map(str, train(tmp_path / "t.parquet", "--workers", 2, "--classifier", "linear"))
    process = subprocess.Popen(
        command, stderr=subprocess.PIPE, text=True, start_new_session=True, stdout=subprocess.PIPE
    )
    line = process.stderr.readline()
    assert "2 workers started, with at most" in line
    time.sleep(1.0)
    os.killpg(process.pid, signal.SIGINT)
    output, notes = process.communicate(timeout=120)
    assert process.returncode == 130, notes
    assert ("Written to" in output) == ("nothing is kept" not in notes)
    assert "Traceback" not in notes
