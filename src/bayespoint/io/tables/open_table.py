"""Open a file of rows: find its format, and remove its compression."""

from __future__ import annotations

import io
import re
import sys
from dataclasses import replace
from pathlib import Path
from typing import BinaryIO

from .csv_table import CSVTable
from .encodings import guess_encoding
from .libsvm_table import LIBSVMTable
from .parquet_table import ParquetTable
from .read_options import ReadOptions
from .sniff import guess_format
from .stream import PeekedStream, is_damage, peek
from .table import Table, damaged

STANDARD_INPUT = "-"
# The first bytes of Excel's files, which are archives.
WORKBOOK_MAGICS = (b"PK\x03\x04", b"\xd0\xcf\x11\xe0")
# Vectors of this many weights still fit into memory easily.
MAX_FEATURES = 1 << 24
# Rows per chunk when features are counted.
COUNTED_ROWS = 100_000
# A compressed Parquet file is held in memory as a whole, which is read this many bytes at a time.
MAX_DECOMPRESSED_BYTES = 1 << 28
BLOCK_BYTES = 1 << 22


def open_table(path: str | Path, options: ReadOptions | None = None) -> Table:
    """Open a file, or standard input for "-", and find out what it is.

    Parameters
    ----------
    path : str or Path
        CSV (also with tabs, semicolons or bars), Parquet or LIBSVM; all but Parquet also
        compressed by gzip, bzip2 or xz.
    options : ReadOptions, default=None
        What the user says about the file.

    Returns
    -------
    Table
    """
    options = options or ReadOptions()
    standard_input = str(path) == STANDARD_INPUT
    name = "standard input" if standard_input else Path(path).name
    if not standard_input and not Path(path).exists():
        raise FileNotFoundError(f"There is no file {str(path)!r}.")
    if not standard_input and Path(path).is_dir():
        raise IsADirectoryError(f"{str(path)!r} is a folder, not a file.")
    raw: BinaryIO = sys.stdin.buffer if standard_input else open(path, "rb")  # noqa: SIM115
    try:
        return _open_stream(raw, path, name, options)
    except BaseException as error:
        if not standard_input:
            raw.close()
        if is_damage(error):
            raise ValueError(damaged(name, error)) from None
        raise


def count_features(path: str | Path, options: ReadOptions) -> int:
    """Return the number of features of a LIBSVM file; read it once if none is given."""
    if options.n_features is not None:
        return options.n_features
    if str(path) == STANDARD_INPUT:
        raise ValueError(
            "The number of features of LIBSVM has to be given for standard input, which cannot be "
            "read twice. Pass n_features=NUMBER."
        )
    with open_table(path, options) as table:
        chunks = table.sparse_chunks(COUNTED_ROWS, None)
        n_features = max((X.shape[1] for X, _ in chunks), default=0)
    if n_features > MAX_FEATURES:
        raise ValueError(
            f"{table.name} has a feature number {n_features:,}, but at most {MAX_FEATURES:,} "
            "features are supported. Renumber the features from 1."
        )
    return n_features


def _open_stream(raw: BinaryIO, path: str | Path, name: str, options: ReadOptions) -> Table:
    stream, is_compressed = peek(raw)
    if not stream.head.strip():
        raise ValueError(f"{name} is empty.")
    format = options.format or guess_format(stream.head, path)
    if options.format is None:
        _refuse_other_files(name, stream.head)
    if format == "libsvm":
        return LIBSVMTable(name, stream)
    _require_pyarrow()
    if format == "parquet":
        # Parquet has its description at the end, so a pipe has to be read as a whole.
        if is_compressed:
            return ParquetTable(name, _decompressed(name, stream))
        whole = str(path) == STANDARD_INPUT
        return ParquetTable(name, io.BytesIO(stream.read()) if whole else path)
    notes = []
    if options.encoding is None:
        again = None if is_compressed or str(path) == STANDARD_INPUT else path
        encoding, example = guess_encoding(stream.head, again)
        options = replace(options, encoding=encoding)
        if example:
            notes.append(
                f"{name} is not UTF-8 and is read as {encoding}: {example!r}. If that looks "
                'wrong, pass its encoding, for example encoding="cp1250"'
            )
    table = CSVTable(name, stream, options)
    table.notes += notes
    return table


def _decompressed(name: str, stream: PeekedStream) -> BinaryIO:
    """Return a compressed file as a whole; a small one can hold more than the memory does."""
    whole = io.BytesIO()
    while block := stream.read(BLOCK_BYTES):
        whole.write(block)
        if whole.tell() > MAX_DECOMPRESSED_BYTES:
            raise ValueError(
                f"{name} holds more than {MAX_DECOMPRESSED_BYTES >> 20} MB of compressed Parquet. "
                "Decompress it first: Parquet is compressed inside."
            )
    return whole


def _refuse_other_files(name: str, head: bytes) -> None:
    """Refuse workbooks and SQL statements, which people take for tables."""
    if head.startswith(WORKBOOK_MAGICS):
        raise ValueError(
            f"{name} is a workbook or another archive, not a table. Save its sheet as CSV."
        )
    if re.search(rb"(?im)^\s*INSERT\s+INTO\s", head):
        raise ValueError(
            f"{name} holds SQL statements, not a table. Export the table as CSV, for example with "
            "COPY ... TO ... CSV HEADER."
        )


def _require_pyarrow() -> None:
    try:
        import pandas  # noqa: F401
        import pyarrow  # noqa: F401
    except ImportError as error:
        raise ImportError(
            f'{error}. CSV and Parquet need pandas and pyarrow: pip install "bayespoint[files]".'
        ) from error
