"""Rows to train with: first as many as fit into memory, then the rest as a stream."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
import typer

from ..io.tables.columns import Columns, find_columns, find_stray_text, frame
from ..io.tables.labels import check_classes, known_labels, labels, whole_labels
from ..io.tables.open_table import count_features, open_table
from ..io.tables.read_options import ReadOptions
from ..io.tables.table import Table, regroup
from .learn import stack
from .terminal import listed, note

# A file with more rows or bytes than this is not held in memory but read as a stream.
MAX_ROWS_IN_MEMORY = 1_000_000
MAX_BYTES_IN_MEMORY = 1 << 28
# Rows per chunk of a stream.
ROWS_PER_CHUNK = 100_000
# Bytes per entry of a sparse matrix: a value and an index.
BYTES_PER_SPARSE_ENTRY = 12
# Name of the class of a LIBSVM file, which has no column names.
LIBSVM_TARGET = "label"
# Column names listed in a message.
MAX_COLUMNS_LISTED = 20


@dataclass(frozen=True)
class Plan:
    """What to train, and with which columns of which file."""

    classifier: str = "auto"
    seed: int = 0
    max_time: float | None = None
    class_weight: str | dict[Any, float] | None = None
    categorical: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    read_options: ReadOptions = field(default_factory=ReadOptions)


class Source(NamedTuple):
    """The rows of a file: the first ones in memory, and an iterator over the rest if any."""

    X: Any
    y: np.ndarray
    rest: Iterator[tuple[Any, np.ndarray]] | None
    columns: Columns | None  # None for LIBSVM
    name: str


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


def _table_source(table: Table, target: str | None, plan: Plan) -> Source:
    import pyarrow as pa

    if target is None:
        raise typer.BadParameter(
            f"Name the column of {table.name} that holds the classes with --target. The columns "
            f"are: {listed(table.columns or [], MAX_COLUMNS_LISTED)}"
        )
    table.require_columns([target, *plan.categorical, *plan.ignore])
    ignored = set(plan.ignore) - {target}
    names = [name for name in table.columns or () if name not in ignored]
    batches = table.batches(names, texts={target, *plan.categorical})
    first_batches, rest = _first(batches, lambda batch: (batch.num_rows, batch.nbytes))
    first = pa.concat_tables(first_batches) if first_batches else None
    if not first:
        raise ValueError(f"{table.name} has no rows.")
    columns = find_columns(first, target, categorical=set(plan.categorical))
    _note_surprises(first, columns, plan)
    X, y = _labeled(first, columns)
    if len(y) < first.num_rows:
        note(f"{first.num_rows - len(y):,} rows without a class in {target!r} are left out")
    check_classes(y, target)
    if rest is not None:
        rest = (_labeled(batch, columns) for batch in regroup(rest, ROWS_PER_CHUNK))
    return Source(X, y, rest, columns, table.name)


def _sparse_source(table: Table, data: str, plan: Plan) -> Source:
    n_features = count_features(data, plan.read_options)
    chunks = table.sparse_chunks(ROWS_PER_CHUNK, n_features)
    labeled = ((X, whole_labels(y)) for X, y in chunks)
    first, rest = _first(labeled, lambda part: (len(part[1]), BYTES_PER_SPARSE_ENTRY * part[0].nnz))
    if not first:
        raise ValueError(f"{table.name} has no rows.")
    X, y = stack(first)
    check_classes(y, LIBSVM_TARGET)
    return Source(X, y, rest, None, table.name)


def _first(
    parts: Iterator[Any], size: Callable[[Any], tuple[int, int]]
) -> tuple[list[Any], Iterator[Any] | None]:
    """Return the parts that fit into memory, and an iterator over the rest if there are more."""
    first: list[Any] = []
    n_rows = n_bytes = 0
    for part in parts:
        if n_rows >= MAX_ROWS_IN_MEMORY or n_bytes >= MAX_BYTES_IN_MEMORY:
            return first, chain([part], parts)
        first.append(part)
        rows, size_in_bytes = size(part)
        n_rows, n_bytes = n_rows + rows, n_bytes + size_in_bytes
    return first, None


def _labeled(table, columns: Columns) -> tuple[Any, np.ndarray]:
    """Return the rows that have a class, and their classes."""
    known, y = known_labels(labels(table, columns), columns)
    return frame(table, columns)[known].reset_index(drop=True), y


def _note_surprises(table, columns: Columns, plan: Plan) -> None:
    """Note empty columns, and columns of texts that look like numbers."""
    used = {columns.target, *columns.used}
    empty = [repr(name) for name in table.column_names if name not in used]
    if empty:
        note(f"these columns are empty and not used: {listed(empty)}")
    for name in columns.categories:
        odd = None if name in plan.categorical else find_stray_text(table[name])
        if odd is not None:
            note(
                f"column {name!r} holds numbers, but also {odd!r}, so it is read as texts. Leave "
                "unknown values empty, or name the column with --categorical"
            )
