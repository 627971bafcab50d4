"""Open a table, wherever it comes from: what kind of file it is, and its rows piece by piece."""

from __future__ import annotations

import bz2
import csv
import gzip
import io
import lzma
import re
import sys
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO

from sklearn.datasets import load_svmlight_file

FORMATS = ("csv", "parquet", "libsvm")
ENDINGS = {
    **dict.fromkeys((".csv", ".tsv", ".txt", ".data"), "csv"),
    **dict.fromkeys((".parquet", ".pq"), "parquet"),
    **dict.fromkeys((".libsvm", ".svmlight", ".svm"), "libsvm"),
}
# How compressed files begin.
OPENERS: dict[bytes, Any] = {b"\x1f\x8b": gzip.open, b"BZh": bz2.open, b"\xfd7zXZ\x00": lzma.open}
COMPRESSED_ENDINGS = (".gz", ".bz2", ".xz")
PARQUET_MAGIC = b"PAR1"
DELIMITERS = ",\t;|"
# What means that there is no value; pandas has the same list but for the last.
MISSING = (
    *("", "#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND", "1.#QNAN"),
    *("<NA>", "N/A", "NA", "NULL", "NaN", "None", "n/a", "nan", "null", "?"),
)
# So much of a file is looked at to find out what it is, and so much is parsed at once.
HEAD = 1 << 16
BLOCK = 1 << 22
# A first line of more than this is no header, but a file that is none of these.
LONGEST_HEADER = 1 << 24
MOST_COLUMNS = 100_000
# What broken files raise, besides ValueError, which Arrow's errors are.
BROKEN = (EOFError, zlib.error, lzma.LZMAError, gzip.BadGzipFile)


@dataclass(frozen=True)
class Wishes:
    """What the user says about a file; None is found out."""

    format: str | None = None
    delimiter: str | None = None
    header: bool | None = None
    encoding: str = "utf-8"
    n_features: int | None = None  # of LIBSVM


@dataclass(frozen=True)
class Table:
    """A file that was opened; its rows can be read once.

    Attributes
    ----------
    name : str
        What to call it in messages.
    columns : list of str, or None
        Names, None for LIBSVM.
    has_header : bool
        Whether the names are in the file.
    """

    name: str
    format: str
    columns: list[str] | None
    has_header: bool
    _stream: Any
    _wishes: Wishes
    _delimiter: str = ","

    def batches(self, kinds: dict[str, str] | None = None) -> Iterator[Any]:
        """Yield Arrow tables of a few megabytes; `kinds` says which columns, text or number."""
        assert self.columns is not None
        try:
            if self.format == "parquet":
                yield from _parquet_batches(self._stream, kinds)
            else:
                yield from self._csv_batches(kinds)
        except UnicodeDecodeError as error:
            raise ValueError(
                f"{self.name} is not encoded as {self._wishes.encoding}: {error.reason} at byte "
                f"{error.start} of a block. Give its encoding, for example latin-1 or utf-16."
            ) from None
        except BROKEN as error:
            raise ValueError(f"{self.name} is broken or was cut off: {error}") from None
        except (ValueError, OSError) as error:
            raise ValueError(f"{self.name}: {self._named(_one_line(error))}") from None

    def _named(self, message: str) -> str:
        """Return a message of Arrow's with the name of a column instead of its number."""
        names = self.columns or []
        return re.sub(
            r"In CSV column #(\d+)", lambda found: f"column {names[int(found[1])]!r}", message
        )

    def _csv_batches(self, kinds: dict[str, str] | None) -> Iterator[Any]:
        import pyarrow as pa
        from pyarrow import csv as arrow_csv

        kinds = dict.fromkeys(self.columns or (), "text") if kinds is None else kinds
        types = {"text": pa.string(), "number": pa.float64()}
        reader = arrow_csv.open_csv(
            self._stream,
            arrow_csv.ReadOptions(
                block_size=BLOCK,
                column_names=self.columns,
                skip_rows=int(self.has_header),
                encoding=self._wishes.encoding,
            ),
            arrow_csv.ParseOptions(delimiter=self._delimiter, newlines_in_values=True),
            arrow_csv.ConvertOptions(
                column_types={name: types[kind] for name, kind in kinds.items()},
                include_columns=list(kinds),
                null_values=[*MISSING, *(f" {word}" for word in MISSING)],
                strings_can_be_null=True,
            ),
        )
        for batch in reader:
            yield _trimmed(pa.Table.from_batches([batch]))

    def sparse_chunks(self, n_rows: int, n_features: int | None) -> Iterator[tuple[Any, Any]]:
        """Yield CSR matrices and the numbers in front of rows."""
        before = 0
        try:
            while text := b"".join(islice(_rows(self._stream), n_rows)):
                lines = text.count(b"\n")
                try:
                    # Which index is the first has to be the same for all chunks: 1, as is usual.
                    yield load_svmlight_file(
                        io.BytesIO(text), n_features=n_features, zero_based=False
                    )
                except (ValueError, OverflowError) as error:
                    raise ValueError(
                        f"{self.name}, rows {before + 1} to {before + lines}: {_one_line(error)}"
                    ) from None
                before += lines
        except BROKEN as error:
            raise ValueError(f"{self.name} is broken or was cut off: {error}") from None


def open_table(path: str | Path, wishes: Wishes | None = None) -> Table:
    """Open a file, `-` for standard input, and find out what it is.

    Parameters
    ----------
    path : str or Path
        CSV (also with tabs, semicolons or bars), Parquet or LIBSVM; all but Parquet also
        compressed by gzip, bzip2 or xz.
    wishes : Wishes, default=None
        What is known about it.

    Returns
    -------
    Table
    """
    wishes = wishes or Wishes()
    standard_input = str(path) == "-"
    name = "standard input" if standard_input else Path(path).name
    if not standard_input and not Path(path).exists():
        raise FileNotFoundError(f"There is no file {str(path)!r}.")
    if not standard_input and Path(path).is_dir():
        raise IsADirectoryError(f"{str(path)!r} is a folder, not a file.")
    raw: BinaryIO = sys.stdin.buffer if standard_input else open(path, "rb")  # noqa: SIM115
    try:
        stream = _Peeked(raw)
        for magic, opener in OPENERS.items():
            if stream.head.startswith(magic):
                stream = _Peeked(opener(stream, "rb"))
    except BROKEN as error:
        raise ValueError(f"{name} is broken or was cut off: {error}") from None
    if not stream.head.strip():
        raise ValueError(f"{name} is empty.")
    format = wishes.format or _format(stream.head, path)
    if format == "libsvm":
        return Table(name, format, None, False, stream, wishes)
    _need_pyarrow()
    if format == "parquet":
        return _open_parquet(name, io.BufferedReader(stream) if standard_input else path, wishes)
    return _open_csv(name, stream, path, wishes)


class _Peeked(io.RawIOBase):
    """A stream whose beginning was looked at."""

    def __init__(self, stream: Any):
        self.stream = stream
        self.head = stream.read(HEAD) or b""
        self._left = self.head

    def readable(self) -> bool:
        return True

    def readinto(self, buffer) -> int:
        data = self._left[: len(buffer)] or self.stream.read(len(buffer)) or b""
        self._left = self._left[len(data) :]
        buffer[: len(data)] = data
        return len(data)

    def more(self) -> bytes:
        """Look at as much again."""
        data = self.stream.read(len(self.head)) or b""
        self.head += data
        self._left += data
        return data

    def close(self) -> None:
        self.stream.close()
        super().close()


def _format(head: bytes, path: str | Path) -> str:
    """Guess from the name, or else from the beginning."""
    if head.startswith(PARQUET_MAGIC):
        return "parquet"
    suffixes = [suffix.lower() for suffix in Path(path).suffixes]
    if suffixes and suffixes[-1] in COMPRESSED_ENDINGS:
        suffixes.pop()
    if suffixes and suffixes[-1] in ENDINGS:
        return ENDINGS[suffixes[-1]]
    first = next((line for line in head.splitlines() if line.split(b"#")[0].strip()), b"")
    return "libsvm" if re.match(rb"\s*[-+.\deE]+(\s+\d+:\S+)+\s*(#.*)?$", first) else "csv"


def _open_csv(name: str, stream: _Peeked, path: str | Path, wishes: Wishes) -> Table:
    """Find names of columns and what is between them."""
    while b"\n" not in stream.head and len(stream.head) < LONGEST_HEADER and stream.more():
        pass
    if b"\0" in stream.head and wishes.encoding == "utf-8":
        raise ValueError(
            f"{name} should be text, but has zero bytes. Is it another kind of file, or another "
            "encoding, for example utf-16?"
        )
    try:
        text = stream.head.decode(wishes.encoding, "ignore")
    except LookupError:
        raise ValueError(f"There is no encoding {wishes.encoding!r}.") from None
    text = text.removeprefix("\ufeff")
    line = next((line for line in text.splitlines() if line.strip()), "")
    delimiter = wishes.delimiter or max(DELIMITERS, key=_outside_quotes(line).count)
    # A quoted name may hold the end of a line.
    record = next(csv.reader(io.StringIO(text.lstrip("\r\n")), delimiter=delimiter))
    if len(record) > MOST_COLUMNS:
        raise ValueError(
            f"{name} has {len(record):,} columns, more than the {MOST_COLUMNS:,} that are "
            "supported. Write it as LIBSVM, which holds only what is not zero."
        )
    cells = [cell.strip() for cell in record]
    # Names of columns are hardly ever numbers.
    header = not any(map(_is_number, cells)) if wishes.header is None else wishes.header
    names = [cell if header and cell else f"column_{i + 1}" for i, cell in enumerate(cells)]
    twice = sorted({n for n in names if names.count(n) > 1}) if len(set(names)) < len(names) else []
    if twice:
        raise ValueError(f"{name} has more than one column named {twice[0]!r}. Rename one of them.")
    return Table(name, "csv", names, header, io.BufferedReader(stream), wishes, delimiter)


def _open_parquet(name: str, source: Any, wishes: Wishes) -> Table:
    from pyarrow.parquet import ParquetFile

    # Its contents are at the end of it.
    source = source if isinstance(source, (str, Path)) else io.BytesIO(source.read())
    try:
        file = ParquetFile(source)
    except (ValueError, OSError) as error:
        raise ValueError(f"{name} is not Parquet, or is broken: {_one_line(error)}") from None
    return Table(name, "parquet", file.schema_arrow.names, True, file, wishes)


def _parquet_batches(file, kinds: dict[str, str] | None) -> Iterator[Any]:
    """Yield tables with columns of texts and numbers."""
    import pyarrow as pa

    columns = None if kinds is None else list(kinds)
    for batch in file.iter_batches(1 << 16, columns=columns):
        table = pa.Table.from_batches([batch])
        for i, field in enumerate(table.schema):
            kind = (kinds or {}).get(field.name)
            table = table.set_column(i, field.name, _plain(table[field.name], field, kind))
        yield _trimmed(table.select(columns) if columns else table)


def _plain(column, field, kind: str | None):
    """Return a column of numbers or texts."""
    import pyarrow as pa
    from pyarrow import types

    kind_here = field.type
    if types.is_dictionary(kind_here):
        column, kind_here = column.cast(kind_here.value_type), kind_here.value_type
    numeric = (
        types.is_integer(kind_here)
        or types.is_floating(kind_here)
        or types.is_boolean(kind_here)
        or types.is_decimal(kind_here)
    )
    if types.is_nested(kind_here) or types.is_binary(kind_here):
        raise ValueError(
            f"column {field.name!r} should hold numbers or texts, but is of type {field.type}."
        )
    if types.is_null(kind_here):
        return column.cast(pa.float64() if kind == "number" else pa.string())
    if kind == "number" or (kind is None and numeric):
        return column.cast(pa.float64(), safe=False) if numeric else column.cast(pa.float64())
    return column.cast(pa.string())


def _trimmed(table):
    """Return texts without blanks around them, and nothing where there is nothing."""
    import pyarrow as pa
    import pyarrow.compute as pc

    missing = pa.array(MISSING)
    for i, field in enumerate(table.schema):
        if pa.types.is_string(field.type):
            column = pc.utf8_trim_whitespace(table[field.name])
            gone = pc.is_in(column, value_set=missing)
            if pc.any(gone).as_py():
                column = pc.if_else(gone, pa.scalar(None, pa.string()), column)
            table = table.set_column(i, field.name, column)
    return table


def with_n_features(path: str | Path, wishes: Wishes) -> Wishes:
    """Return wishes that know the number of features of a LIBSVM file, reading it once."""
    if wishes.n_features is not None:
        return wishes
    if str(path) == "-":
        raise ValueError(
            "The number of features has to be given for LIBSVM from standard input, as it "
            "cannot be read twice."
        )
    chunks = open_table(path, wishes).sparse_chunks(100_000, None)
    return replace(wishes, n_features=max((X.shape[1] for X, _ in chunks), default=0))


def _rows(file: Any) -> Iterator[bytes]:
    """Yield lines that hold a row, each with its end."""
    for line in file:
        if line.split(b"#")[0].strip():
            yield line if line.endswith(b"\n") else line + b"\n"


def _outside_quotes(line: str) -> str:
    return re.sub(r'"[^"]*"', "", line)


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return text.lower() not in ("nan", "inf", "infinity")


def _one_line(error: Exception) -> str:
    """Return what an error says, on one line that is not too long."""
    text = " ".join(str(error).split())
    return text if len(text) <= 300 else text[:297] + "..."


def _need_pyarrow() -> None:
    try:
        import pandas
        import pyarrow  # noqa: F401

        pandas.DataFrame  # noqa: B018
    except ImportError as error:
        raise ImportError(
            f'{error}. CSV and Parquet need pandas and pyarrow: pip install "bayespoint[files]".'
        ) from error


def regrouped(batches: Iterator[Any], n_rows: int) -> Iterator[Any]:
    """Yield Arrow tables of so many rows, whatever the sizes of those that come."""
    import pyarrow as pa

    held, size = [], 0
    for batch in batches:
        while size + len(batch) >= n_rows:
            wanted = n_rows - size
            yield pa.concat_tables([*held, batch[:wanted]])
            held, size, batch = [], 0, batch[wanted:]
        if len(batch):
            held.append(batch)
            size += len(batch)
    if held:
        yield pa.concat_tables(held)
