"""The linear classifier on a Dask cluster: covtype, class 2 against the rest, all rows.

Compares one worker, two workers, and two workers of which one is killed in the middle with the
same fit without Dask. Workers are processes of a `LocalCluster` with one thread each. The cases
take turns. Loading is not timed, except for partitions that are lost with a worker and loaded
again. If the machine is not idle, the CPU time of the busiest worker tells more than the clock.
"""
# ruff: noqa: T201

from __future__ import annotations

import argparse
import os
import signal
import tempfile
import threading
import time
from pathlib import Path

import numpy as np
from dask import delayed

from bayespoint import LinearBayesPointClassifier, distributed
from distributed import Client, LocalCluster, wait

N_PARTITIONS = 4


def covtype(path: str) -> tuple[np.ndarray, np.ndarray]:
    """Return standardized points and labels."""
    data = np.load(path)
    rows = np.random.default_rng(0).permutation(len(data["y"]))
    codes = [data[name][rows] for name in ("wilderness", "soil")]
    one_hot = [code[:, None] == np.unique(code) for code in codes]
    X = np.hstack([data["X_num"][rows].astype(float), *one_hot])
    X -= X.mean(axis=0)
    X /= np.maximum(X.std(axis=0), 1e-12)
    return X, data["y"][rows] == 2


def write_parts(folder: str, X: np.ndarray, y: np.ndarray) -> list[str]:
    """Write partitions to files, and return their paths."""
    paths = [f"{folder}/{number}.npz" for number in range(N_PARTITIONS)]
    for path, here in zip(paths, np.array_split(np.arange(len(y)), N_PARTITIONS), strict=True):
        np.savez(path, X=X[here], y=y[here])
    return paths


def part(path: str) -> tuple[np.ndarray, np.ndarray]:
    """Return a partition; on a worker, which reads the file itself."""
    with np.load(path) as file:
        return file["X"], file["y"]


def distance(model, other) -> float:
    """Return the distance of two posteriors, in standard deviations and shares of variances."""
    deviation = np.sqrt(np.diagonal(other.coef_covariance_))
    means = [np.append(m.coef_, m.intercept_) for m in (model, other)]
    scale = np.outer(deviation, deviation)
    spread = np.abs(model.coef_covariance_ - other.coef_covariance_) / scale
    return float(max(np.abs((means[0] - means[1]) / deviation).max(), spread.max()))


def timed_fit(paths: list[str], parameters: dict, n_workers: int, kill_after: float | None = None):
    """Return the seconds of a fit, the CPU seconds of the busiest worker, and the model."""
    options = {"threads_per_worker": 1, "processes": True, "dashboard_address": ":0"}
    with LocalCluster(n_workers=n_workers, **options) as cluster, Client(cluster) as client:
        parts = client.persist([delayed(part)(path) for path in paths])
        wait(parts)
        X, y = [p[0] for p in parts], [p[1] for p in parts]
        # Loads compiled loops.
        distributed.fit(LinearBayesPointClassifier(prior_variance=1.0, tol=10.0), X, y)
        if kill_after is not None:
            victim = client.run(os.getpid).popitem()[1]
            timer = threading.Timer(kill_after, os.kill, (victim, signal.SIGKILL))
            timer.start()
        before, began = client.run(time.process_time), time.perf_counter()
        model = distributed.fit(LinearBayesPointClassifier(**parameters), X, y)
        taken, after = time.perf_counter() - began, client.run(time.process_time)
        return taken, max(after[w] - before.get(w, 0.0) for w in after), model


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder with large/covtype.npz")
    parser.add_argument("--tol", type=float, default=1e-8)
    parser.add_argument("--repeats", type=int, default=3)
    arguments = parser.parse_args()
    path = str(arguments.data / "large" / "covtype.npz")
    parameters = {"tol": arguments.tol, "max_iter": 1000}
    X, y = covtype(path)
    local = LinearBayesPointClassifier(**parameters)
    began = time.perf_counter()
    local.fit(X, y)
    print(f"without Dask: {time.perf_counter() - began:.1f} s, {local.n_iter_} sweeps", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        paths = write_parts(folder, X, y)
        record = [compare(paths, parameters, local) for _ in range(arguments.repeats)]
    clock, sweep, cpu, killed = np.median(record, axis=0)
    print(f"two workers take {clock:.2f} of the time of one, {sweep:.2f} a sweep, {cpu:.2f} by")
    print(f"CPU time, and {killed:.2f} if one of them is killed")


def compare(paths: list[str], parameters: dict, local) -> list[float]:
    """Return times relative to one worker: of a fit, a sweep, the CPU, and with a loss."""
    one = timed_fit(paths, parameters, 1)
    report("one worker", *one, local)
    two = timed_fit(paths, parameters, 2)
    report("two workers", *two, local)
    killed = timed_fit(paths, parameters, 2, kill_after=two[0] / 2)
    report("two workers, one killed", *killed, local)
    sweeps = one[2].n_iter_ / two[2].n_iter_
    ratio = two[0] / one[0]
    return [ratio, ratio * sweeps, two[1] / one[1], killed[0] / one[0]]


def report(name: str, seconds: float, cpu: float, model, local) -> None:
    """Print a line."""
    print(
        f"{name:24}{seconds:7.1f} s, CPU {cpu:6.1f} s,{model.n_iter_:4} sweeps, distance to the "
        f"fit without Dask {distance(model, local):.1e}",
        flush=True,
    )


if __name__ == "__main__":
    main()
