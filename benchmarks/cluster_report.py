"""What a billion rows would take on a hundred workers, from the constants measured here.

    python benchmarks/cluster_report.py [--picture FILE]

Prints the constants with the errors of their fits, how well they predict rounds of sleeping
workers, and the table of docs/notes/large_cluster.md; draws its picture. The measurements are in
results/cluster_model.json (`cluster_measure.py`, `cluster_sweeps.py`).
"""
# ruff: noqa: T201

from __future__ import annotations

import argparse
import json
import math
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from cluster_model import Cluster, Hub, Round, fit_compute, fit_hub, fit_seconds, round_seconds

from bayespoint.displays import use_style
from bayespoint.evaluation.displays.colors import COLORS

RESULTS = Path(__file__).parent / "results" / "cluster_model.json"
HOUR = 3600.0
# The cluster on paper. Bytes go twice through the scheduler's network: in, and out again.
WORKERS, THREADS, GIGABYTES = 100, 4, 16
SECONDS_PER_BYTE = 2 / 1.25e9  # 10 Gbit/s
SPREAD, HOURS_BETWEEN_LOSSES, RESTART_SECONDS = 0.1, 1000.0, 60.0
# The data on paper.
ROWS, FEATURES, CLASSES = 10**9, 54, 7
ROW_BYTES = 8 * FEATURES
PART_BYTES = 2**26  # of `distributed.sorting`
BLOCK_ROWS = 4096  # of `solvers.weights.row_order`
MAX_SWEEPS = 100  # max_iter of the linear classifier
LANDMARK_SWEEPS = 9
POINTS_PER_CELL = 1000
DIVISIONS = 2  # rounds of `divide_into_cells`


class Plan(NamedTuple):
    """How a machine learns from all rows."""

    tasks: int  # in a round
    rounds: int
    down: float  # bytes of a task
    up: float
    row_seconds: float  # of a thread, in a round
    row_bytes: float  # on a worker
    redo: float = 0.0  # rounds that a lost portion makes again
    repeats: bool = False  # it makes all rounds again
    small_tasks: float = 0.0  # tasks that cost the scheduler more than the workers
    helpers: int = 1  # workers that share the portions of a lost one


class Costs(NamedTuple):
    """Seconds, measured here."""

    hub: Hub
    small_task: float
    linear_two: float  # a row in a sweep
    linear: float
    landmarks: dict[int, float]
    cells: float  # a row
    nearest: float  # a row and a center


def read_costs(found: dict[str, Any]) -> Costs:
    """Return the constants. Landmarks take longer on Dask's workers than alone, by one factor."""
    hub, _ = fit_hub(found["rounds"]["rounds"])
    hub = hub._replace(
        byte_down=max(hub.byte_down, SECONDS_PER_BYTE), byte_up=max(hub.byte_up, SECONDS_PER_BYTE)
    )
    compute = {name: fit_compute(fits)[0] for name, fits in found["compute"].items()}
    alone = found["kernels"]
    # The measured fits, in the units of covtype, need double precision everywhere.
    factor = compute["landmarks, 500"][2] / (CLASSES * alone["sweep, all double, 500"])
    # With this many rows, sums need double precision, and features do not fit in memory.
    landmarks = {
        r: factor * (alone[f"sweep, double, {r}"] + alone[f"features, {r}"]) for r in (500, 2000)
    }
    return Costs(
        hub,
        float(np.median([seconds for _, seconds in found["rounds"]["tiny"]])),
        compute["linear, 2 classes"][2],
        compute["linear, 7 classes"][2],
        landmarks,
        compute["cells"][1],
        alone["nearest of 1000"] / 1000,
    )


def sweeps_at(found: dict[str, Any], variant: str, n_rows: float) -> float:
    """Return sweeps by the line through their logarithms, from the 63,000 rows where growth began.

    A guess: from two million rows to a billion.
    """
    rows, sweeps = found["by_rows"]["rows"][1:], found["by_rows"][variant][1:]
    slope, offset = np.polyfit(np.log(rows), np.log(sweeps), 1)
    return float(np.exp(offset + slope * np.log(n_rows)))


def plans(costs: Costs, found: dict[str, Any], workers: int = WORKERS) -> dict[str, Plan]:
    """Return each machine as it is, and as it should be."""
    slots = workers * THREADS
    n_parts = max(slots, round(ROWS * ROW_BYTES / PART_BYTES))
    now = {"tasks": slots, "rounds": MAX_SWEEPS}
    half = "64 portions, half steps"
    # Seven classes were counted with 100,000 rows only: assume the same growth.
    more = found["many_classes"][-1][1] / sweeps_at(found, half, 100_000)
    listed: dict[str, Plan] = {}
    for name, n_outputs, row_seconds, redo in (
        ("linear, 2 classes", 1, costs.linear_two, 0.5),
        ("linear, 7 classes", CLASSES - 1, costs.linear, 3.0),
    ):
        weights = (FEATURES + 1) * n_outputs
        size = 8.0 * weights * (weights + 1)
        sites = 16.0 * (CLASSES if n_outputs > 1 else 1)
        row_bytes = 2 * ROW_BYTES + 16 + sites + size / BLOCK_ROWS
        rest = {"down": size, "up": size, "row_seconds": row_seconds, "redo": redo}
        better = math.ceil(sweeps_at(found, half, ROWS) * (more if n_outputs > 1 else 1))
        then = {"tasks": workers, "rounds": better}
        listed[name] = Plan(**now, **rest, row_bytes=row_bytes)
        listed[f"{name}, changed"] = Plan(**then, **rest, row_bytes=row_bytes - ROW_BYTES)
    for r in (500, 2000):
        row_bytes = 2 * ROW_BYTES + 64 + 16 * CLASSES + 48
        sort = n_parts * n_parts
        rounds = CLASSES * LANDMARK_SWEEPS
        seconds = costs.landmarks[r]
        listed[f"landmarks, {r}"] = Plan(
            n_parts,
            rounds,
            4.0 * r * r,
            8.0 * r * r,
            seconds,
            row_bytes,
            0,
            True,
            sort,
            workers - 1,
        )
        # All classes in one round, sums of a worker's threads added there, sites kept in files.
        down, up = CLASSES * 4.0 * r * r, CLASSES * 8.0 * r * r
        listed[f"landmarks, {r}, changed"] = Plan(
            workers, LANDMARK_SWEEPS, down, up, CLASSES * seconds, row_bytes, 0, False, slots**2
        )
    n_cells = ROWS / POINTS_PER_CELL
    model_bytes = ROW_BYTES + 8 * CLASSES * (2 * 32 + 4)
    look = DIVISIONS * costs.nearest
    once = costs.cells + look * n_cells
    listed["cells"] = Plan(
        4 * slots,
        1,
        0,
        ROWS * model_bytes / (4 * slots),
        once,
        3 * ROW_BYTES,
        small_tasks=n_parts * n_parts,
    )
    once = costs.cells + look * 2 * math.sqrt(n_cells)
    listed["cells, changed"] = Plan(
        4 * slots, 1, 0, 0, once, 2 * ROW_BYTES + 8 * CLASSES, small_tasks=slots**2
    )
    return listed


def paper_cluster(workers: int = WORKERS) -> Cluster:
    """Return the cluster on paper."""
    return Cluster(workers, THREADS, SPREAD, 1 / (HOURS_BETWEEN_LOSSES * HOUR), RESTART_SECONDS)


def seconds_of(plan: Plan, costs: Costs, workers: int = WORKERS) -> dict[str, float]:
    """Return the seconds of a plan: computation alone, rounds without losses, everything."""
    cluster = paper_cluster(workers)._replace(helpers=plan.helpers)
    # A task for each worker uses all its threads.
    cluster = cluster._replace(threads=1) if plan.tasks == workers else cluster
    per_task = plan.row_seconds * ROWS / plan.tasks * cluster.threads / THREADS
    work = Round(plan.tasks, plan.down, plan.up, per_task)
    alone = plan.rounds * plan.row_seconds * ROWS / (workers * THREADS)
    small = plan.small_tasks * costs.small_task
    return {
        "compute": alone,
        "rounds": plan.rounds * round_seconds(costs.hub, work, cluster),
        "scheduler": small,
        "all": small + fit_seconds(costs.hub, work, cluster, plan.rounds, plan.redo, plan.repeats),
        "terabytes": plan.rounds * work.traffic / 1e12,
        "gigabytes": plan.row_bytes * ROWS / workers / 1e9,
    }


def print_errors(found: dict[str, Any]) -> None:
    """Print constants, the errors of their fits, and of predictions."""
    hub, off = fit_hub(found["rounds"]["rounds"])
    print(
        f"hub: {1e3 * hub.round:.1f} ms a round, {1e3 * hub.task:.2f} ms a task, "
        f"{1e9 * hub.byte_down:.2f} and {1e9 * hub.byte_up:.2f} ns a byte down and up; "
        f"root mean square error {np.sqrt(np.mean(off**2)):.0%}, largest {np.abs(off).max():.0%}"
    )
    for name, fits in found["compute"].items():
        (fixed, row, sweep), off = fit_compute(fits)
        print(
            f"{name}: {fixed:.2f} s, {1e6 * row:.2f} µs a row, {1e6 * sweep:.2f} a row and sweep; "
            f"errors {np.sqrt(np.mean(off**2)):.0%}, largest {np.abs(off).max():.0%}"
        )
    errors = []
    for workers, threads, tasks, down, up, seconds, spread, measured in found["sleeping"]:
        work = Round(tasks, down, up, seconds)
        predicted = round_seconds(hub, work, Cluster(workers, threads, spread))
        errors.append(predicted / measured - 1)
        print(
            f"  {workers * threads} threads sleep, {tasks} tasks, spread {spread}, "
            f"{(down + up) / 1e6:.1f} MB: {measured:.2f} s, model {predicted:.2f}"
        )
    print(f"sleeping workers: errors {min(errors):+.0%} to {max(errors):+.0%}")


def print_table(found: dict[str, Any]) -> None:
    """Print hours, traffic and memory of a billion rows."""
    costs = read_costs(found)
    print("machine | rounds x tasks | compute | scheduler | all hours | TB | GB a worker")
    for name, plan in plans(costs, found).items():
        s = seconds_of(plan, costs)
        print(
            f"{name} | {plan.rounds} x {plan.tasks} | {s['compute'] / HOUR:.2f} | "
            f"{s['scheduler'] / HOUR:.2f} | {s['all'] / HOUR:.2f} | {s['terabytes']:.2f} | "
            f"{s['gigabytes']:.1f}"
        )


def draw(found: dict[str, Any], file: Path) -> None:
    """Draw hours by workers, and sweeps by rows."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    with use_style():
        figure, (left, right) = plt.subplots(1, 2, figsize=(9, 4.6), layout="constrained")
        costs, workers = read_costs(found), np.unique(np.geomspace(10, 1000, 30).astype(int))
        for color, name in zip(
            COLORS, ("linear, 7 classes", "landmarks, 500", "cells"), strict=False
        ):
            for suffix, line in (("", "-"), (", changed", "--")):
                hours = [
                    seconds_of(plans(costs, found, w)[name + suffix], costs, w)["all"] / HOUR
                    for w in workers.tolist()
                ]
                left.loglog(workers, hours, line, color=color, label=name + suffix)
        left.set(xlabel="workers with four threads", ylabel="hours for a billion rows")
        for color, (name, label) in zip(
            COLORS,
            (
                ("one portion", "one portion"),
                ("64 portions", "64 portions at once"),
                ("64 portions, half steps", "64 portions, half steps"),
            ),
            strict=False,
        ):
            sweeps = found["by_rows"][name]
            right.loglog(found["by_rows"]["rows"], sweeps, "o-", color=color, label=label)
        right.set(xlabel="rows of covtype, two classes", ylabel="sweeps of the linear classifier")
        right.set_yticks([4, 8, 16, 32], ["4", "8", "16", "32"])
        right.minorticks_off()
        left.legend(loc="upper center", bbox_to_anchor=(0.5, -0.16), ncols=2, fontsize=9.5)
        right.legend(fontsize=10)
        figure.savefig(file)
        plt.close(figure)


def main() -> None:
    """Print everything, and draw."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--picture", type=Path)
    given = parser.parse_args()
    found = json.loads(RESULTS.read_text("utf-8"))
    print_errors(found)
    print_table(found)
    if given.picture:
        draw(found, given.picture)


if __name__ == "__main__":
    main()
