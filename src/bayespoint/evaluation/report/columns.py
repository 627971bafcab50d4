"""The columns of a DataFrame, an array or a sparse matrix."""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

import numpy as np
from scipy import sparse

from ..targets import is_missing
from .formatting import number, percent, several, text

# Bars of a histogram.
N_BARS = 16
# Name this many categories, with their frequencies.
N_NAMED_CATEGORIES = 3


class Column(NamedTuple):
    """Summary of a column."""

    name: str
    kind: str
    n_missing: int
    values: str  # range, or the most frequent values
    bars: np.ndarray  # histogram, or how often the most frequent values occur


class Table:
    """A DataFrame, an array or a sparse matrix, read by column and cell."""

    def __init__(self, X):
        self.frame = X if hasattr(X, "iloc") else None
        if self.frame is None:
            X = X.tocsr() if sparse.issparse(X) else np.asarray(X)
        if X.ndim != 2 or 0 in X.shape:
            raise ValueError(
                "X should be a table with at least one row and one column, but its shape is "
                f"{X.shape}."
            )
        self.X = X
        self.n_rows, self.n_columns = X.shape

    def name(self, j: int) -> str:
        """Return the name of a column."""
        return text(f"x{j}" if self.frame is None else self.frame.columns[j])

    @property
    def has_labels(self) -> bool:
        """Tell whether the index names the rows, instead of counting from 0."""
        if self.frame is None:
            return False
        index = self.frame.index
        return not (len(index) and index[0] == 0 and type(index).__name__ == "RangeIndex")

    def row_name(self, i: int) -> str:
        """Return the label of a row, or its number from 1."""
        if self.frame is None or not self.has_labels:
            return f"{i + 1:,}"
        return text(self.frame.index[i])

    def values(self, j: int) -> np.ndarray:
        """Return a column."""
        if self.frame is not None:
            return self.frame.iloc[:, j].to_numpy()
        return self.X[:, [j]].toarray().ravel() if sparse.issparse(self.X) else self.X[:, j]

    def cell(self, i: int, j: int) -> str:
        """Return a value as text."""
        value = self.X[i, j] if self.frame is None else self.frame.iloc[i, j]
        if is_missing(value):
            return "missing"
        return number(value.item() if isinstance(value, np.number) else value)

    def describe(self, columns) -> list[Column]:
        """Summarize columns, given by their positions."""
        return [_describe(self.name(j), self.values(j)) for j in columns]


def _describe(name: str, values: np.ndarray) -> Column:
    missing = missing_values(values)
    present = values[~missing]
    n_missing = int(missing.sum())
    if not len(present):
        return Column(name, "–", n_missing, "all values are missing", np.zeros(1))
    if is_number(present):
        present = present.astype(float)
    by_kind = {"f": _numbers, "M": _dates}
    kind, words, bars = by_kind.get(present.dtype.kind, _categories)(present)
    return Column(name, kind, n_missing, words, bars)


def is_number(present: np.ndarray) -> bool:
    """Tell whether values, none of them missing, are numbers."""
    if present.dtype.kind == "O":
        return all(type(value) in (int, float) for value in present)
    return present.dtype.kind in "fiu"


def missing_values(values: np.ndarray) -> np.ndarray:
    """Return which values are missing."""
    if values.dtype.kind in "biuUS":
        return np.zeros(len(values), dtype=bool)
    if values.dtype.kind in "fM":
        return values != values
    return np.array([is_missing(value) for value in values], dtype=bool)


def _numbers(values: np.ndarray) -> tuple[str, str, np.ndarray]:
    finite = values[np.isfinite(values)]
    if not len(finite):
        return "numbers", "all values are infinite", np.zeros(1)
    low, high = float(finite.min()), float(finite.max())
    if low == high:
        return "numbers", f"always {number(low)}", np.array([len(finite)])
    # Scale by the largest value, so that sums and differences do not overflow.
    unit = max(abs(low), abs(high))
    median = float(np.median(finite / unit)) * unit
    words = f"{number(low)} to {number(high)}, median {number(median)}"
    if len(finite) < len(values):
        words += f"; {several(len(values) - len(finite), 'infinity', 'infinities')}"
    return "numbers", words, np.histogram(finite / unit, bins=N_BARS)[0]


def _dates(values: np.ndarray) -> tuple[str, str, np.ndarray]:
    words = f"{values.min().astype('M8[s]')} to {values.max().astype('M8[s]')}"
    return "dates", words, np.histogram(values.astype(np.int64).astype(float), bins=N_BARS)[0]


def _categories(values: np.ndarray) -> tuple[str, str, np.ndarray]:
    # Compare as text: values may be lists or of several types.
    counts = Counter(map(str, values.tolist())).most_common()
    named = counts[:N_NAMED_CATEGORIES]
    words = ", ".join(f"{text(value)} ({percent(n / len(values))})" for value, n in named)
    if len(counts) > len(named):
        words = f"{several(len(counts), 'value')}: {words}, …"
    return "categories", words, np.array([n for _, n in counts[:N_BARS]])
