"""Train with a file that is too large for memory: the linear machine, or a kernel on a sample."""

from __future__ import annotations

import time
from collections.abc import Iterator
from itertools import chain
from typing import Any

import numpy as np
from scipy import sparse

from ..evaluation.baselines import take
from ..fitting.sampling import sample_each_class
from .after_ctrl_c import until_interrupted
from .fit import FIT_SHARE, MAX_KERNEL_ROWS, TEST_ROWS, Fitted, fit_kernel, time_said_elsewhere
from .learn import HeldOut, learn_part, stack, to_learn
from .limits import MIN_BYTES
from .machine import Contest, judge_entry, make_pipeline
from .source import BYTES_PER_SPARSE_ENTRY, Plan, Source
from .terminal import is_cut_short, note

# Share of the rows that are kept apart to compare machines.
COMPARED_SHARE = 0.02
# Share of the whole time for reading and learning the stream: if other machines follow, and if not.
SHARED_TIME, WHOLE_TIME = 0.45, 0.75
# A sample of the rows may fill this share of the free memory; training copies them a few times.
SAMPLE_SHARE = 0.1
# Rows with which the memory of a row is measured.
MEASURED_ROWS = 1000


class Sample:
    """Rows of a stream that are chosen at random, all with the same probability."""

    def __init__(self, n_rows: int, seed: int):
        self.n_rows = n_rows
        self._rng = np.random.default_rng(seed)
        self._parts: list[tuple[Any, np.ndarray, np.ndarray]] = []  # with random numbers
        self._limit = 1.0  # rows with smaller random numbers are kept

    def add(self, X, y: np.ndarray) -> None:
        """Choose some of these rows."""
        self._parts.append(_below(self._limit, X, y, self._rng.random(len(y))))
        if sum(len(y) for _, y, _ in self._parts) > 2 * self.n_rows:
            self._shrink()

    def rows(self) -> tuple[Any, np.ndarray]:
        """Return the chosen rows and their classes."""
        self._shrink()
        return stack([(X, y) for X, y, _ in self._parts])

    def _shrink(self) -> None:
        """Keep the rows with the smallest numbers."""
        numbers = np.concatenate([number for *_, number in self._parts])
        if len(numbers) > self.n_rows:
            self._limit = float(np.partition(numbers, self.n_rows)[self.n_rows])
            self._parts = [_below(self._limit, *part) for part in self._parts]


def _below(limit: float, X, y: np.ndarray, number: np.ndarray) -> tuple[Any, Any, Any]:
    kept = np.flatnonzero(number < limit)
    return take(X, kept), y[kept], number[kept]


def fit_stream(
    source: Source, X, y: np.ndarray, plan: Plan, held_out: HeldOut, say
) -> tuple[Fitted, int]:
    """Train with the first rows and the rest of a file, as far as time allows.

    The linear machine learns all rows. A kernel machine learns a random sample of them, if it is
    requested, or better than the linear machine on rows that neither has seen. Returns the
    machine, and the number of training rows that were read.
    """
    assert source.rest is not None
    classes, kind = np.unique(source.y), plan.classifier
    sample = Sample(_sample_size(X, plan), plan.seed)
    apart = HeldOut(COMPARED_SHARE if kind == "auto" else 0.0, plan.seed + 1)
    linear = make_pipeline(source.columns, "linear", plan)
    began = time.perf_counter()
    if kind != "kernel":
        linear[:-1].fit(X)
    n_rows = n_read = 0
    rest = to_learn(until_interrupted(source.rest), classes, held_out)
    for X_part, y_part in _until(chain([(X, y)], rest), plan, kind):
        n_read += len(y_part)
        X_part, y_part = apart.take(X_part, y_part)
        if kind != "linear":
            sample.add(X_part, y_part)
        if kind != "kernel":
            with time_said_elsewhere(plan):
                max_time = plan.limits.seconds(FIT_SHARE)
                n_rows += learn_part(linear, X_part, y_part, classes, max_time)
        say(f"learning, {n_read:,} rows so far")
    seconds = time.perf_counter() - began
    _note_unread(source, n_read + len(held_out), plan)
    if kind == "linear" or (kind == "auto" and not len(apart)):
        return Fitted(linear, n_rows), n_read
    if kind == "auto" and plan.limits.bytes_left < MIN_BYTES:
        note("--max-memory leaves none for a kernel machine: the linear machine is not compared")
        return Fitted(linear, n_rows), n_read
    say(f"training a kernel machine with a sample of {n_read:,} rows")
    began = time.perf_counter()
    kernel = Fitted(*fit_kernel(source.columns, *sample.rows(), plan, FIT_SHARE))
    if kind == "kernel":
        return kernel, n_read
    X, y = apart.rows()
    some = sample_each_class(y, TEST_ROWS, np.random.default_rng(plan.seed))
    X, y = take(X, some), y[some]
    contest = Contest(
        judge_entry(kernel.pipeline, X, y, classes, kernel.n_rows, time.perf_counter() - began),
        judge_entry(linear, X, y, classes, n_rows, seconds),
        len(y),
    )
    contest.announce()
    if contest.winner == "kernel":
        return kernel._replace(contest=contest), n_read
    with time_said_elsewhere(plan):
        n_rows += learn_part(linear, *apart.rows(), classes, plan.limits.seconds(FIT_SHARE))
    return Fitted(linear, n_rows, contest), n_read


def _until(parts: Iterator[tuple[Any, np.ndarray]], plan: Plan, kind: str) -> Iterator:
    """Yield parts until their share of the time is over, at least one."""
    for part in parts:
        yield part
        if plan.limits.is_past(WHOLE_TIME if kind == "linear" else SHARED_TIME):
            return


def _note_unread(source: Source, n_rows: int, plan: Plan) -> None:
    """Note that a file has more rows than were read in time."""
    if plan.max_time is None or is_cut_short() or next(source.rest or iter(()), None) is None:
        return
    note(
        f"only the first {n_rows:,} rows of {source.name} that have a class are used, because of "
        f"--max-time {plan.max_time:g}. If the file is sorted, the others may differ: shuffle it"
    )


def _sample_size(X, plan: Plan) -> int:
    """Return how many rows of a stream to keep for a kernel machine."""
    if sparse.issparse(X):
        each = BYTES_PER_SPARSE_ENTRY * X.nnz / X.shape[0]
    else:
        each = X.iloc[:MEASURED_ROWS].memory_usage(deep=True).sum() / len(X.iloc[:MEASURED_ROWS])
    return int(max(min(SAMPLE_SHARE * plan.limits.bytes_left / each, MAX_KERNEL_ROWS), 1))
