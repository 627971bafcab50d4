"""Train a machine with as many rows as time and memory allow."""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.pipeline import Pipeline

from ..evaluation.baselines import take
from ..fitting.sampling import sample_each_class
from ..fitting.weights_fit import MAX_FULL_WEIGHTS
from ..io.tables.columns import Columns
from .learn import learn_part
from .limits import MIN_SECONDS
from .machine import Contest, Entry, is_clear, judge_entry, make_pipeline, n_rows_used
from .source import Plan
from .terminal import is_cut_short

# Without a time limit, a kernel machine gets at most this many rows, about 20 s.
MAX_KERNEL_ROWS = 50_000
# A fit gets this share of the time that is left; the rest is for tests.
FIT_SHARE = 0.7
# If machines are compared, the linear one gets this share, and then the kernel machine.
COMPARED_SHARES = {"linear": 0.25, "kernel": 0.5}
# They are tested with at most this many rows.
TEST_ROWS = 3000
# Rows with which the memory of a prepared row is measured.
MEASURED_ROWS = 1000
# Preparation makes about this many copies of the prepared rows at the same time.
PREPARED_COPIES = 3
# Prepared rows, their copies and what is learned about them may fill this share of free memory.
# A kernel machine takes most of the rest for its matrices.
LINEAR_ROWS_SHARE, KERNEL_ROWS_SHARE = 0.8, 0.3
# Bytes of a nonzero entry of a sparse matrix, and of what is learned about it for each output
# while weights are independent: two numbers and copies of them.
BYTES_PER_ENTRY, BYTES_PER_SITE = 12, 32
# Bytes of what a mosaic keeps for each row and output.
BYTES_PER_KERNEL_ROW = 64
# Rows of a part, if rows are learned in parts.
MAX_ROWS_PER_PART = 50_000
# Messages of classifiers that the number of rows in the answer replaces.
TIME_MESSAGES = (
    r"max_time=.* is too short to use all|The fit stopped early \(max_time\)|"
    r"The choice of the kernel stopped early|The solver stopped early \(max_time\)"
)


class Fitted(NamedTuple):
    """A trained pipeline, and what it was trained with."""

    pipeline: Pipeline
    n_rows: int  # that it learned from
    contest: Contest | None = None  # if there was one


class RowSize(NamedTuple):
    """Bytes of memory for each row that is prepared and learned."""

    kernel: float
    linear: float


def fit_in_limits(columns: Columns | None, X, y: np.ndarray, plan: Plan, say) -> Fitted:
    """Train the better machine with as many rows as time and memory allow."""
    kind = plan.classifier
    if kind == "auto" and is_clear(len(y), X.shape[1]):
        kind = "kernel"
    say(f"training with {len(y):,} rows")
    if kind != "auto":
        fit = fit_kernel if kind == "kernel" else fit_linear
        return Fitted(*fit(columns, X, y, plan, FIT_SHARE))
    return _fit_better(columns, X, y, plan, say)


def _fit_better(columns: Columns | None, X, y: np.ndarray, plan: Plan, say) -> Fitted:
    """Train both machines, and return the one that is better on rows which neither has seen."""
    order = np.random.default_rng(plan.seed).permutation(len(y))
    n_test = min(TEST_ROWS, len(y) // 10)
    test, rest = np.sort(order[:n_test]), np.sort(order[n_test:])
    X_test, y_test, classes = take(X, test), y[test], np.unique(y)
    X, y = take(X, rest), y[rest]
    fitted: dict[str, tuple[Pipeline, int]] = {}
    entries: dict[str, Entry] = {}
    for kind, fit in (("linear", fit_linear), ("kernel", fit_kernel)):
        say(f"training a {kind} machine with {len(y):,} rows")
        if fitted and is_cut_short():  # the machine so far is the answer
            return Fitted(*fitted["linear"])
        began = time.perf_counter()
        pipeline, n_rows = fit(columns, X, y, plan, COMPARED_SHARES[kind])
        seconds = time.perf_counter() - began
        entries[kind] = judge_entry(pipeline, X_test, y_test, classes, n_rows, seconds)
        fitted[kind] = pipeline, n_rows
    contest = Contest(**entries, n_test=n_test)
    contest.announce()
    return Fitted(*fitted[contest.winner], contest)


def fit_kernel(
    columns: Columns | None, X, y: np.ndarray, plan: Plan, share: float
) -> tuple[Pipeline, int]:
    """Train a kernel machine; return it and the number of rows it learned from."""
    n = len(y) if plan.max_time is not None else min(len(y), MAX_KERNEL_ROWS)
    if plan.max_memory is not None:
        n = min(n, int(_free(plan, KERNEL_ROWS_SHARE) / row_size(columns, X, y, plan).kernel))
    rows = sample_each_class(y, n, np.random.default_rng(plan.seed))
    pipeline = make_pipeline(columns, "kernel", plan, share)
    with time_said_elsewhere(plan):
        pipeline.fit(*((take(X, rows), y[rows]) if len(rows) < len(y) else (X, y)))
    return without_limit(pipeline), n_rows_used(pipeline)


def fit_linear(
    columns: Columns | None, X, y: np.ndarray, plan: Plan, share: float
) -> tuple[Pipeline, int]:
    """Train the linear machine; return it and the number of rows it learned from.

    If memory is too short to prepare all rows at once, they are learned in parts, each once.
    """
    pipeline = make_pipeline(columns, "linear", plan, share)
    n = len(y)
    if plan.max_memory is not None:
        n = min(n, int(_free(plan, LINEAR_ROWS_SHARE) / row_size(columns, X, y, plan).linear))
    with time_said_elsewhere(plan):
        if n >= len(y):
            pipeline.fit(X, y)
            return without_limit(pipeline), n_rows_used(pipeline)
        rng, n_rows = np.random.default_rng(plan.seed), 0
        end = time.perf_counter() + (plan.limits.seconds(share) or np.inf)
        pipeline[:-1].fit(take(X, sample_each_class(y, n // 2, rng)))
        for part in _parts(X, y, min(n // 2, MAX_ROWS_PER_PART), rng):
            left = end - time.perf_counter()
            n_rows += learn_part(pipeline, *part, np.unique(y), _finite(left))
            if time.perf_counter() > end:
                break
        return pipeline, n_rows


def without_limit(pipeline: Pipeline) -> Pipeline:
    """Return a fitted pipeline whose classifier has no time limit: a later fit has its own."""
    pipeline[-1].set_params(max_time=None)
    return pipeline


def _finite(seconds: float) -> float | None:
    return None if seconds == np.inf else max(seconds, MIN_SECONDS)


def _parts(X, y: np.ndarray, size: int, rng: np.random.Generator) -> Iterator[tuple[Any, Any]]:
    """Yield parts of the rows, in random order."""
    order = rng.permutation(len(y))
    for start in range(0, len(y), max(size, 1)):
        rows = np.sort(order[start : start + max(size, 1)])
        yield take(X, rows), y[rows]


def _free(plan: Plan, share: float) -> float:
    """Return a share of the free memory in bytes; raise an error if there is too little."""
    plan.limits.require_memory()
    return share * plan.limits.bytes_left


def row_size(columns: Columns | None, X, y: np.ndarray, plan: Plan) -> RowSize:
    """Measure how much memory a row takes, with a sample of the rows."""
    rows = sample_each_class(y, MEASURED_ROWS, np.random.default_rng(plan.seed))
    prepared = make_pipeline(columns, "linear", plan)[:-1].fit_transform(take(X, rows))
    is_sparse = sparse.issparse(prepared)
    entries = (prepared.nnz if is_sparse else prepared.size) / len(rows)
    each = BYTES_PER_ENTRY * entries if is_sparse else 8 * entries
    n_outputs = max(len(np.unique(y)) - 1, 1)
    n_weights = (prepared.shape[1] + 1) * n_outputs
    learned = 16.0 * n_outputs
    if n_weights > MAX_FULL_WEIGHTS:
        learned = (BYTES_PER_ENTRY + BYTES_PER_SITE * n_outputs) * entries
    kernel = PREPARED_COPIES * each + BYTES_PER_KERNEL_ROW * (n_outputs + 1)
    return RowSize(kernel, PREPARED_COPIES * each + learned)


@contextmanager
def time_said_elsewhere(plan: Plan) -> Iterator[None]:
    """Leave out warnings of classifiers about a time limit."""
    with warnings.catch_warnings():
        if plan.max_time is not None:
            warnings.filterwarnings("ignore", TIME_MESSAGES, ConvergenceWarning)
        yield
