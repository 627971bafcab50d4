"""A cluster in simulated time, event by event: a check of the formulas of `cluster_model.py`.

    python benchmarks/cluster_simulation.py

It knows nothing of the formulas: messages leave the hub one after another, threads take the tasks
of their portions in order, each task has its own slowdown, and workers are lost at random moments.
"""
# ruff: noqa: T201

from __future__ import annotations

import heapq

import numpy as np
from cluster_model import Cluster, Hub, Round, fit_seconds

# Constants in the range of those measured; see `cluster_report.py`.
HUB = Hub(0.005, 0.001, 2e-9, 3e-9)
# Workers, threads, tasks, bytes of a message, seconds of a task, spread, hours between losses of
# a worker, sweeps to make again, whether all are made again, how many workers share that.
CASES = {
    "one wave": (100, 1, 100, 9e5, 10.0, 0.1, None, 0, False, 1),
    "slow hub": (100, 4, 400, 9e5, 0.5, 0.1, None, 0, False, 1),
    "many small tasks": (25, 4, 1600, 1e5, 1.0, 0.3, None, 0, False, 1),
    "hub is the limit": (100, 4, 6400, 2e6, 0.5, 0.1, None, 0, False, 1),
    "stragglers": (400, 1, 400, 9e5, 10.0, 0.5, None, 0, False, 1),
    "losses": (100, 4, 400, 9e5, 30.0, 0.1, 20, 3, False, 1),
    "losses, history repeated": (100, 4, 400, 9e5, 30.0, 0.1, 20, 0, True, 1),
    "losses, repairs shared": (100, 4, 6400, 1e5, 2.0, 0.1, 20, 0, True, 99),
}
N_SWEEPS = 40
RESTART_SECONDS = 30.0


def simulate(
    hub: Hub, work: Round, cluster: Cluster, n_rounds: int, redo: float, repeats: bool, seed: int
) -> float:
    """Return the seconds of a fit."""
    rng = np.random.default_rng(seed)
    # Portions belong to threads in turn, and threads to workers in turn.
    thread_of = np.arange(work.tasks) % cluster.slots
    worker_of = thread_of % cluster.workers

    def next_loss(now: float) -> float:
        return now + rng.exponential(1 / cluster.losses) if cluster.losses else np.inf

    losses = [(next_loss(0.0), w) for w in range(cluster.workers)]
    heapq.heapify(losses)
    now = 0.0
    for number in range(n_rounds):
        arrival = now + hub.round + np.cumsum(np.full(work.tasks, hub.send(work.down)))
        took = work.seconds * rng.lognormal(0.0, cluster.spread, work.tasks)
        end = np.zeros(work.tasks)
        free = np.zeros(cluster.slots)
        for i, thread in enumerate(thread_of):
            end[i] = free[thread] = max(arrival[i], free[thread]) + took[i]
        while losses[0][0] < end.max():
            when, worker = heapq.heappop(losses)
            lost = np.flatnonzero(worker_of == worker)
            again = number if repeats else redo
            free = np.full(cluster.helpers * cluster.threads, when + cluster.restart)
            for place, i in enumerate(lost):
                slow = rng.lognormal(0.0, cluster.spread, int(again) + 1)
                thread = place % len(free)
                end[i] = free[thread] = max(free[thread], arrival[i]) + work.seconds * slow.sum()
            heapq.heappush(losses, (next_loss(when), worker))
        now = end.max() + work.tasks * work.up * hub.byte_up
    return now


def case(name: str) -> tuple:
    """Return the cluster of a case, its rounds, and how lost portions learn again."""
    workers, threads, tasks, size, seconds, spread, hours, redo, repeats, helpers = CASES[name]
    rate = 0.0 if hours is None else 1 / (3600 * hours)
    cluster = Cluster(workers, threads, spread, rate, RESTART_SECONDS, helpers)
    return Round(tasks, size, size, seconds), cluster, N_SWEEPS, redo, repeats


def compare(name: str, n_runs: int) -> tuple[float, float, float]:
    """Return the mean of simulated seconds, its standard error, and what the model says."""
    given = case(name)
    times = [simulate(HUB, *given, seed) for seed in range(n_runs)]
    error = np.std(times, ddof=1) / np.sqrt(n_runs)
    return float(np.mean(times)), float(error), fit_seconds(HUB, *given)


def main() -> None:
    """Print a table."""
    for name in CASES:
        mean, error, model = compare(
            name, 100 if name in ("losses", "losses, history repeated") else 8
        )
        print(f"{name:26}{mean:9.0f} ± {error:.0f} s, model {model:9.0f}, {model / mean - 1:+.1%}")


if __name__ == "__main__":
    main()
