"""The rows that `bayespoint label` asks about: what the model sees, and what the person sees."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import typer

from ..io.tables.columns import Columns, as_texts, frame
from ..io.tables.look import find_used_columns, look
from ..io.tables.open_table import STANDARD_INPUT, open_table
from ..io.tables.wishes import Wishes
from ..labeling.labels import check_label
from ..labeling.rows import Rows
from .odd_values import OddValues
from .source import MAX_COLUMNS_LISTED, Plan, note_decisions, open_rows
from .terminal import listed, note

# Bytes that are read at once for the hash of a file.
BLOCK_BYTES = 1 << 20


class Shown(NamedTuple):
    """What the user wants to see of a row."""

    columns: Sequence[str] = ()  # all that are used, if none is named
    image: str | None = None


class Pool(NamedTuple):
    """A file of rows, few of them with a label."""

    path: Path
    X: Any  # a data frame of the columns that the model uses
    columns: Columns
    rows: Rows
    labels: dict[int, str]  # of rows that have one in the file

    def facts(self) -> dict[str, Any]:
        """Return what a journal remembers of the file."""
        return {
            "pool": self.path.name,
            "sha256": _hash(self.path),
            "n_rows": len(self.rows),
            "target": self.columns.target,
        }


def read_pool(data: str, target: str | None, plan: Plan, shown: Shown) -> Pool:
    """Read a file, and find out what its columns are, as `train` does."""
    if data == STANDARD_INPUT:
        raise typer.BadParameter("Labels are kept beside the file, so it cannot be standard input.")
    with open_table(data, plan.read_options) as opened:
        names, delimiter = opened.columns, opened.delimiter
        if names is None:
            raise typer.BadParameter(
                "A person cannot read the rows of a LIBSVM file. Give CSV or Parquet."
            )
        target = target or plan.wishes.target
        if target is None:
            raise typer.BadParameter(
                "Name the column for the classes with --target; it need not be in the file. The "
                f"columns of {opened.name} are: {listed(names, MAX_COLUMNS_LISTED)}"
            )
        seen = [name for name in (*shown.columns, shown.image) if name is not None]
        opened.require_columns([*plan.wishes.named, *seen])
        table, rest = open_rows(opened, target if target in names else None, Wishes(), plan.limits)
    if rest is not None:
        note(
            f"the file is large: only its first {table.num_rows:,} rows are asked about. Use the "
            "model for the others: bayespoint predict"
        )
    labels = _labels(table, target)
    if target in names:
        labeled, table = table, table.drop_columns([target])
    wishes = _without_image(plan.wishes, shown.image)
    if labels:
        found = look(labeled, target, wishes, delimiter)
    else:
        found = look(table, None, wishes, delimiter)
    note_decisions(found)
    columns = _used(found, table, target)
    odd = OddValues()
    X = frame(table, columns, odd)
    odd.tell()
    named = list(shown.columns) or [n for n in table.column_names if _is_shown(n, plan.wishes)]
    rows = Rows(table, named, columns.texts, shown.image)
    return Pool(Path(data), X, columns, rows, labels)


def _used(found: Any, table: Any, target: str) -> Columns:
    """Return the columns that the model uses. Classes are texts, as a person types them."""
    import pyarrow as pa

    with_target = table.append_column(target, pa.nulls(table.num_rows, pa.string()))
    columns = find_used_columns(found, with_target, target)
    left_out = set(table.column_names) - set(columns.used)
    return replace(columns, left_out=[n for n in table.column_names if n in left_out])


def _labels(table: Any, target: str) -> dict[int, str]:
    """Return the labels that are in the file."""
    if target not in table.column_names:
        return {}
    texts = as_texts(table[target])
    known = np.flatnonzero(~texts.is_null().to_numpy())
    labels = {int(row): str(texts[int(row)]) for row in known}
    classes: list[str] = []
    for name in dict.fromkeys(labels.values()):
        try:
            classes.append(check_label(name, classes))
        except ValueError as error:
            raise ValueError(f"The target {target!r} holds {name[:60]!r}. {error}") from None
    return labels


def _without_image(wishes: Wishes, image: str | None) -> Wishes:
    """Leave the names of pictures out of the model, unless the user wants them in it."""
    if image is None or image in wishes.named:
        return wishes
    return replace(wishes, uses=wishes.uses | {image: "drop"})


def _is_shown(name: str, wishes: Wishes) -> bool:
    """Tell whether a column is shown by default: `--columns` shows those columns only."""
    return name in wishes.only if wishes.only else wishes.uses.get(name) != "drop"


def _hash(path: Path) -> str:
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        while block := file.read(BLOCK_BYTES):
            digest.update(block)
    return digest.hexdigest()
