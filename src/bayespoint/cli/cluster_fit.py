"""Choose a machine with a sample of the rows, and train it with all rows on workers."""

from __future__ import annotations

import time
import uuid
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.pipeline import Pipeline

from .. import distributed
from ..distributed.calls import memory_limits
from ..evaluation.baselines import MAX_BASELINE_ROWS, take
from ..evaluation.fingerprints import FINGERPRINT_DTYPE, Fingerprints
from ..fitting.sampling import sample_each_class
from ..fitting.solver_choice import MIN_GAIN_OF_CELLS
from ..io.tables.partition import Preparation, prepare_points
from .cluster_source import ClusterSource
from .fit import FIT_SHARE, TEST_ROWS, Fitted, time_said_elsewhere, without_limit
from .learn import HeldOut
from .machine import (
    CACHE_SHARE,
    MAX_CACHE_SIZE,
    Contest,
    Entry,
    judge_entry,
    make_pipeline,
    n_rows_used,
)
from .source import Plan
from .terminal import is_cut_short, note

if TYPE_CHECKING:
    from distributed import Client

# Machines are compared after they have learned from this many rows at most.
COMPARED_ROWS = 10_000
# Each of them gets this share of the time that is left.
COMPARED_SHARE = 0.1
# At most this share of the sample trains them, and others test them.
COMPARED_RATIO = 0.8
# The model of cells has all training points, so they are not tried with more rows.
MAX_CELL_ROWS = 100_000
# Reading again and preparing takes about so many times as long as reading.
PREPARATION_RATIO = 2.0

LANDMARKS, CELLS = "nystroem", "cells"


class Machine(NamedTuple):
    """A kind of machine."""

    kind: str  # as --classifier names it
    solver: str = ""  # of a kernel machine

    @property
    def name(self) -> str:
        """Return what to call it."""
        return {"": "linear", LANDMARKS: "landmarks", CELLS: "cells"}[self.solver]


class Choice(NamedTuple):
    """The machine to train, and what is known about it."""

    machine: Machine
    entry: Entry | None = None  # how good it was with a few rows
    contest: Contest | None = None  # with the other kind


def fit_on_workers(
    client: Client, source: ClusterSource, plan: Plan, held_out: HeldOut, say
) -> Fitted:
    """Train the better machine with all rows, or as many as time allows."""
    machine, entry, contest = _choose(source, plan, say)
    used = affordable(source, entry, plan, sum(client.nthreads().values()))
    n_rows = sum(source.n_rows[i] for i in used)
    say(f"training with {min(n_rows, source.n_train):,} rows")
    pipeline = make_pipeline(source.columns, machine.kind, plan, FIT_SHARE)
    if machine.kind == "kernel":
        pipeline[-1].set_params(solver=machine.solver, cache_size=_cache_size(client))
    preparation = _prepare(pipeline, source, held_out.fingerprints)
    topic = f"bayespoint-{uuid.uuid4().hex}"
    X, y = _points(source, used, preparation, topic)
    with time_said_elsewhere(plan):
        distributed.fit(pipeline[-1], X, y, client=client)
    n_learned = _hear(client, topic, source, held_out, preparation.limit)
    held_out.trained = _for_baselines(source, plan)
    if machine.kind == "linear":
        n_learned = int(pipeline[-1].n_rows_learned_)
    return Fitted(without_limit(pipeline), n_learned, contest)


def _choose(source: ClusterSource, plan: Plan, say) -> Choice:
    """Return a machine, from a comparison on rows that none has seen if there is a choice."""
    solvers = [LANDMARKS, *([CELLS] if source.n_train <= MAX_CELL_ROWS else [])]
    machines = [Machine("linear")] if plan.classifier != "kernel" else []
    machines += [Machine("kernel", s) for s in solvers] if plan.classifier != "linear" else []
    if len(machines) == 1 and plan.max_time is None:
        return Choice(machines[0])
    X, y = source.sample
    rng = np.random.default_rng(plan.seed)
    train = sample_each_class(y, min(COMPARED_ROWS, int(COMPARED_RATIO * len(y))), rng)
    rest = rng.permutation(np.setdiff1d(np.arange(len(y)), train))
    test = np.sort(rest[:TEST_ROWS])
    tried: dict[Machine, Entry] = {}
    for machine in machines:
        say(f"choosing: {len(train):,} rows, {machine.name}")
        pipeline = make_pipeline(source.columns, machine.kind, plan, COMPARED_SHARE)
        if machine.kind == "kernel":
            pipeline[-1].set_params(solver=machine.solver)
        began = time.perf_counter()
        with time_said_elsewhere(plan):
            pipeline.fit(take(X, train), y[train])
        seconds = time.perf_counter() - began
        if is_cut_short():
            raise KeyboardInterrupt  # a machine of a few rows is no answer
        given = take(X, test), y[test], source.classes.classes, n_rows_used(pipeline), seconds
        tried[machine] = judge_entry(pipeline, *given)
    return best_of(tried, len(test))


def best_of(tried: dict[Machine, Entry], n_test: int) -> Choice:
    """Return the machine with the best probabilities, and say why."""
    linear, landmarks = Machine("linear"), Machine("kernel", LANDMARKS)
    best, cells = landmarks, Machine("kernel", CELLS)
    if cells in tried:
        gain = tried[landmarks].log_loss - tried[cells].log_loss
        best = cells if gain > MIN_GAIN_OF_CELLS else landmarks
        note(
            f"{best.name} are the kernel machine: cells have {tried[cells]}, landmarks "
            f"{tried[landmarks]}. Cells must gain {MIN_GAIN_OF_CELLS:g}, because their model keeps "
            "all rows"
        )
    if linear not in tried:
        return Choice(best, tried[best])
    if best not in tried:  # the only one that was wanted
        return Choice(linear, tried[linear])
    contest = Contest(tried[best], tried[linear], n_test)
    contest.announce()
    best = best if contest.winner == "kernel" else linear
    return Choice(best, tried[best], contest)


def affordable(source: ClusterSource, entry: Entry | None, plan: Plan, n_threads: int) -> list[int]:
    """Return which partitions can be learned in time, chosen at random."""
    everything = list(range(len(source.partitions)))
    if plan.max_time is None or entry is None:
        return everything
    n_read = sum(source.n_rows)
    each = PREPARATION_RATIO * source.seconds / n_read
    each += entry.seconds / entry.n_rows / n_threads
    room = FIT_SHARE * plan.limits.seconds_left / each
    order = np.random.default_rng(plan.seed).permutation(everything)
    total = np.cumsum([source.n_rows[i] for i in order])
    n_used = max(int(np.searchsorted(total, room, side="right")), 1)
    return sorted(order[:n_used].tolist())


def _cache_size(client: Client) -> int:
    """Return the megabytes that the matrices of a worker may take."""
    least = CACHE_SHARE * min(memory_limits(client), default=np.inf) / 2**20
    return max(int(min(MAX_CACHE_SIZE, least)), 1)


def _prepare(pipeline: Pipeline, source: ClusterSource, known: Fingerprints) -> Preparation:
    """Let a sample decide how columns become features."""
    X, _ = source.sample
    transformer = pipeline[:-1].fit(X)
    some = transformer.transform(X.iloc[:1])
    return Preparation(
        columns=source.columns,
        rare=source.rare,
        held_out=source.limits,
        transformer=transformer,
        n_features=some.shape[1],
        is_sparse=sparse.issparse(some),
        salt=known.salt,
        limit=Fingerprints.limit_for(source.n_train),
    )


def _points(
    source: ClusterSource, used: list[int], preparation: Preparation, topic: str
) -> tuple[list[Any], list[Any]]:
    """Return points and classes, which workers will make from the files."""
    from dask import delayed

    task, shared = delayed(prepare_points, nout=2, pure=False), delayed(preparation, traverse=False)
    parts = [task(delayed(source.partitions[i], traverse=False), shared, topic) for i in used]
    return [part[0] for part in parts], [part[1] for part in parts]


def _hear(client: Client, topic: str, source: ClusterSource, held_out: HeldOut, limit: int) -> int:
    """Return the number of training rows, and remember what workers said about them.

    A partition that was read again after the loss of a worker is counted once.
    """
    told = {about["number"]: about for _, about in client.get_events(topic)}
    for about in told.values():
        for odd in about["odd"]:
            source.odd(*odd)
    source.odd.tell()
    marks = b"".join(about["fingerprints"] for about in told.values())
    trained = np.unique(np.frombuffer(marks, FINGERPRINT_DTYPE))
    held_out.fingerprints = replace(held_out.fingerprints, trained=trained, limit=limit)
    return sum(about["n_rows"] for about in told.values())


def _for_baselines(source: ClusterSource, plan: Plan) -> tuple[Any, np.ndarray]:
    """Return rows for other classifiers to learn from."""
    X, y = source.sample
    rows = sample_each_class(y, MAX_BASELINE_ROWS, np.random.default_rng(plan.seed))
    return take(X, rows), y[rows]
