"""Rows of a file to train with: as many as fit into memory, and those that come after."""

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
from .learn import stacked
from .terminal import note

# So many rows, or bytes of text, are trained with at once; larger files are learned as a stream.
ROWS_AT_ONCE = 1_000_000
BYTES_AT_ONCE = 1 << 28
STREAMED_ROWS = 100_000
# What the number in front of a row of LIBSVM is called.
LABEL = "label"


@dataclass(frozen=True)
class Plan:
    """What was asked for."""

    classifier: str = "auto"
    holdout: float = 0.2
    seed: int = 0
    max_time: float | None = None
    categorical: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    options: ReadOptions = field(default_factory=ReadOptions)


class Source(NamedTuple):
    """The rows of a file: those that are trained with at once, and those that come after."""

    X: Any
    y: np.ndarray
    rest: Iterator[tuple[Any, np.ndarray]] | None
    columns: Columns | None  # None of LIBSVM
    name: str


def read_source(data: str, target: str | None, plan: Plan) -> Source:
    """Read as many rows as are trained with at once."""
    table = open_table(data, plan.options)
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
            f"Name the column of {table.name} that holds the classes, with --target. The columns "
            f"are: {', '.join((table.columns or [])[:20])}"
        )
    table.require_columns([target, *plan.categorical, *plan.ignore])
    ignored = set(plan.ignore) - {target}
    names = [name for name in table.columns or () if name not in ignored]
    batches = table.batches(names, texts={target, *plan.categorical})
    held, rest = _first(batches, lambda batch: (batch.num_rows, batch.nbytes))
    first = pa.concat_tables(held) if held else None
    if not first:
        raise ValueError(f"{table.name} has no rows.")
    columns = find_columns(first, target, categorical=set(plan.categorical))
    _tell_about(first, columns, plan)
    X, y = _labeled(first, columns)
    if len(y) < first.num_rows:
        note(f"{first.num_rows - len(y):,} rows without a class in {target!r} are left out")
    check_classes(y, target)
    if rest is not None:
        rest = (_labeled(batch, columns) for batch in regroup(rest, STREAMED_ROWS))
    return Source(X, y, rest, columns, table.name)


def _sparse_source(table: Table, data: str, plan: Plan) -> Source:
    n_features = count_features(data, plan.options)
    chunks = table.sparse_chunks(STREAMED_ROWS, n_features)
    labeled = ((X, whole_labels(y)) for X, y in chunks)
    held, rest = _first(labeled, lambda part: (len(part[1]), 12 * part[0].nnz))
    if not held:
        raise ValueError(f"{table.name} has no rows.")
    X, y = stacked(held)
    check_classes(y, LABEL)
    return Source(X, y, rest, None, table.name)


def _first(
    parts: Iterator[Any], size: Callable[[Any], tuple[int, int]]
) -> tuple[list[Any], Iterator[Any] | None]:
    """Return parts that are trained with at once, and an iterator if there are more."""
    held: list[Any] = []
    n_rows = n_bytes = 0
    for part in parts:
        if n_rows >= ROWS_AT_ONCE or n_bytes >= BYTES_AT_ONCE:
            return held, chain([part], parts)
        held.append(part)
        rows, size_in_bytes = size(part)
        n_rows, n_bytes = n_rows + rows, n_bytes + size_in_bytes
    return held, None


def _labeled(table, columns: Columns) -> tuple[Any, np.ndarray]:
    """Return rows that have a class."""
    known, y = known_labels(labels(table, columns), columns)
    return frame(table, columns)[known].reset_index(drop=True), y


def _tell_about(table, columns: Columns, plan: Plan) -> None:
    """Say what may surprise: columns that are not taken for what they seem to be."""
    used = {columns.target, *columns.used}
    empty = [name for name in table.column_names if name not in used]
    if empty:
        note(f"there is nothing in column {', '.join(map(repr, empty[:5]))}; it is not used")
    for name in columns.categories:
        odd = None if name in plan.categorical else find_stray_text(table[name])
        if odd is not None:
            note(
                f"column {name!r} holds numbers, but also {odd!r}, so that it is taken for texts. "
                "Leave empty what is not known, or name it with --categorical"
            )
