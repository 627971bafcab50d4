"""Convert the columns of a table to points, as `Columns` does."""

from __future__ import annotations

import numpy as np

from ...geometry.columns import MARK, Columns
from .graph import Value, concat
from .inputs import Source
from .prepare import matches


def table_points(columns: Columns, X: Source) -> Value:
    """Return the features of all columns as one matrix."""
    starts = np.cumsum(columns.widths) - columns.widths
    plain = np.array([levels is None for levels in columns.categories], dtype=bool)
    parts, places = [], []

    def put(value: Value, at: np.ndarray) -> None:
        parts.append(value)
        places.append(at)

    if plain.any():
        values = X.select(np.flatnonzero(plain).tolist()).matrix()
        absent = values.op("IsNaN")
        put(_numbers(columns, values, absent, plain), starts[plain])
        marked = columns.missing[plain]
        if marked.any():
            marks = absent.double().columns(np.flatnonzero(marked).tolist()) * MARK
            put(marks, starts[plain][marked] + 1)
    for j in np.flatnonzero(~plain).tolist():
        convert = _ordered if columns.ordered[j] else _one_hot
        put(convert(columns, j, X), starts[j] + np.arange(columns.widths[j]))
    order = np.argsort(np.concatenate(places))
    joined = concat(parts)
    return (
        joined if np.array_equal(order, np.arange(len(order))) else joined.columns(order.tolist())
    )


def _numbers(columns: Columns, values: Value, absent: Value, which) -> Value:
    """Return filled and standardized numbers."""
    values = absent.where(columns.fill[which][None], values)
    if not columns.is_standardized:
        return values
    return (values - columns.center[which][None]) / columns.scale[which][None]


def _one_hot(columns: Columns, j: int, X: Source) -> Value:
    """Return an indicator for each category, and for missing values if training had some."""
    levels = np.asarray(columns.categories[j])
    if columns.missing[j]:
        gone, kind = (None, object) if levels.dtype.kind == "U" else (np.nan, np.float64)
        levels = np.array([*levels.tolist(), gone], dtype=kind)
    return matches(levels, j, X).double()


def _ordered(columns: Columns, j: int, X: Source) -> Value:
    """Return the position of each category as a number; others count as missing."""
    levels = np.asarray(columns.categories[j])
    found = matches(levels, j, X).double()
    position = (found * np.arange(len(levels), dtype=np.float64)[None]).sum(1)
    absent = found.sum(1).equal(0.0)
    number = _numbers(columns, position, absent, np.array([j]))
    return concat([number, absent.double() * MARK]) if columns.missing[j] else number
