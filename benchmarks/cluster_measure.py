"""Measure the constants of `cluster_model.py`, with one to four workers of this machine.

    python benchmarks/cluster_measure.py rounds|sleeping|compute|kernels --data FOLDER --out FILE

`rounds` asks workers for answers that cost nothing: what a task and a megabyte cost the client and
the scheduler. `sleeping` does the same with more threads, which sleep for different times in place
of computing, so that they need no cores: a check of the model. `compute` fits parts of covtype and
counts the CPU seconds of the busiest worker, so workers may share cores. `kernels` times single
steps in this process. Each adds its numbers to FILE. Workers are processes, with one thread each
but for `sleeping`.
"""
# ruff: noqa: T201

from __future__ import annotations

import argparse
import json
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from cluster_kernel import covtype
from dask import delayed

from bayespoint import BayesPointClassifier, LinearBayesPointClassifier
from bayespoint import distributed as cluster
from bayespoint.distributed.calls import slots, submit
from bayespoint.solvers import Cells, Nystroem
from bayespoint.solvers.cells import nearest
from bayespoint.solvers.propagation.on_features import Blocks, prior
from distributed import Client, LocalCluster

WORKERS = (1, 2, 4)
TASKS = (8, 32)
# Bytes of a question and of its answer: nothing, a belief about 330 weights, 500 landmarks.
MESSAGES = ((0, 0), (870_000, 0), (0, 870_000), (870_000, 870_000), (1_000_000, 2_000_000))
ROUNDS = 3
MANY_TASKS = 500
# Threads of each of four workers, tasks, and logarithmic deviation of the time that they sleep.
SLEEPING = ((4, 16, 0.0), (4, 16, 0.3), (4, 64, 0.3), (8, 32, 0.0), (8, 32, 0.3))
SLEEPING_WORKERS = 4
SLEEP_SECONDS = 0.5
KERNEL = {"kernel": "rbf", "gamma": 0.01, "softness": 0.3, "random_state": 0}


def local_cluster(n_workers: int, threads: int = 1) -> LocalCluster:
    """Return a cluster of processes."""
    options = {"processes": True, "dashboard_address": ":0", "memory_limit": 0}
    return LocalCluster(n_workers=n_workers, threads_per_worker=threads, **options)


def reply(question: np.ndarray, n_bytes: int, seconds: float) -> np.ndarray:
    """Answer after some time; on a worker."""
    time.sleep(seconds)
    return np.ones(n_bytes // 8)


def timed_round(client: Client, n_down: int, n_up: int, seconds: list[float]) -> float:
    """Return the seconds of a round with a task for each number of seconds."""
    places, question = slots(client), np.ones(n_down // 8)
    began = time.perf_counter()
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Sending large graph")
        futures = [
            submit(client, places[i * len(places) // len(seconds)], reply, question, n_up, s)
            for i, s in enumerate(seconds)
        ]
    client.gather(futures)
    return time.perf_counter() - began


def measure_rounds(_: Path) -> dict[str, Any]:
    """Return the median seconds of rounds, and the seconds of a task that does nothing."""
    found, tiny = [], []
    for n_workers in WORKERS:
        with local_cluster(n_workers) as workers, Client(workers) as client:
            client.wait_for_workers(n_workers)
            timed_round(client, 0, 0, [0.0] * 32)
            for n_tasks in TASKS:
                for down, up in MESSAGES:
                    times = [timed_round(client, down, up, [0.0] * n_tasks) for _ in range(ROUNDS)]
                    found.append([n_workers, n_tasks, down, up, float(np.median(times))])
                    print(found[-1], flush=True)
            began = time.perf_counter()
            kept = [client.submit(abs, i, pure=False) for i in range(MANY_TASKS)]
            client.gather(kept)
            seconds = (time.perf_counter() - began) / MANY_TASKS
            tiny.append([n_workers, seconds])
            print(tiny[-1], flush=True)
    return {"rounds": {"rounds": found, "tiny": tiny}}


def measure_sleeping(_: Path) -> dict[str, Any]:
    """Return mean seconds of rounds whose workers sleep for times with a lognormal law."""
    found, rng = [], np.random.default_rng(0)
    for threads in sorted({case[0] for case in SLEEPING}):
        with local_cluster(SLEEPING_WORKERS, threads) as workers, Client(workers) as client:
            client.wait_for_workers(SLEEPING_WORKERS)
            timed_round(client, 0, 0, [0.0] * 32)
            for _, n_tasks, sigma in (case for case in SLEEPING if case[0] == threads):
                for down, up in MESSAGES[-2:]:
                    slow = SLEEP_SECONDS * rng.lognormal(0, sigma, (ROUNDS, n_tasks))
                    times = [timed_round(client, down, up, list(s)) for s in slow]
                    mean, size = float(np.mean(times)), (SLEEPING_WORKERS, threads, n_tasks)
                    found.append([*size, down, up, SLEEP_SECONDS, sigma, mean])
                    print(found[-1], flush=True)
    return {"sleeping": found}


def busiest(client: Client, work: Callable[[], Any]) -> float:
    """Return the CPU seconds of the busiest worker."""
    before = client.run(time.process_time)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # fits end after a given number of sweeps
        work()
    after = client.run(time.process_time)
    return max(after[w] - before[w] for w in after)


def fits() -> dict[str, tuple]:
    """Return machines that make a given number of sweeps, rows, sweeps, and two or seven classes.

    Sweeps of landmarks are those of one output.
    """

    def linear(sweeps: int):
        return LinearBayesPointClassifier(max_iter=sweeps, tol=1e-12)

    def landmarks(sweeps: int):
        solver = Nystroem(500, max_iter=sweeps, tol=0)
        return BayesPointClassifier(**KERNEL, solver=solver)

    def cells(_: int):
        return BayesPointClassifier(**KERNEL, solver=Cells(1000))

    return {
        "linear, 2 classes": (linear, 200_000, (4, 12), 2),
        "linear, 7 classes": (linear, 40_000, (2, 6), 7),
        "landmarks, 500": (landmarks, 40_000, (1, 3), 7),
        "cells": (cells, 8_000, (1,), 7),
    }


def measure_compute(folder: Path) -> dict[str, Any]:
    """Return CPU seconds of the busiest worker for machines, workers, rows and sweeps."""
    X, y = covtype(folder / "large" / "covtype.npz")
    found: dict[str, list] = {name: [] for name in fits()}
    for n_workers in WORKERS:
        with local_cluster(n_workers) as workers, Client(workers) as client:
            client.wait_for_workers(n_workers)
            for name, (machine, n, sweeps, n_classes) in fits().items():
                label = y if n_classes > 2 else y == 2
                few = 1000 * n_workers
                warm = machine(1), X[:few], label[:few], n_workers
                busiest(client, lambda w=warm: fit(*w))
                for s in sweeps:
                    args = machine(s), X[:n], label[:n], n_workers
                    cpu = busiest(client, lambda a=args: fit(*a))
                    found[name].append([n_workers, n, s, cpu])
                    print(name, *found[name][-1], flush=True)
    return {"compute": found}


def fit(model, X, y, n_workers: int) -> None:
    """Fit to rows that workers have in partitions, two for each."""
    parts = [
        [delayed(values) for values in np.array_split(column, 2 * n_workers)] for column in (X, y)
    ]
    cluster.fit(model, *parts)


def seconds_per_row(work: Callable[[], Any], n_rows: int) -> float:
    """Return the CPU seconds of a row, the best of three."""
    times = []
    for _ in range(3):
        began = time.process_time()
        work()
        times.append(time.process_time() - began)
    return min(times) / n_rows


def measure_kernels(folder: Path) -> dict[str, Any]:
    """Return CPU seconds of a row: a sweep of landmarks, their features, nearest centers."""
    X, _ = covtype(folder / "large" / "covtype.npz")
    found, n = {}, 8192
    rng = np.random.default_rng(0)
    for r in (500, 2000):
        features = (rng.standard_normal((n, r)) / np.sqrt(r)).astype(np.float32)
        points, basis = X[-r:].astype(np.float32), np.eye(r, dtype=np.float32)
        # Features and sums in single precision; sums in double precision; both.
        for name, n_points in (("single", n), ("double", 10**9), ("all double", n)):
            given = features.astype(np.float64) if name == "all double" else features
            blocks = Blocks(given, rng.choice([-1, 1], n), np.ones(n), n_points=n_points)
            blocks.sweep(prior(r), 1.0)
            work = lambda b=blocks, r=r: b.sweep(prior(r), 0.9)  # noqa: E731
            found[f"sweep, {name}, {r}"] = seconds_per_row(work, n)
        block = X[:2048].astype(np.float32)
        make = lambda p=points, b=basis, x=block: np.exp(-(x @ p.T) * 0) @ b  # noqa: E731
        found[f"features, {r}"] = seconds_per_row(make, len(block))
    some, centers = X[:20_000], X[-1000:]
    found["nearest of 1000"] = seconds_per_row(lambda: nearest(some, centers), len(some))
    return {"kernels": found}


def main() -> None:
    """Measure, print, and add to a file."""
    measures = {
        "rounds": measure_rounds,
        "sleeping": measure_sleeping,
        "compute": measure_compute,
        "kernels": measure_kernels,
    }
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=measures)
    parser.add_argument("--data", type=Path, required=True, help="folder with large/covtype.npz")
    parser.add_argument("--out", type=Path, required=True)
    given = parser.parse_args()
    known = json.loads(given.out.read_text()) if given.out.exists() else {}
    known |= measures[given.what](given.data)
    given.out.write_text(json.dumps(known) + "\n")
    print(json.dumps(known[given.what]))


if __name__ == "__main__":
    main()
