"""Rows to train with on workers: which columns and classes they have, and a sample of them."""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..distributed.calls import await_all, gather
from ..io.tables.columns import Columns, frame
from ..io.tables.dataset import Dataset, open_dataset
from ..io.tables.labels import MAX_CLASSES, ClassCounts, known_labels, labels
from ..io.tables.partition import Partition, Survey, survey
from .learn import MAX_HELD_OUT_ROWS
from .odd_values import OddValues
from .option_names import name_options
from .source import (
    READ_TIME_SHARE,
    Plan,
    choose_columns,
    columns_to_read,
    require_target,
    settle_classes,
)
from .terminal import note

if TYPE_CHECKING:
    from distributed import Client

# The client gets about this many rows, or bytes: to decide about columns, choose a machine, and
# test it.
MAX_SAMPLE_ROWS = 100_000
MAX_SAMPLE_BYTES = 1 << 28
# Fewer rows need no workers.
MIN_ROWS = 100
# At most this share of a sample is held out.
HELD_OUT_SHARE_OF_SAMPLE = 0.5


class ClusterSource(NamedTuple):
    """A file or folder that workers have read once."""

    name: str
    partitions: list[Partition]
    n_rows: list[int]  # with a class, in each partition
    columns: Columns
    classes: ClassCounts
    rare: np.ndarray  # classes that are left out
    limits: dict[Any, float]  # rows of a class with smaller lots are held out
    sample: tuple[Any, np.ndarray]  # of the training rows
    held_out: tuple[Any, np.ndarray]
    odd: OddValues
    seconds: float  # that reading took

    @property
    def n_train(self) -> int:
        """Return the number of training rows."""
        return self.classes.n_rows - len(self.held_out[1])


def read_on_workers(
    client: Client, data: str, target: str | None, plan: Plan, holdout: float
) -> ClusterSource:
    """Let workers read everything once, and decide about classes, columns and held-out rows."""
    import pyarrow as pa

    began = time.perf_counter()
    dataset = open_dataset(data, plan.read_options)
    target = require_target(dataset.name, dataset.columns, target, plan)
    partitions = _divide(client, dataset, target, plan)
    share = _sample_share(dataset)
    partitions, surveys = _survey(client, partitions, share, dataset.name, plan)
    if not sum(s.n_rows for s in surveys):
        raise ValueError(f"{dataset.name} has no rows.")
    integers = all(s.integers for s in surveys)
    found = _count(surveys, integers)
    n_unlabeled = sum(s.n_unlabeled for s in surveys)
    rare = settle_classes(found, n_unlabeled, target, plan, are_all=True)
    table = pa.concat_tables([s.sample for s in surveys])
    first = dataset.files[0]
    columns = choose_columns(table, target, plan, dataset.columns, first.delimiter)
    columns, odd = replace(columns, integers=integers), OddValues()
    X, (_, y) = frame(table, columns, odd), known_labels(labels(table, columns), columns)
    lots, found = np.concatenate([s.lots for s in surveys]), found.without(rare)
    most = 1.0 if share == 1 else HELD_OUT_SHARE_OF_SAMPLE * share
    limits = limits_of_lots(y, lots, found, min(holdout, MAX_HELD_OUT_ROWS / found.n_rows, most))
    known = np.isin(y, found.classes)
    out = known & (lots < np.array([limits.get(label, 0.0) for label in y.tolist()]))
    inside = known & ~out
    if found.n_rows < MIN_ROWS or not out.any() or len(np.unique(y[inside])) < 2:
        raise ValueError(
            f"{dataset.name} has too few rows, {found.n_rows:,}, to train with some and test with "
            "others on workers. Train without --workers."
        )
    return ClusterSource(
        name=dataset.name,
        partitions=partitions,
        n_rows=[s.n_rows - s.n_unlabeled for s in surveys],
        columns=columns,
        classes=found,
        rare=rare,
        limits=limits,
        sample=(X[inside].reset_index(drop=True), y[inside]),
        held_out=(X[out].reset_index(drop=True), y[out]),
        odd=odd,
        seconds=time.perf_counter() - began,
    )


def _divide(client: Client, dataset: Dataset, target: str, plan: Plan) -> list[Partition]:
    """Return the partitions, after a look at the names of the columns."""
    names, texts = columns_to_read(dataset.columns, [target], plan.wishes)
    dataset.require_columns(list(dict.fromkeys([*names, target, *plan.wishes.named])))
    for text in dict.fromkeys(text for file in dataset.files for text in file.notes):
        note(name_options(text))

    def on_workers(task, given) -> list[Any]:
        futures = [client.submit(task, *one, pure=False) for one in given]
        return gather(client, futures, "reading")

    parts = dataset.partitions(sum(client.nthreads().values()), on_workers)
    strings = frozenset({*dataset.strings, *texts} & set(names))
    return [
        Partition(number, pieces, names, strings, target, plan.seed)
        for number, pieces in enumerate(parts)
    ]


def _sample_share(dataset: Dataset) -> float:
    """Return which share of the rows to look at here."""
    n_rows = max(dataset.n_rows, 1.0)
    row_bytes = max(dataset.n_bytes / n_rows, 8 * len(dataset.columns))
    return min(1.0, MAX_SAMPLE_ROWS / n_rows, MAX_SAMPLE_BYTES / (row_bytes * n_rows))


def _survey(
    client: Client, partitions: list[Partition], share: float, name: str, plan: Plan
) -> tuple[list[Partition], list[Survey]]:
    """Return what workers saw, and the partitions that they could read in time."""
    most = 2 * max(plan.max_classes or 0, MAX_CLASSES)
    order = np.arange(len(partitions))
    if plan.max_time is not None:  # those that are read in time should be like the others
        order = np.random.default_rng(plan.seed).permutation(order)
    futures = {i: client.submit(survey, partitions[i], share, most, pure=False) for i in order}
    end = time.perf_counter() + READ_TIME_SHARE * plan.limits.seconds_left
    await_all(list(futures.values()), "reading", lambda: time.perf_counter() > end)
    done = sorted(i for i, future in futures.items() if future.done())
    client.cancel([future for future in futures.values() if not future.done()])
    if len(done) < len(partitions):
        note(
            f"only {len(done):,} of {len(partitions):,} parts of {name} are used, chosen at "
            f"random, because of --max-time {plan.max_time:g}"
        )
    return [partitions[i] for i in done], client.gather([futures[i] for i in done])


def _count(surveys: list[Survey], integers: bool) -> ClassCounts:
    """Return the classes of all partitions."""
    total: Counter[str] = sum((Counter(s.counts) for s in surveys), Counter())
    kind: Any = np.int64 if integers else str
    classes, counts = np.array(list(total), str).astype(kind), np.array(list(total.values()), int)
    order = np.argsort(classes)
    return ClassCounts(classes[order], counts[order])


def limits_of_lots(
    y: np.ndarray, lots: np.ndarray, found: ClassCounts, share: float
) -> dict[Any, float]:
    """Return for each class a limit of lots: rows below are held out, but never all of a class."""
    limits = dict.fromkeys(found.classes.tolist(), share)
    for label, count in zip(found.classes.tolist(), found.counts.tolist(), strict=True):
        held = lots[(y == label) & (lots < share)]
        if len(held) == count:
            limits[label] = float(held.max())
    return limits
