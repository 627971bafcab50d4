"""Read files that need not fit into memory: CSV, Parquet and LIBSVM, piece by piece."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO

from sklearn.datasets import load_svmlight_file

OPENERS = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}
CSV, PARQUET, LIBSVM = (".csv", ".tsv"), (".parquet", ".pq"), (".libsvm", ".svmlight", ".svm")


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
        A file .csv, .tsv, .parquet or .libsvm (also .svmlight, .svm), all but Parquet also
        compressed, .gz, .bz2 or .xz.
    target : str, default=None
        The column of CSV or Parquet that holds the classes. LIBSVM has them in front of
        each row.
    n_rows : int, default=100_000
        Rows of a chunk.
    n_features : int, default=None
        Number of features of LIBSVM; by default the file is read once more to find it.

    Yields
    ------
    X : DataFrame, or CSR matrix for LIBSVM
        Features.
    y : Series or ndarray
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
    path = Path(path)
    if not path.is_file():
        raise FileNotFoundError(f"There is no file {str(path)!r}.")
    if n_rows < 1:
        raise ValueError(f"n_rows should be at least 1, but is {n_rows}.")
    suffixes = [suffix.lower() for suffix in path.suffixes]
    kind = suffixes[-2] if len(suffixes) > 1 and suffixes[-1] in OPENERS else (suffixes or [""])[-1]
    if kind in LIBSVM:
        if n_features is None:
            n_features = max((X.shape[1] for X, _ in _libsvm(path, n_rows, None)), default=0)
        return _libsvm(path, n_rows, n_features)
    if kind not in CSV + PARQUET:
        known = ", ".join(CSV + PARQUET + LIBSVM)
        raise ValueError(
            f"The name of the file should end with one of {known}, but is {path.name!r}."
        )
    if target is None:
        raise ValueError(f"target should name the column of {path.name} that holds the classes.")
    return _split(_tables(path, kind, n_rows), target, path.name)


def _split(tables: Iterator[Any], target: str, name: str) -> Iterator[tuple[Any, Any]]:
    """Yield features and classes of tables."""
    for table in tables:
        if target not in table:
            columns = ", ".join(map(str, table.columns[:20]))
            raise ValueError(f"{name} has no column {target!r}. Its columns are: {columns}.")
        yield table.drop(columns=target), table[target]


def _tables(path: Path, kind: str, n_rows: int) -> Iterator[Any]:
    """Yield data frames."""
    try:
        if kind in PARQUET:
            from pyarrow.parquet import ParquetFile

            for batch in ParquetFile(path).iter_batches(n_rows):
                yield batch.to_pandas()
        else:
            import pandas as pd

            yield from pd.read_csv(path, sep="\t" if kind == ".tsv" else ",", chunksize=n_rows)
    except ImportError as error:
        raise ImportError(
            f'{error}. CSV and Parquet need pandas and pyarrow: pip install "bayespoint[files]".'
        ) from error


def _libsvm(path: Path, n_rows: int, n_features: int | None) -> Iterator[tuple[Any, Any]]:
    """Yield sparse rows, and the numbers in front of them."""
    opener: Any = OPENERS.get(path.suffix.lower(), open)
    with opener(path, "rb") as file:
        before = 0
        while True:
            text = b"".join(islice(_lines(file), n_rows))
            if not text:
                return
            lines = text.count(b"\n")
            try:
                # Which index is the first has to be the same for all chunks: 1, as it is written.
                yield load_svmlight_file(io.BytesIO(text), n_features=n_features, zero_based=False)
            except ValueError as error:
                raise ValueError(
                    f"{path.name}, rows {before + 1} to {before + lines}: {error}"
                ) from error
            before += lines


def _lines(file: BinaryIO) -> Iterator[bytes]:
    """Yield lines that hold a row, each with its end."""
    for line in file:
        if line.split(b"#")[0].strip():
            yield line if line.endswith(b"\n") else line + b"\n"
