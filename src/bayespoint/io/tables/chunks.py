"""Read files that need not fit into memory: CSV, Parquet and LIBSVM, piece by piece."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from .columns import find_columns, frame, labels
from .files import Wishes, open_table, regrouped, with_n_features


def read_chunks(
    path: str | Path,
    target: str | None = None,
    *,
    n_rows: int = 100_000,
    n_features: int | None = None,
) -> Iterator[tuple[Any, Any]]:
    r"""Yield the rows of a file, so many at a time.

    Parameters
    ----------
    path : str or Path
        CSV, Parquet or LIBSVM, all but Parquet also compressed by gzip, bzip2 or xz. What it
        is, is told by its name or its beginning. "-" is standard input.
    target : str, default=None
        The column of CSV or Parquet that holds the classes. LIBSVM has them in front of
        each row.
    n_rows : int, default=100_000
        Rows of a chunk. The first of a table decides which columns hold numbers.
    n_features : int, default=None
        Number of features of LIBSVM; by default the file is read once more to find it.

    Yields
    ------
    X : DataFrame, or CSR matrix for LIBSVM
        Features: float64, NaN where a number is missing, and texts.
    y : ndarray
        Classes.

    Examples
    --------
    >>> import os, tempfile
    >>> from bayespoint import LinearBayesPointClassifier
    >>> from bayespoint.chunks import read_chunks
    >>> path = os.path.join(tempfile.mkdtemp(), "rows.csv")
    >>> with open(path, "w") as file:
    ...     _ = file.write("a,b,kind\n" + "1,2,x\n2,1,y\n" * 50)
    >>> model = LinearBayesPointClassifier()
    >>> for X, y in read_chunks(path, "kind", n_rows=30):
    ...     model = model.partial_fit(X, y, classes=["x", "y"])
    >>> model.n_samples_seen_
    100.0
    """
    if n_rows < 1:
        raise ValueError(f"n_rows should be at least 1, but is {n_rows}.")
    wishes = Wishes(n_features=n_features)
    table = open_table(path, wishes)
    try:
        if table.columns is None:
            return table.sparse_chunks(n_rows, with_n_features(path, wishes).n_features)
        if target is None:
            raise ValueError(
                f"target should name the column of {table.name} that holds the classes."
            )
        table.need([target])
    except BaseException:
        table.close()
        raise
    return _table_chunks(regrouped(table.batches(), n_rows), target)


def _table_chunks(tables: Iterator[Any], target: str) -> Iterator[tuple[Any, Any]]:
    """Yield features and classes of tables."""
    columns = None
    for table in tables:
        columns = columns or find_columns(table, target)
        yield frame(table, columns), labels(table, columns)
