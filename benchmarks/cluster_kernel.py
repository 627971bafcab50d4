"""A kernel machine on a Dask cluster: covtype with all seven classes.

Compares one worker, two workers, and two workers of which one is killed in the middle with the
same fit without Dask: seconds, CPU seconds and peak memory of the busiest worker, and the largest
difference of a probability. Workers are processes of a `LocalCluster` with one thread each, and
read their partitions from files, which is timed. If the machine is not idle, the CPU time of the
busiest worker tells more than the clock.
"""
# ruff: noqa: T201

from __future__ import annotations

import argparse
import os
import resource
import signal
import tempfile
import threading
import time
from pathlib import Path

import numpy as np
from cluster import part
from dask import delayed
from sklearn.metrics import log_loss

from bayespoint import BayesPointClassifier, distributed
from distributed import Client, LocalCluster

N_PARTITIONS = 8
N_TEST = 20_000


def covtype(path: Path) -> tuple[np.ndarray, np.ndarray]:
    """Return points, in their units, and classes, shuffled."""
    data = np.load(path)
    rows = np.random.default_rng(0).permutation(len(data["y"]))
    codes = [data[name][rows] for name in ("wilderness", "soil")]
    one_hot = [code[:, None] == np.unique(code) for code in codes]
    return np.hstack([data["X_num"][rows].astype(float), *one_hot]), data["y"][rows]


def write_parts(folder: str, X: np.ndarray, y: np.ndarray) -> list[str]:
    """Write partitions to files, and return their paths."""
    paths = [f"{folder}/{number}.npz" for number in range(N_PARTITIONS)]
    for path, here in zip(paths, np.array_split(np.arange(len(y)), N_PARTITIONS), strict=True):
        np.savez(path, X=X[here], y=y[here])
    return paths


def warm_up(paths: list[str], solver: str) -> None:
    """Load the library and its compiled loops on all workers."""
    few = [delayed(lambda path, i: part(path)[i][:1000])(paths[0], i) for i in (0, 1)]
    solver = "mosaic" if solver == "auto" else solver
    model = BayesPointClassifier("rbf", gamma=0.01, softness=0.1, solver=solver)
    distributed.fit(model, few[:1], few[1:])


def timed_fit(paths: list[str], solver: str, n_workers: int, kill_after: float | None = None):
    """Return a model, its seconds, and CPU seconds and megabytes of the busiest worker."""
    options = {"threads_per_worker": 1, "processes": True, "dashboard_address": ":0"}
    with LocalCluster(n_workers=n_workers, **options) as cluster, Client(cluster) as client:
        warm_up(paths, solver)
        if kill_after is not None:
            victim = client.run(os.getpid).popitem()[1]
            threading.Timer(kill_after, os.kill, (victim, signal.SIGKILL)).start()
        before, began = client.run(time.process_time), time.perf_counter()
        loaded = [delayed(part, nout=2)(path) for path in paths]
        model = BayesPointClassifier(solver=solver, random_state=0)
        distributed.fit(model, [p[0] for p in loaded], [p[1] for p in loaded])
        taken, after = time.perf_counter() - began, client.run(time.process_time)
        peak = client.run(lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
        cpu = max(after[w] - before.get(w, 0.0) for w in after)
        return model, taken, cpu, max(peak.values())


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder with large/covtype.npz")
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--solver", choices=["nystroem", "cells", "auto"], default="nystroem")
    arguments = parser.parse_args()
    X, y = covtype(arguments.data / "large" / "covtype.npz")
    test = slice(-N_TEST, None)
    train = slice(0, min(arguments.rows, len(y) - N_TEST))
    began, cpu = time.perf_counter(), time.process_time()
    local = BayesPointClassifier(solver=arguments.solver, random_state=0).fit(X[train], y[train])
    print(
        f"{arguments.solver}, {train.stop} rows, without Dask: {time.perf_counter() - began:.1f} s,"
        f" CPU {time.process_time() - cpu:.1f} s",
        flush=True,
    )
    probability = local.predict_proba(X[test])
    error = np.mean(local.classes_[probability.argmax(axis=1)] != y[test])
    print(f"error {error:.4f}, log loss {log_loss(y[test], probability):.4f}", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        paths, seconds = write_parts(folder, X[train], y[train]), 0.0
        for name, n_workers, killed in (
            ("one worker", 1, False),
            ("two workers", 2, False),
            ("two workers, one killed", 2, True),
        ):
            after = seconds / 2 if killed else None
            model, seconds, cpu, peak = timed_fit(paths, arguments.solver, n_workers, after)
            off = np.abs(model.predict_proba(X[test]) - probability).max()
            print(
                f"{name:24}{seconds:7.1f} s, CPU {cpu:6.1f} s, {peak:6.0f} MB, probabilities "
                f"differ by {off:.1e}",
                flush=True,
            )


if __name__ == "__main__":
    main()
