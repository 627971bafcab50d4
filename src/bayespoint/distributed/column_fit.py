"""Learn from rows on a cluster how the columns of their table become features."""

from __future__ import annotations

import numpy as np

from ..geometry.columns import MAX_MEDIAN_ROWS, Columns, medians, unless_constant
from ..geometry.steady_sums import coarse_and_fine, total
from .medians import count_bits, medians_of
from .row_parts import Part, RowParts


def fit_columns_of(rows: RowParts, categories, ordered, standardize: bool, table) -> Columns:
    """Return what `fit_columns` finds for all rows together."""
    n = table.n_features
    categories = [None] * n if categories is None else list(categories)
    ordered = np.zeros(n, dtype=bool) if ordered is None else ordered
    missing, fill, center, scale = np.zeros(n, dtype=bool), np.zeros(n), np.zeros(n), np.ones(n)
    columns = Columns(categories, ordered, missing, fill, center, scale)
    if table.is_sparse:
        if standardize:
            raise ValueError(
                "standardize=True needs dense partitions on a cluster, but X is sparse. Scale "
                "the features before, and pass standardize=False."
            )
        return columns
    missing |= np.any(rows.ask(_missing), axis=0)
    complete = np.flatnonzero(columns.is_number & ~missing)
    few = np.linspace(0, rows.n_rows - 1, min(rows.n_rows, MAX_MEDIAN_ROWS)).astype(np.int64)
    some = rows.take(few)
    if len(complete):
        fill[complete] = medians(some.X[:, complete], some.weight)
    gappy = np.flatnonzero(columns.is_number & missing)
    if len(gappy):
        known = np.any(rows.ask(_known, gappy), axis=0)
        gappy = gappy[known]
    if len(gappy):
        fill[gappy] = medians_of(
            lambda bits, prefix: rows.ask(_count_bits, gappy, bits, prefix), len(gappy)
        )
    if standardize:
        which = np.sort(np.concatenate([complete, gappy]))
        center[which], scale[which] = _moments(rows, which, fill[which], table.dtype)
    return columns


def _moments(rows: RowParts, which: np.ndarray, origin: np.ndarray, dtype):
    """Return mean and deviation as `fit_columns` does: from the median, in units of the reach."""
    reach = np.max(rows.ask(_reach, which, origin), axis=0)
    if not np.isfinite(reach).all():
        j = int(which[np.flatnonzero(~np.isfinite(reach))[0]])
        raise ValueError(
            f"Column {j} of X (counted from 0) holds numbers that are too far apart for double "
            "precision. Divide them by a constant, or take their logarithm."
        )
    unit = np.where(reach > 0, reach, 1.0)
    weights, sums = zip(*rows.ask(_sums, which, origin, unit), strict=True)
    weight = np.sum(weights, axis=0)
    mean = total(sums) / weight
    squares = total(rows.ask(_squares, which, origin, unit, mean))
    center, deviation = origin + reach * mean, reach * np.sqrt(squares / weight)
    return center, unless_constant(deviation, center, dtype)


# Tasks


def _missing(part: Part) -> np.ndarray:
    return np.isnan(part.X).any(axis=0)


def _known(part: Part, which: np.ndarray) -> np.ndarray:
    return (~np.isnan(part.X[:, which])).any(axis=0)


def _count_bits(part: Part, which: np.ndarray, known: int, prefix: np.ndarray) -> np.ndarray:
    return count_bits(part.X[:, which], part.weight, known, prefix)


def _off(part: Part, which: np.ndarray, origin: np.ndarray) -> np.ndarray:
    with np.errstate(over="ignore"):
        return part.X[:, which] - origin


def _reach(part: Part, which: np.ndarray, origin: np.ndarray) -> np.ndarray:
    off = np.abs(_off(part, which, origin))
    return np.max(np.where(np.isnan(off), 0.0, off), axis=0, initial=0.0)


def _sums(part: Part, which: np.ndarray, origin: np.ndarray, unit: np.ndarray) -> tuple:
    off = _off(part, which, origin) / unit
    present = ~np.isnan(off)
    sums = coarse_and_fine(np.where(present, off, 0.0), part.weight)
    return part.weight @ present, sums


def _squares(part: Part, which: np.ndarray, origin, unit, mean) -> np.ndarray:
    off = (_off(part, which, origin) / unit - mean) ** 2
    return coarse_and_fine(np.where(np.isnan(off), 0.0, off), part.weight)
