"""Read files that need not fit into memory: CSV, Parquet and LIBSVM, chunk by chunk."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from .columns import find_columns, frame
from .labels import labels
from .open_table import count_features, open_table
from .read_options import ReadOptions
from .table import Table, regroup

__all__ = ["read_chunks"]


def read_chunks(
    path: str | Path,
    target: str | None = None,
    *,
    n_rows: int = 100_000,
    n_features: int | None = None,
    header: bool | None = None,
    encoding: str | None = None,
) -> Iterator[tuple[Any, Any]]:
    r"""Yield the rows of a file, n_rows at a time.

    Parameters
    ----------
    path : str or Path
        CSV, Parquet or LIBSVM, by the name of the file or its first bytes; CSV and LIBSVM
        also compressed by gzip, bzip2 or xz. "-" is standard input.
    target : str, default=None
        The column of CSV or Parquet with the classes. LIBSVM has them in front of rows.
    n_rows : int, default=100_000
        Rows per chunk. The first chunk of CSV decides which columns hold numbers.
    n_features : int, default=None
        Number of features of LIBSVM. By default the file is read once more to count them.
    header : bool, default=None
        Whether the first line of CSV holds column names; by default this is guessed.
    encoding : str, default=None
        Encoding of CSV; by default this is guessed.

    Yields
    ------
    X : DataFrame, or CSR matrix for LIBSVM
        Features: float64 with NaN for missing numbers, and strings.
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
    options = ReadOptions(header=header, encoding=encoding, n_features=n_features)
    table = open_table(path, options)
    try:
        if table.columns is None:
            return table.sparse_chunks(n_rows, count_features(path, options))
        target = _check_target(table, target)
    except BaseException:
        table.close()
        raise
    return _table_chunks(regroup(table.batches(), n_rows), target)


def _check_target(table: Table, target: str | None) -> str:
    if target is None:
        raise ValueError(f"target should name the column of {table.name} that holds the classes.")
    table.require_columns([target])
    return target


def _table_chunks(tables: Iterator[Any], target: str) -> Iterator[tuple[Any, Any]]:
    """Yield the features and classes of Arrow tables."""
    columns = None
    for table in tables:
        columns = columns or find_columns(table, target)
        yield frame(table, columns), labels(table, columns)
