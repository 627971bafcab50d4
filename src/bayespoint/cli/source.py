"""Rows to train with: first as many as fit into memory, then the rest as a stream."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
import typer

from ..io.tables.columns import Columns, frame, has_integers
from ..io.tables.labels import (
    ClassCounts,
    ask_about_spelling,
    check_classes,
    check_exact,
    check_quantity,
    count_classes,
    find_rare,
    known_labels,
    labels,
    whole_labels,
)
from ..io.tables.look import AS_YOU_SAID, Look, find_used_columns, look
from ..io.tables.open_table import count_features, open_table
from ..io.tables.read_options import ReadOptions
from ..io.tables.shell_words import shell_word
from ..io.tables.table import Table, regroup
from ..io.tables.wishes import Wishes
from .learn import stack
from .limits import Limits, limit_by_free_memory, size_text
from .odd_values import OddValues
from .option_names import name_options
from .terminal import listed, note

# A file with more rows or bytes than this is not held in memory but read as a stream.
MAX_ROWS_IN_MEMORY = 1_000_000
MAX_BYTES_IN_MEMORY = 1 << 28
# With a memory limit, at most this share of the free memory: the rows are copied several times.
READ_SHARE = 1 / 8
# With a time limit, reading takes at most this share of it.
READ_TIME_SHARE = 0.25
# Rows per chunk of a stream.
ROWS_PER_CHUNK = 100_000
# Bytes per entry of a sparse matrix: a value and an index.
BYTES_PER_SPARSE_ENTRY = 12
# Name of the class of a LIBSVM file, which has no column names.
LIBSVM_TARGET = "label"
# Column names listed in a message.
MAX_COLUMNS_LISTED = 20
# Columns that are left out and named in a line each.
MAX_LINES = 12


@dataclass(frozen=True)
class Plan:
    """What to train, and with which columns of which file."""

    classifier: str = "auto"
    seed: int = 0
    max_time: float | None = None  # seconds
    max_memory: int | None = None  # bytes
    began: float = field(default_factory=time.perf_counter)
    class_weight: str | dict[Any, float] | None = None
    wishes: Wishes = field(default_factory=Wishes)
    min_class_rows: int = 2
    max_classes: int | None = None
    read_options: ReadOptions = field(default_factory=ReadOptions)

    @property
    def limits(self) -> Limits:
        """How much time and memory is left."""
        return Limits(self.max_time, self.max_memory, self.began)


def within_free_memory(plan: Plan, on_workers: bool = False) -> Plan:
    """Return the plan with a limit of memory if little is free and the user gave none.

    Workers have limits of their own. Raises an error if the program alone takes too much.
    """
    limit = limit_by_free_memory() if plan.max_memory is None and not on_workers else None
    if limit is not None:
        note(
            f"little memory is free, so this takes at most {size_text(limit)} in all. Set another "
            "limit with --max-memory"
        )
        plan = replace(plan, max_memory=limit)
    plan.limits.require_memory()
    return plan


class Source(NamedTuple):
    """The rows of a file: the first ones in memory, and an iterator over the rest if any."""

    X: Any
    y: np.ndarray
    rest: Iterator[tuple[Any, np.ndarray]] | None
    columns: Columns | None  # None for LIBSVM
    name: str

    @property
    def target(self) -> str:
        """Return the name of the column with the classes."""
        return LIBSVM_TARGET if self.columns is None else self.columns.target


def read_source(data: str, target: str | None, plan: Plan) -> Source:
    """Open a file and read as many rows as fit into memory."""
    table = open_table(data, plan.read_options)
    try:
        if table.columns is None:
            return _sparse_source(table, data, plan)
        return _table_source(table, target, plan)
    except BaseException:
        table.close()
        raise


def open_rows(
    table: Table, target: str | None, wishes: Wishes, limits: Limits | None = None
) -> tuple[Any, Iterator[Any] | None]:
    """Return the rows that fit into memory as an Arrow table, and an iterator over the rest."""
    import pyarrow as pa

    classes = [] if target is None else [target]
    table.require_columns([*classes, *wishes.named])
    for text in table.notes:
        note(name_options(text))
    batches = table.batches(*columns_to_read(table.columns or [], classes, wishes))
    first_batches, rest = _first(
        batches, lambda batch: (batch.num_rows, batch.nbytes), limits or Limits()
    )
    first = pa.concat_tables(first_batches) if first_batches else None
    if not first:
        raise ValueError(f"{table.name} has no rows.")
    return first, rest


def columns_to_read(
    columns: Sequence[str], classes: list[str], wishes: Wishes
) -> tuple[list[str], list[str]]:
    """Return the columns that are needed, and which of them should be read as texts."""
    unread = {name for name, use in wishes.uses.items() if use == "drop"}
    if wishes.only:
        unread |= set(columns) - set(wishes.only)
    names = [name for name in columns if name in classes or name not in unread]
    texts = [name for name, use in wishes.uses.items() if use in ("category", "text")]
    return names, [*classes, *texts]


def require_target(name: str, columns: Sequence[str], target: str | None, plan: Plan) -> str:
    """Return the column with the classes; raise an error if the user did not name it."""
    target = target or plan.wishes.target
    if target is None:
        raise typer.BadParameter(
            f"Name the column of {name} that holds the classes with --target. The columns are: "
            f"{listed(columns, MAX_COLUMNS_LISTED)}"
        )
    return target


def settle_classes(
    found: ClassCounts, n_unlabeled: int, target: str, plan: Plan, *, are_all: bool
) -> np.ndarray:
    """Check the classes, and say which rows are left out; return the classes that are too rare."""
    if n_unlabeled:
        note(
            f"{n_unlabeled:,} rows without a class in {target!r} (empty, NA or the like) are left "
            "out"
        )
    check_quantity(found, target, plan.max_classes)
    for question in ask_about_spelling(found.classes):
        note(question)
    rare = _note_rare(found, target, plan.min_class_rows)
    check_classes(found.without(rare), target, are_all=are_all)
    return rare


def choose_columns(table, target: str, plan: Plan, names: Sequence[str], delimiter: str) -> Columns:
    """Look at some rows, and decide how to use each column of the file."""
    found = look(table, target, plan.wishes, delimiter)
    note_decisions(found)
    columns = find_used_columns(found, table, target)
    left_out = set(names) - {*columns.used, target}
    return replace(columns, left_out=[name for name in names if name in left_out])


def _table_source(table: Table, target: str | None, plan: Plan) -> Source:
    target = require_target(table.name, table.columns or [], target, plan)
    first, rest = open_rows(table, target, plan.wishes, plan.limits)
    classes = Columns([], [], target, has_integers(first[target]))
    known, y = known_labels(labels(first, classes), classes)
    rare = settle_classes(
        count_classes(y), first.num_rows - len(y), target, plan, are_all=rest is None
    )
    columns = choose_columns(first, target, plan, table.columns or [], table.delimiter)
    odd = OddValues()
    X, y = _without(rare, frame(first, columns, odd)[known].reset_index(drop=True), y)
    odd.tell()
    if rest is not None:
        rest = (_labeled(batch, columns, odd, rare) for batch in regroup(rest, ROWS_PER_CHUNK))
    return Source(X, y, rest, columns, table.name)


def _note_rare(found: ClassCounts, target: str, min_rows: int) -> np.ndarray:
    """Return the classes with too few rows, which are left out."""
    rare = find_rare(found, max(min_rows, 2))
    if len(rare):
        n_rows = found.n_rows - found.without(rare).n_rows
        names = listed([repr(str(name)) for name in rare])
        what, them = ("class", "it") if len(rare) == 1 else ("classes", "each of them")
        note(
            f"{n_rows:,} {'row' if n_rows == 1 else 'rows'} of the {what} {names} of {target!r} "
            f"left out: {them} has fewer than {max(min_rows, 2)} rows"
        )
    return rare


def _without(rare: np.ndarray, X, y: np.ndarray) -> tuple[Any, np.ndarray]:
    """Return the rows of other classes."""
    if not len(rare):
        return X, y
    kept = ~np.isin(y, rare)
    return X[kept].reset_index(drop=True), y[kept]


def _sparse_source(table: Table, data: str, plan: Plan) -> Source:
    n_features = count_features(data, plan.read_options)
    chunks = table.sparse_chunks(ROWS_PER_CHUNK, n_features)
    labeled = ((X, whole_labels(y)) for X, y in chunks)
    first, rest = _first(
        labeled, lambda part: (len(part[1]), BYTES_PER_SPARSE_ENTRY * part[0].nnz), plan.limits
    )
    if not first:
        raise ValueError(f"{table.name} has no rows.")
    X, y = stack(first)
    found = count_classes(y)
    check_quantity(found, LIBSVM_TARGET, plan.max_classes)
    rare = _note_rare(found, LIBSVM_TARGET, plan.min_class_rows)
    kept = ~np.isin(y, rare)
    X, y = (X[kept], y[kept]) if len(rare) else (X, y)
    check_classes(found.without(rare), LIBSVM_TARGET, are_all=rest is None)
    return Source(X, y, rest, None, table.name)


def _first(
    parts: Iterator[Any], size: Callable[[Any], tuple[int, int]], limits: Limits
) -> tuple[list[Any], Iterator[Any] | None]:
    """Return the parts that fit into memory, and an iterator over the rest if there are more."""
    first: list[Any] = []
    n_rows = n_bytes = 0
    max_bytes = min(MAX_BYTES_IN_MEMORY, READ_SHARE * limits.bytes_left)
    for part in parts:
        full = n_rows >= MAX_ROWS_IN_MEMORY or n_bytes >= max_bytes
        if first and (full or limits.is_past(READ_TIME_SHARE)):
            return first, chain([part], parts)
        first.append(part)
        rows, size_in_bytes = size(part)
        n_rows, n_bytes = n_rows + rows, n_bytes + size_in_bytes
    return first, None


def _labeled(table, columns: Columns, odd: OddValues, rare: np.ndarray) -> tuple[Any, np.ndarray]:
    """Return the rows that have a class, and their classes."""
    check_exact(table, columns)
    known, y = known_labels(labels(table, columns), columns)
    rows = _without(rare, frame(table, columns, odd)[known].reset_index(drop=True), y)
    odd.tell()
    return rows


def note_decisions(found: Look) -> None:
    """Note which columns are left out and why, and ask what is not clear."""
    empty = [repr(f.name) for f in found.left_out if f.kind == "empty"]
    if empty:
        note(f"these columns are empty and not used: {listed(empty)}")
    others = [f for f in found.left_out if f.kind != "empty" and f.why != AS_YOU_SAID]
    for finding in others[:MAX_LINES]:
        note(
            f"column {finding.name!r} is left out: {finding.kind}, {finding.why} "
            f"(--keep {shell_word(finding.name)} to use it)"
        )
    if len(others) > MAX_LINES:
        names = [repr(f.name) for f in others[MAX_LINES:]]
        note(f"{len(names)} more columns are left out, see bayespoint check: {listed(names)}")
    for question in found.questions[:MAX_LINES]:
        note(question)
    if len(found.questions) > MAX_LINES:
        note(f"{len(found.questions) - MAX_LINES} more questions: see bayespoint check")
