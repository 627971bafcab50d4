"""CSV: text with a delimiter between columns, and perhaps names in the first line."""

from __future__ import annotations

import atexit
import codecs
import csv
import io
import re
import time
from collections.abc import Collection, Generator, Iterator
from contextlib import contextmanager, suppress
from itertools import islice
from typing import Any

from .aside import aside
from .encodings import UTF8
from .read_options import ReadOptions
from .sniff import (
    declared_delimiter,
    first_rows,
    guess_delimiter,
    guess_header,
    name_columns,
)
from .stream import PeekedStream
from .table import Table, check_n_columns, check_names, one_line

# Parse this many bytes at a time; no row may be longer.
BLOCK_BYTES = 1 << 22
# A file without a line end in this many bytes is not CSV.
MAX_HEADER_BYTES = 1 << 24
# Wait so long until Arrow's thread has met the end of a file that nobody reads on, and until it has
# left Python then.
LAST_READ_SECONDS, LAST_STEP_SECONDS = 0.5, 0.01
LINE_END = r"\r\n|\r|\n"
# psql draws a line below the names, and says below the rows how many there are.
RULE = r"-+(?:\+-+)+"
_OTHER_LENGTH = re.compile(r"Expected (\d+) columns, got (\d+): (.*)")
FOOTER = r"\(\d+ (?:rows?|Zeilen?|lignes?|filas?)\)"


class CSVTable(Table):
    """An open CSV file."""

    format = "csv"

    def __init__(self, name: str, stream: PeekedStream, options: ReadOptions):
        super().__init__(name, io.BufferedReader(stream))
        self._n_parsed = 0  # bytes
        self._is_waiting = False
        self._options = options
        self.encoding = options.encoding or UTF8
        text = _decode_head(name, stream, self.encoding)
        stripped = _without_blank_lines(text)
        declared = declared_delimiter(stripped)
        if declared:
            stripped = _without_blank_lines(stripped.partition("\n")[2])
        # Arrow needs the number of lines before the first row to skip them.
        n_skipped = len(re.findall(LINE_END, text[: len(text) - len(stripped)]))
        self.delimiter = options.delimiter or declared or guess_delimiter(stripped)
        # A quoted name may contain a line end.
        reader = csv.reader(
            io.StringIO(stripped, newline=""), delimiter=self.delimiter, strict=True
        )
        cells = _first_row(name, reader)
        n_header_lines = reader.line_num
        check_n_columns(name, len(cells))  # before more is done for each
        below = first_rows(reader)
        if below and len(below[0]) == 1 and re.fullmatch(RULE, below[0][0]):
            n_header_lines += 1  # psql underlines the names
            del below[0]
        # The last row may be cut off, unless it is the only one.
        below = below[:-1] or below
        self.has_header = guess_header(cells, below) if options.header is None else options.header
        names = cells if self.has_header else [""] * len(cells)
        self.columns = name_columns(names, below if self.has_header else [])
        check_names(name, self.columns)
        self._n_skipped_lines = n_skipped + n_header_lines * self.has_header

    @property
    def head(self) -> bytes | None:
        """Return the bytes before the first row; None if a line end is not one byte."""
        if "\n".encode(self.encoding) != b"\n":
            return None
        beginning = self._stream.raw.head
        lines = re.finditer(LINE_END.encode(), beginning)
        ends = [0, *(line.end() for line in islice(lines, self._n_skipped_lines))]
        # A file of nothing but names may have no line end.
        return beginning[: ends[-1]] if len(ends) > self._n_skipped_lines else beginning

    def share_read(self) -> float | None:
        """Return the share of the file whose rows were returned; None if it is not known."""
        return self._stream.raw.share_of_file(self._n_parsed)

    def _batches(self, names: list[str], texts: Collection[str]) -> Iterator[Any]:
        # A thread of Arrow reads, and Ctrl-C would wait with it for a pipe that is silent.
        read = self._read(names)
        return read if self._stream.raw.is_file else self._read_aside(read)

    def _read_aside(self, batches: Generator[Any, None, None]) -> Iterator[Any]:
        """Yield batches of a pipe; Ctrl-C ends this at any time."""
        self._is_waiting = True
        yield from aside(batches)
        self._is_waiting = False

    def close(self) -> None:
        """Close the file, unless a thread may wait for a pipe: then this would wait, too."""
        if not self._is_waiting:
            super().close()

    def _read(self, names: list[str]) -> Generator[Any, None, None]:
        import pyarrow as pa
        from pyarrow import csv as arrow_csv

        reader = arrow_csv.open_csv(
            self._stream,
            arrow_csv.ReadOptions(
                block_size=BLOCK_BYTES,
                column_names=self.columns,
                skip_rows=self._n_skipped_lines,
                encoding=self.encoding,
            ),
            arrow_csv.ParseOptions(
                delimiter=self.delimiter, newlines_in_values=True, invalid_row_handler=_skip_footer
            ),
            arrow_csv.ConvertOptions(
                column_types=dict.fromkeys(names, pa.string()), include_columns=names
            ),
        )
        with _stopped_in_the_end(reader, self._stream.raw):
            for batch in reader:
                self._n_parsed += BLOCK_BYTES
                yield pa.Table.from_batches([batch])

    def _header_advice(self) -> str:
        if self._options.header is not None:
            return ""
        if self.has_header:
            return " (If the first line holds no column names, pass header=False.)"
        return " (The first line seems to hold no column names. If it does, pass header=True.)"

    def _explain(self, error: Exception) -> str:
        message = one_line(error)
        if isinstance(error, UnicodeDecodeError) or "invalid UTF8" in message:
            reason = getattr(error, "reason", "invalid bytes")
            return _wrong_encoding("the file", self.encoding, reason)
        if "straddl" in message:
            return (
                f"a row is longer than {BLOCK_BYTES >> 20} MB, or a quote is opened and never "
                "closed. Correct the file."
            )
        if found := _OTHER_LENGTH.search(message):
            return (
                f"a row has {found[2]} values instead of {found[1]}: {found[3]!r}. Correct it: "
                "put quotes around values that hold the delimiter, and close every quote."
            )
        return message


@contextmanager
def _stopped_in_the_end(reader: Any, stream: PeekedStream) -> Iterator[None]:
    """Leave no thread that reads: Python would crash or hang if it shuts down meanwhile."""

    def stop() -> None:
        stream.end()
        if stream.is_file:  # a read from a pipe may never return
            with suppress(Exception):
                for _ in reader:
                    pass
            # A row that is cut off ends the reader, but not yet the thread that reads ahead.
            if stream.at_end.wait(LAST_READ_SECONDS):
                time.sleep(LAST_STEP_SECONDS)

    # Who asked for rows may keep the iterator until the end, without reading all.
    atexit.register(stop)
    try:
        yield
    except BaseException:
        stop()
        raise
    finally:
        atexit.unregister(stop)


def _without_blank_lines(text: str) -> str:
    """Return a text from its first line that is not blank."""
    return re.sub(rf"\A(?:[^\S\r\n]*(?:{LINE_END}))+", "", text)


def _decode_head(name: str, stream: PeekedStream, encoding: str) -> str:
    """Return the beginning of a text, at least its first line."""
    try:
        "".encode(encoding)
    except LookupError:
        raise ValueError(f"There is no encoding {encoding!r}.") from None
    while True:
        try:
            # Incrementally, because the last character may be cut off.
            decoder = codecs.getincrementaldecoder(encoding)()
            text = decoder.decode(stream.head).removeprefix("\ufeff")
        except UnicodeError as error:
            raise ValueError(_wrong_encoding(name, encoding, str(error))) from None
        if "\0" in text:
            raise ValueError(
                f"{name} should be text, but has zero bytes. Is it another kind of file, or does "
                "it have another encoding, for example utf-16?"
            )
        has_line = re.search(r"[\r\n]", text.lstrip()) is not None
        if has_line or len(stream.head) >= MAX_HEADER_BYTES or not stream.extend_head():
            return text


def _skip_footer(row: Any) -> str:
    """Skip the line of psql that counts the rows; other lines of a wrong length are errors."""
    return "skip" if re.fullmatch(FOOTER, row.text.strip()) else "error"


def _first_row(name: str, reader: Any) -> list[str]:
    try:
        return [cell.strip() for cell in next(reader)]
    except (csv.Error, StopIteration) as error:
        raise ValueError(
            f"The first line of {name} cannot be read: {str(error) or 'it is empty'}. Is it a "
            "table?"
        ) from None


def _wrong_encoding(name: str, encoding: str, reason: str) -> str:
    return (
        f"{name} is not encoded as {encoding} ({reason}). Pass its encoding, for example "
        'encoding="latin-1" or encoding="utf-16".'
    )
