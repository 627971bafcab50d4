"""Time and traffic of fits on clusters larger than this machine: the formulas.

`docs/notes/large_cluster.md` derives them. `cluster_measure.py` and `cluster_sweeps.py` measure
their constants, `cluster_simulation.py` checks them, and `cluster_report.py` applies them.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from scipy import stats
from scipy.optimize import nnls

# Probabilities at which the largest of several times is averaged.
N_QUANTILES = 2000


class Cluster(NamedTuple):
    """Workers, and what happens to them."""

    workers: int
    threads: int = 1  # of each worker
    spread: float = 0.0  # logarithmic deviation of the time of a task
    losses: float = 0.0  # of each worker, in a second
    restart: float = 0.0  # seconds until other workers take the place of a lost one
    helpers: int = 1  # so many workers share its portions

    @property
    def slots(self) -> int:
        """Return the number of tasks that run at the same time."""
        return self.workers * self.threads


class Hub(NamedTuple):
    """What client and scheduler take, one message after another, in seconds."""

    round: float
    task: float
    byte_down: float
    byte_up: float

    def send(self, down: float) -> float:
        """Return the seconds to send a task with this many bytes."""
        return self.task + down * self.byte_down


class Round(NamedTuple):
    """A task for each portion of the rows, and their answers."""

    tasks: int
    down: float  # bytes of a task
    up: float  # bytes of its answer
    seconds: float  # of a task on a worker, the median

    @property
    def traffic(self) -> float:
        """Return the bytes that go through the scheduler."""
        return self.tasks * (self.down + self.up)


def largest(n: int, spread: float) -> float:
    """Return the mean of the largest of n lognormal times with median one."""
    u = (np.arange(N_QUANTILES) + 0.5) / N_QUANTILES
    return float(np.mean(np.exp(spread * stats.norm.ppf(u ** (1 / n)))))


def busy_seconds(work: Round, cluster: Cluster) -> float:
    """Return how long the slowest thread computes.

    The sum of the tasks of one thread has about a lognormal law, with a smaller deviation.
    """
    n = math.ceil(work.tasks / cluster.slots)
    squared = math.log1p(math.expm1(cluster.spread**2) / n)
    median = n * work.seconds * math.exp((cluster.spread**2 - squared) / 2)
    return median * largest(min(work.tasks, cluster.slots), math.sqrt(squared))


def round_seconds(hub: Hub, work: Round, cluster: Cluster) -> float:
    """Return the seconds of a round.

    Tasks leave one after another. Either the threads are busy from their first task on, or they
    wait for the hub until the last one. Answers are collected when all tasks are done.
    """
    send = hub.send(work.down)
    computing = min(work.tasks, cluster.slots) * send + busy_seconds(work, cluster)
    sending = work.tasks * send + work.seconds
    return hub.round + max(computing, sending) + work.tasks * work.up * hub.byte_up


def fit_seconds(
    hub: Hub, work: Round, cluster: Cluster, n_rounds: int, redo: float, repeats: bool = False
) -> float:
    """Return the mean seconds of many rounds, in which workers may be lost.

    The place of a lost worker makes `redo` rounds of computation again or, if it `repeats`, all
    since the beginning, and then its part of this round. Places are repaired at the same time, so
    all wait for a busy period of a queue with as many servers as there are customers (M/G/inf).
    """
    one = round_seconds(hub, work, cluster)
    rate = cluster.losses * cluster.workers
    if not rate:
        return n_rounds * one
    n_lost = work.tasks / cluster.workers / cluster.threads  # for each thread of a worker
    task = work.seconds * math.exp(cluster.spread**2 / 2)
    again = np.arange(n_rounds) if repeats else np.full(n_rounds, redo)
    repair = cluster.restart + (again + 1) * math.ceil(n_lost / cluster.helpers) * task
    waiting = np.expm1(rate * repair) / rate - math.ceil(n_lost) * task / 2  # half a round is left
    waiting = np.maximum(waiting, 0.0)
    return float(n_rounds * one - np.expm1(-rate * one) * waiting.sum())


def fit_hub(rounds: np.ndarray) -> tuple[Hub, np.ndarray]:
    """Return the hub that explains measured rounds, and the relative residuals.

    Rounds are rows of (workers, tasks, bytes down, bytes up, seconds). Least squares of relative
    errors, with constants that are not negative.
    """
    _, tasks, down, up, seconds = np.asarray(rounds, dtype=float).T
    columns = np.stack([np.ones_like(tasks), tasks, tasks * down, tasks * up], axis=1)
    units = columns.max(axis=0)
    found, _ = nnls(columns / units / seconds[:, None], np.ones_like(seconds))
    found /= units
    return Hub(*map(float, found)), columns @ found / seconds - 1


def fit_compute(fits: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return CPU seconds of a fit, of a row, and of a row in a sweep; and relative residuals.

    Fits are rows of (workers, rows, sweeps, CPU seconds of the busiest worker).
    """
    workers, rows, sweeps, seconds = np.asarray(fits, dtype=float).T
    columns = np.stack([np.ones_like(rows), rows / workers, rows * sweeps / workers], axis=1)
    if np.ptp(sweeps) == 0:
        columns[:, 2] = 0.0
    units = np.maximum(columns.max(axis=0), 1.0)
    found, _ = nnls(columns / units / seconds[:, None], np.ones_like(seconds))
    found /= units
    return found, columns @ found / seconds - 1
