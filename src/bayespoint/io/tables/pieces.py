"""Pieces of files that can be read apart: blocks of CSV, groups of rows of Parquet."""

from __future__ import annotations

import io
import os
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from .csv_table import CSVTable
from .open_table import open_table
from .parquet_table import ParquetTable
from .read_options import ReadOptions
from .stream import DAMAGED_FILE_ERRORS, PeekedStream
from .table import Table, damaged

QUOTE, LINE_END = ord('"'), ord("\n")


class Stamp(NamedTuple):
    """Size and time of a file, which tell whether it has changed."""

    n_bytes: int
    changed_ns: int

    @classmethod
    def of(cls, path: str) -> Stamp:
        """Return the stamp of a file as it is now."""
        found = os.stat(path)
        return cls(found.st_size, found.st_mtime_ns)


@dataclass(frozen=True)
class Piece:
    """A part of a file that any process can read; this one is the whole file.

    Attributes
    ----------
    path : str
        The file, from the root, because processes have different working folders.
    stamp : Stamp
        What the file was like when it was divided.
    options : ReadOptions
        How to read it, nothing left to guess for a part of CSV.
    """

    path: str
    stamp: Stamp
    options: ReadOptions

    def read(self, names: Sequence[str], texts: Collection[str]) -> Any:
        """Return the rows as an Arrow table: texts as strings, other columns as in the file."""
        import pyarrow as pa

        self._require_same()
        try:
            with self._open() as table:
                batches = list(table.batches(names, texts))
        except DAMAGED_FILE_ERRORS as error:
            raise ValueError(damaged(self.path, error)) from None
        finally:
            self._require_same()  # it explains errors, too
        if not batches:
            return pa.table({name: pa.array([], pa.string()) for name in names})
        return pa.concat_tables(batches)

    def _open(self) -> Table:
        return open_table(self.path, self.options)

    def _require_same(self) -> None:
        """Raise an error if the file has changed since it was divided."""
        try:
            now = Stamp.of(self.path)
        except OSError as error:
            raise ValueError(
                f"{self.path} cannot be read any more, or not on every worker "
                f"({error.strerror}). All workers need the file in the same place."
            ) from None
        if now != self.stamp:
            raise ValueError(
                f"{self.path} was changed while it was read ({self.stamp.n_bytes:,} bytes before, "
                f"{now.n_bytes:,} now). Train again when it is complete."
            )


@dataclass(frozen=True)
class ParquetPiece(Piece):
    """Some groups of rows, or rows inside one large group."""

    groups: tuple[int, ...]
    rows: tuple[int, int] | None = None  # begin and end inside the group; None for all

    def _open(self) -> Table:
        return ParquetTable(Path(self.path).name, self.path, self.groups, self.rows)


@dataclass(frozen=True)
class CSVPiece(Piece):
    """Bytes of a file from the beginning of a row to the end of another."""

    head: bytes  # before the first row
    start: int
    stop: int

    def read(self, names: Sequence[str], texts: Collection[str]) -> Any:
        """Return the rows as an Arrow table of strings."""
        import pyarrow as pa

        if not self._bytes().strip():
            self._require_same()
            return pa.table({name: pa.array([], pa.string()) for name in names})
        return super().read(names, texts)

    def _bytes(self) -> bytes:
        try:
            with open(self.path, "rb") as file:
                file.seek(self.start)
                return file.read(self.stop - self.start)
        except OSError:
            self._require_same()
            raise

    def _open(self) -> Table:
        name = Path(self.path).name
        name = name if self.start <= len(self.head) else f"{name}, from byte {self.start:,}"
        stream = PeekedStream(io.BytesIO(self.head + self._bytes()))
        return CSVTable(name, stream, self.options)


class Ends(NamedTuple):
    """Where rows may end in a range of bytes.

    A line end inside quotes does not end a row, and only the ranges before tell whether this one
    begins inside quotes: so there is an answer for both cases, None if no row ends here.
    """

    n_quotes: int
    first: tuple[int | None, int | None]  # the byte after; if the range begins outside, inside


def find_ends(path: str, start: int, stop: int) -> Ends:
    """Return where the first row ends in a range of bytes of a CSV file."""
    with open(path, "rb") as file:
        file.seek(start)
        data = np.frombuffer(file.read(stop - start), np.uint8)
    quotes, lines = np.flatnonzero(data == QUOTE), np.flatnonzero(data == LINE_END)
    inside = np.searchsorted(quotes, lines) % 2

    def first_with(value: int) -> int | None:
        found = np.flatnonzero(inside == value)
        return int(lines[found[0]]) + 1 + start if len(found) else None

    return Ends(len(quotes), (first_with(0), first_with(1)))


def blocks_of(whole: CSVPiece, n_bytes: int) -> list[tuple[str, int, int]]:
    """Return ranges of bytes of about this size; they need not begin or end with a row."""
    n_blocks = max(round((whole.stop - whole.start) / n_bytes), 1)
    marks = np.linspace(whole.start, whole.stop, n_blocks + 1).astype(int).tolist()
    return [(whole.path, *both) for both in pairwise(marks)]


def divide_csv(whole: CSVPiece, ends: Sequence[Ends]) -> list[CSVPiece]:
    """Return pieces that begin and end with rows, from the ends of rows in all blocks."""
    cuts, n_quotes = [whole.start], 0
    for number, found in enumerate(ends):
        cut = found.first[n_quotes % 2]
        cuts += [cut] if number and cut is not None else []
        n_quotes += found.n_quotes
    both = zip(cuts, [*cuts[1:], whole.stop], strict=True)
    return [replace(whole, start=start, stop=stop) for start, stop in both if stop > start]


def parquet_pieces(
    path: str, options: ReadOptions, metadata, n_bytes: int
) -> Iterator[tuple[Piece, int]]:
    """Yield pieces of a Parquet file, of at most about this many bytes, and their sizes."""
    stamp, n_held = Stamp.of(path), 0
    held: list[int] = []
    for number in range(metadata.num_row_groups):
        group = metadata.row_group(number)
        # Compressed values can be much smaller in the file than in memory.
        size = max(group.total_byte_size, 8 * group.num_rows * group.num_columns)
        if held and n_held + size > n_bytes:
            yield ParquetPiece(path, stamp, options, tuple(held)), n_held
            held, n_held = [], 0
        if size > n_bytes:
            n_parts = -(-size // n_bytes)
            marks = np.linspace(0, group.num_rows, n_parts + 1).astype(int).tolist()
            for rows in pairwise(marks):
                yield ParquetPiece(path, stamp, options, (number,), rows), size // n_parts
            continue
        held, n_held = [*held, number], n_held + size
    if held:
        yield ParquetPiece(path, stamp, options, tuple(held)), n_held
