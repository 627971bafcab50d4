"""The same answer with other BLAS kernels, in threads, in forks, and where nothing is writable."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from threadpoolctl import threadpool_info

pytest.importorskip("mpmath")
sys.path.append(str(Path(__file__).parents[1] / "benchmarks"))

from exactness import probe

# Rounding differs in units of 1e-16; the largest differences seen are 3e-14
# (docs/notes/numbers.md). More than a thousand times as much would be an amplified error.
ROUNDING = 1e-10


@pytest.fixture(scope="module")
def usual():
    return probe()[0]


@pytest.mark.slow
@pytest.mark.parametrize("core", ["Prescott", "SkylakeX"])
def test_kernels_of_openblas_differ_by_rounding(usual, core):
    known = {"Prescott": "sse2", "SkylakeX": "avx512f"}[core]
    flags = Path("/proc/cpuinfo")
    if not flags.exists() or known not in flags.read_text():
        pytest.skip("this processor does not have the instructions of these kernels")
    if all(pool.get("internal_api") != "openblas" for pool in threadpool_info()):
        pytest.skip("NumPy has another BLAS")
    for name, found in probe(OPENBLAS_CORETYPE=core)[0].items():
        np.testing.assert_allclose(found, usual[name], rtol=0, atol=ROUNDING, err_msg=name)


@pytest.mark.slow
def test_threads_of_blas_change_no_bit(usual):
    found, _ = probe(OPENBLAS_NUM_THREADS="2", OMP_NUM_THREADS="2", MKL_NUM_THREADS="2")
    for name in usual:
        np.testing.assert_array_equal(found[name], usual[name], err_msg=name)


SCRIPT = """
import json, multiprocessing, os, sys, threading, warnings
from concurrent.futures import ThreadPoolExecutor
import numpy as np
from joblib import Parallel, delayed
from sklearn.datasets import load_iris
from bayespoint import BayesPointClassifier, LinearBayesPointClassifier

X, y = load_iris(return_X_y=True)
MACHINES = [
    BayesPointClassifier(random_state=0),
    BayesPointClassifier("rbf", gamma=0.1, softness=0.1, solver="ep", n_jobs=2, random_state=0),
    LinearBayesPointClassifier(),
]


def work(number):
    model = MACHINES[number]
    model = model.__class__(**model.get_params()).fit(X[::2], y[::2])
    # Predictions leave threads to BLAS, unless n_jobs says how many.
    model.n_jobs = 1
    return model.predict_proba(X)


def in_pool(context):
    with multiprocessing.get_context(context).Pool(1) as pool:
        return pool.map_async(work, range(len(MACHINES))).get(100)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    numbers = range(len(MACHINES))
    ways = {"here": [work(i) for i in numbers]}
    with ThreadPoolExecutor(4) as pool:
        ways["in threads at once"] = list(pool.map(work, numbers))
    if hasattr(os, "fork"):
        ways["fork"] = in_pool("fork")
        busy, done = [], threading.Event()

        def keep_fitting():
            while not done.is_set():
                work(1)
                busy.append(1)

        other = threading.Thread(target=keep_fitting)
        other.start()
        while not busy:
            done.wait(0.01)
        ways["fork while another thread fits"] = in_pool("fork")
        done.set()
        other.join()
    ways["spawn"] = in_pool("spawn")
    ways["loky"] = Parallel(2, backend="loky")(delayed(work)(i) for i in numbers)
    same = {way: [bool(np.array_equal(a, b)) for a, b in zip(found, ways["here"])]
            for way, found in ways.items()}
    json.dump(same, sys.stdout)
"""


@pytest.mark.slow
def test_threads_forks_and_other_processes_change_no_bit(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    run = subprocess.run(
        [sys.executable, "-W", "ignore", script],
        capture_output=True,
        text=True,
        timeout=500,  # a fork that waits for a lock of a lost thread would wait for ever
        check=False,
    )
    assert run.returncode == 0, run.stderr
    same = json.loads(run.stdout)
    assert {"here", "in threads at once", "spawn", "loky"} <= set(same)
    assert all(all(each) for each in same.values()), same


def test_a_fork_begins_with_a_free_lock():
    if not hasattr(os, "fork"):
        pytest.skip("there are no forks here")
    code = """
import os, signal
from bayespoint._runtime import threads
with threads.one_blas_thread():
    threads._lock.acquire()  # as if another thread had it
    if os.fork() == 0:
        signal.alarm(30)
        with threads.one_blas_thread():
            os._exit(threads._users != 1)
    threads._lock.release()
    raise SystemExit(os.waitstatus_to_exitcode(os.wait()[1]))
"""
    run = subprocess.run([sys.executable, "-W", "ignore", "-c", code], check=False)
    assert run.returncode == 0
