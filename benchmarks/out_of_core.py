"""More rows than memory: a kernel machine on one worker with a memory limit.

    python benchmarks/out_of_core.py --rows 1 10

Rows (in millions) are made by a generator, 100,000 at a time: ten columns, two classes, noisy
labels. One worker of a `LocalCluster`, a process with one thread and a memory limit, learns from
them with `solver="nystroem"` and default arguments; Dask moves to disk what does not fit. A line
for each number of rows says how long it took, how much memory the worker had at most in each
third of the fit, and the memory of this process, which has the scheduler.
"""
# ruff: noqa: T201

from __future__ import annotations

import argparse
import os
import tempfile
import threading
import time

import dask
import numpy as np
import psutil
from dask import delayed

from bayespoint import BayesPointClassifier, distributed, solvers
from distributed import Client, LocalCluster

ROWS_PER_PARTITION = 100_000
N_COLUMNS = 10
N_TEST = 100_000
SECONDS_BETWEEN_SAMPLES = 0.25


def make_rows(seed: int, n: int = ROWS_PER_PARTITION) -> tuple[np.ndarray, np.ndarray]:
    """Return rows and classes; nobody can predict more than about seven eighths of them."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, N_COLUMNS))
    signal = np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2]
    return X, (signal + 0.5 * rng.standard_normal(n) > 0).astype(int)


class MemoryWatch(threading.Thread):
    """Looks at the resident memory of processes again and again, in megabytes."""

    def __init__(self, pids: list[int]):
        super().__init__(daemon=True)
        self.processes, self.samples, self.is_over = [psutil.Process(p) for p in pids], [], False

    def run(self) -> None:
        """Sample until the fit is over."""
        while not self.is_over and all(p.is_running() for p in self.processes):
            self.samples.append([p.memory_info().rss / 2**20 for p in self.processes])
            time.sleep(SECONDS_BETWEEN_SAMPLES)

    def peaks(self) -> tuple[list[float], list[float]]:
        """Return the peaks in each third of the time, for each process."""
        self.is_over = True
        thirds = np.array_split(np.array(self.samples), 3)
        return tuple([float(third[:, i].max()) for third in thirds] for i in range(2))


def fit(n_millions: float, n_landmarks: int, memory: str, cache_size: float) -> None:
    """Fit a machine and print a line."""
    n_parts = max(round(n_millions * 1e6 / ROWS_PER_PARTITION), 1)
    options = {"threads_per_worker": 1, "processes": True, "dashboard_address": ":0"}
    with (
        tempfile.TemporaryDirectory() as folder,
        dask.config.set(temporary_directory=folder),
        LocalCluster(n_workers=1, memory_limit=memory, **options) as cluster,
        Client(cluster) as client,
    ):
        pids = client.run(os.getpid)
        watch = MemoryWatch([*pids.values(), os.getpid()])
        watch.start()
        began = time.perf_counter()
        parts = [delayed(make_rows, nout=2)(seed) for seed in range(n_parts)]
        model = BayesPointClassifier(
            solver=solvers.Nystroem(n_landmarks), cache_size=cache_size, random_state=0
        )
        distributed.fit(model, [p[0] for p in parts], [p[1] for p in parts])
        seconds = time.perf_counter() - began
        of_worker, of_client = watch.peaks()
        survived = client.run(os.getpid) == pids
    X, y = make_rows(10**6, N_TEST)
    error = np.mean(model.predict(X) != y)
    n = n_parts * ROWS_PER_PARTITION / 1e6
    thirds = ", ".join(f"{peak:.0f}" for peak in of_worker)
    print(
        f"{n:g} million rows: {seconds:.0f} s, {seconds / n:.1f} s a million, {model.n_iter_} "
        f"sweeps; worker at most {thirds} MB in each third, this process {max(of_client):.0f} MB; "
        f"error {error:.4f}{'' if survived else '; THE WORKER WAS LOST'}",
        flush=True,
    )


def main() -> None:
    """Print a line for each number of rows."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=float, nargs="+", default=[1, 10], help="in millions")
    parser.add_argument("--landmarks", type=int, default=500)
    parser.add_argument("--memory", default="2GB", help="limit of the worker")
    parser.add_argument("--cache", type=float, default=500, help="cache_size, megabytes")
    arguments = parser.parse_args()
    print(f"{arguments.landmarks} landmarks, a worker with {arguments.memory}", flush=True)
    for n_millions in arguments.rows:
        fit(n_millions, arguments.landmarks, arguments.memory, arguments.cache)


if __name__ == "__main__":
    main()
