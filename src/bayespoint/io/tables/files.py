"""Open a table, wherever it comes from: what kind of file it is, and its rows piece by piece."""

from __future__ import annotations

import bz2
import codecs
import csv
import difflib
import gzip
import io
import lzma
import re
import sys
import zlib
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO, Self

from sklearn.datasets import load_svmlight_file

ENDINGS = {
    **dict.fromkeys((".csv", ".tsv"), "csv"),
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
PARQUET_ROWS = 1 << 16
# Records that are looked at to guess what is between columns, and whether the first holds names.
GUESSED_FROM = 20
# A first line of more than this is no header, but a file that is none of these.
LONGEST_HEADER = 1 << 24
MOST_COLUMNS = 100_000
# Names that are compared with one that does not exist.
MOST_COMPARED = 1000
# Of LIBSVM: vectors of so many weights are still no burden.
MOST_FEATURES = 1 << 24
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
    _n_header_lines: int = 0

    def __enter__(self) -> Self:
        """Return the table, which is closed at the end."""
        return self

    def __exit__(self, *error: Any) -> None:
        """Close the file."""
        self.close()

    def close(self) -> None:
        """Close the file; it is closed anyway when all rows were read."""
        self._stream.close()

    def need(self, names: Iterable[str]) -> None:
        """Refuse to go on without these columns."""
        columns = self.columns or []
        for name in names:
            if name not in columns:
                raise ValueError(f"{self.name}: {_missing_column(name, columns)}{self._guessed()}")

    def _guessed(self) -> str:
        """Return what may have gone wrong with names."""
        if self.format == "parquet" or self._wishes.header is not None:
            return ""
        if self.has_header:
            return " (If the first line holds no names: --no-header.)"
        return " (The first line seems to hold no names; if it does: --header.)"

    def batches(
        self, names: Sequence[str] | None = None, texts: Collection[str] = ()
    ) -> Iterator[Any]:
        """Yield Arrow tables of a few megabytes.

        All columns of CSV are texts, as they are written: `prepare` says what they mean. Those
        of Parquet are numbers or texts.

        Parameters
        ----------
        names : sequence of str
            The columns to read; by default all.
        texts : collection of str
            Columns of Parquet whose numbers are wanted as texts.
        """
        names = list(self.columns or ()) if names is None else list(names)
        try:
            if self.format == "parquet":
                yield from _parquet_batches(self._stream, names, texts)
            else:
                yield from self._csv_batches(names)
        except UnicodeDecodeError as error:
            raise ValueError(_other_encoding(self.name, self._wishes, error.reason)) from None
        except BROKEN as error:
            raise ValueError(f"{self.name} is broken or was cut off: {error}") from None
        except (ValueError, OSError, NotImplementedError) as error:
            raise ValueError(f"{self.name}: {self._in_our_words(_one_line(error))}") from None
        finally:
            self.close()

    def _in_our_words(self, message: str) -> str:
        """Return a message of Arrow's, or what it means."""
        if "invalid UTF8" in message:
            return _other_encoding("the file", self._wishes, "invalid bytes")
        if "straddl" in message:
            return (
                f"a row is longer than {BLOCK >> 20} MB, or quotes are opened and not closed. "
                "Mend the file."
            )
        return message

    def _csv_batches(self, names: list[str]) -> Iterator[Any]:
        import pyarrow as pa
        from pyarrow import csv as arrow_csv

        reader = arrow_csv.open_csv(
            self._stream,
            arrow_csv.ReadOptions(
                block_size=BLOCK,
                column_names=self.columns,
                skip_rows=self._n_header_lines,
                encoding=self._wishes.encoding,
            ),
            arrow_csv.ParseOptions(delimiter=self._delimiter, newlines_in_values=True),
            arrow_csv.ConvertOptions(
                column_types=dict.fromkeys(names, pa.string()), include_columns=names
            ),
        )
        for batch in reader:
            yield pa.Table.from_batches([batch])

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
        finally:
            self.close()


def _missing_column(name: str, names: Sequence[str]) -> str:
    """Say that there is no such column, and which might be meant."""
    lower = {other.lower(): other for other in names}
    close = difflib.get_close_matches(name.lower(), list(lower)[:MOST_COMPARED], n=1)
    hint = f" Did you mean {lower[close[0]]!r}?" if close else ""
    some = ", ".join(names[:20]) + (", ..." if len(names) > 20 else "")
    return f"There is no column {name!r}.{hint} The columns are: {some}."


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
        return _opened(raw, path, name, wishes)
    except BaseException as error:
        if not standard_input:
            raw.close()
        if isinstance(error, BROKEN):
            raise ValueError(f"{name} is broken or was cut off: {error}") from None
        raise


def _opened(raw: BinaryIO, path: str | Path, name: str, wishes: Wishes) -> Table:
    stream = _Peeked(raw)
    opener = next((o for magic, o in OPENERS.items() if stream.head.startswith(magic)), None)
    if opener is not None:
        stream = _Peeked(opener(stream, "rb"))
    if not stream.head.strip():
        raise ValueError(f"{name} is empty.")
    format = wishes.format or _format(stream.head, path)
    if format == "libsvm":
        return Table(name, format, None, False, io.BufferedReader(stream, BLOCK), wishes)
    _need_pyarrow()
    if format == "parquet":
        whole = str(path) == "-" or opener is not None
        # What it holds is said at its end, so that a pipe has to be read as a whole.
        return _open_parquet(name, io.BytesIO(stream.read()) if whole else path, wishes)
    return _open_csv(name, stream, wishes)


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
        # Standard input is not ours to close.
        if self.stream is not sys.stdin.buffer:
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


def _open_csv(name: str, stream: _Peeked, wishes: Wishes) -> Table:
    """Find names of columns and what is between them."""
    text = _beginning(name, stream, wishes)
    # Lines of blanks before the first are no rows; Arrow has to know how many there are.
    stripped = re.sub(r"\A(?:[^\S\r\n]*(?:\r\n|\r|\n))+", "", text)
    n_blank = len(re.findall(r"\r\n|\r|\n", text[: len(text) - len(stripped)]))
    delimiter = wishes.delimiter or _delimiter(stripped)
    # A name in quotes may hold the end of a line.
    reader = csv.reader(io.StringIO(stripped, newline=""), delimiter=delimiter, strict=True)
    try:
        first = next(reader)
    except (csv.Error, StopIteration) as error:
        raise ValueError(
            f"The first line of {name} cannot be read: {error or 'it is empty'}. Is it a table?"
        ) from None
    n_lines = n_blank + reader.line_num
    if len(first) > MOST_COLUMNS:
        raise ValueError(_too_many_columns(name, len(first)))
    cells = [cell.strip() for cell in first]
    header = _is_header(cells, reader) if wishes.header is None else wishes.header
    names = [cell if header and cell else f"column_{i + 1}" for i, cell in enumerate(cells)]
    _check_names(name, names)
    lines = n_lines if header else n_blank
    return Table(name, "csv", names, header, io.BufferedReader(stream), wishes, delimiter, lines)


def _beginning(name: str, stream: _Peeked, wishes: Wishes) -> str:
    """Return the first line of a text, and some more."""
    try:
        "".encode(wishes.encoding)
    except LookupError:
        raise ValueError(f"There is no encoding {wishes.encoding!r}.") from None
    while True:
        try:
            # The last character may be cut off.
            decoder = codecs.getincrementaldecoder(wishes.encoding)()
            text = decoder.decode(stream.head).removeprefix("\ufeff")
        except UnicodeError as error:
            raise ValueError(_other_encoding(name, wishes, str(error))) from None
        if "\0" in text:
            raise ValueError(
                f"{name} should be text, but has zero bytes. Is it another kind of file, or "
                "another encoding, for example utf-16?"
            )
        if re.search(r"[\r\n]", text.lstrip()) or len(stream.head) >= LONGEST_HEADER:
            return text
        if not stream.more():
            return text


def _delimiter(text: str) -> str:
    """Guess what is between columns: what all lines have as often, or else the first has most."""
    lines = [_outside_quotes(line) for line in text.splitlines()[:GUESSED_FROM] if line.strip()]
    # The last one may be cut off.
    lines = lines[:1] + lines[1:-1]

    def regularity(delimiter: str) -> tuple[bool, int]:
        counts = [line.count(delimiter) for line in lines]
        return min(counts) == max(counts), counts[0]

    candidates = [d for d in DELIMITERS if lines and d in lines[0]]
    return max(candidates, key=regularity, default=",")


def _is_header(first: list[str], others: Iterator[list[str]]) -> bool:
    """Guess whether a line holds names.

    Without a number it does. With numbers, which are years perhaps, it does if a column has
    no number there and numbers below.
    """
    if not any(map(_is_number, first)):
        return True
    below: list[list[str]] = []
    with suppress(csv.Error):
        below.extend(islice(others, GUESSED_FROM))
    below = [[cell.strip() for cell in row] for row in below if len(row) == len(first)]
    for cell, *column in zip(first, *below, strict=True):
        values = [value for value in column if value not in MISSING]
        if cell not in MISSING and not _is_number(cell) and values and all(map(_is_number, values)):
            return True
    return False


def _check_names(name: str, names: list[str]) -> None:
    if len(names) > MOST_COLUMNS:
        raise ValueError(_too_many_columns(name, len(names)))
    twice = [column for column, count in Counter(names).items() if count > 1]
    if twice:
        raise ValueError(f"{name} has more than one column named {twice[0]!r}. Rename one of them.")


def _too_many_columns(name: str, n_columns: int) -> str:
    return (
        f"{name} has {n_columns:,} columns, more than the {MOST_COLUMNS:,} that are supported. "
        "Write it as LIBSVM, which holds only what is not zero."
    )


def _other_encoding(name: str, wishes: Wishes, reason: str) -> str:
    return (
        f"{name} is not encoded as {wishes.encoding} ({reason}). Give its encoding, for example "
        "--encoding latin-1 or utf-16."
    )


def _open_parquet(name: str, source: Any, wishes: Wishes) -> Table:
    from pyarrow.parquet import ParquetFile

    try:
        file = ParquetFile(source)
    except (ValueError, OSError) as error:
        raise ValueError(f"{name} is not Parquet, or is broken: {_one_line(error)}") from None
    _check_names(name, file.schema_arrow.names)
    return Table(name, "parquet", file.schema_arrow.names, True, file, wishes)


def _parquet_batches(file, names: list[str], texts: Collection[str]) -> Iterator[Any]:
    import pyarrow as pa

    schema = file.schema_arrow
    for name in names:
        _check_type(schema.field(name))
    for batch in file.iter_batches(PARQUET_ROWS, columns=names):
        yield pa.table({name: _plain(batch[name], name in texts) for name in names})


def _check_type(field) -> None:
    from pyarrow import types

    kind = field.type
    if types.is_dictionary(kind):
        kind = kind.value_type
    binary = (
        types.is_binary(kind) or types.is_large_binary(kind) or types.is_fixed_size_binary(kind)
    )
    if types.is_nested(kind) or binary:
        raise ValueError(
            f"column {field.name!r} should hold numbers or texts, but is of type {field.type}. "
            "Leave it out."
        )


def _plain(column, as_text: bool):
    """Return a column of numbers or texts; true and false are texts, as in CSV."""
    import pyarrow as pa
    import pyarrow.compute as pc
    from pyarrow import types

    if types.is_dictionary(column.type):
        column = column.dictionary_decode()
    kind = column.type
    if types.is_boolean(kind):
        return pc.if_else(column, "True", "False")
    numeric = types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind)
    if numeric and not as_text:
        return column.cast(pa.float64(), safe=False)
    return column.cast(pa.string())


def with_n_features(path: str | Path, wishes: Wishes) -> Wishes:
    """Return wishes that know the number of features of a LIBSVM file, reading it once."""
    if wishes.n_features is not None:
        return wishes
    if str(path) == "-":
        raise ValueError(
            "The number of features has to be given for LIBSVM from standard input, which "
            "cannot be read twice: --features."
        )
    with open_table(path, wishes) as table:
        n_features = max((X.shape[1] for X, _ in table.sparse_chunks(100_000, None)), default=0)
    if n_features > MOST_FEATURES:
        raise ValueError(
            f"{table.name} has a feature number {n_features:,}, more than the {MOST_FEATURES:,} "
            "that are supported. Number the features anew, from 1 on."
        )
    return replace(wishes, n_features=n_features)


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
        import pandas  # noqa: F401
        import pyarrow  # noqa: F401
    except ImportError as error:
        raise ImportError(
            f'{error}. CSV and Parquet need pandas and pyarrow: pip install "bayespoint[files]".'
        ) from error


def regrouped(batches: Iterator[Any], n_rows: int) -> Iterator[Any]:
    """Yield Arrow tables of so many rows, whatever the sizes of those that come."""
    import pyarrow as pa

    held: list[Any] = []
    size = 0
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
