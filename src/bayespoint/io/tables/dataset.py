"""A file or a folder of files of the same columns, in parts that many processes can read."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from ..._runtime.share_done import advance
from .csv_table import CSVTable
from .open_table import STANDARD_INPUT, open_table
from .parquet_table import ParquetTable
from .pieces import CSVPiece, Piece, Stamp, blocks_of, divide_csv, find_ends, parquet_pieces
from .read_options import ReadOptions
from .sniff import COMPRESSED_SUFFIXES, FORMAT_OF_SUFFIX
from .stream import DECOMPRESSORS
from .table import Table, listed

# Formats whose files can be read in parts.
FORMATS = ("csv", "parquet")
# A partition holds at most about this many bytes: a worker holds several copies of a few.
MAX_PARTITION_BYTES = 1 << 25
MIN_PARTITION_BYTES = 1 << 20
# Partitions for each thread, at least, so that no thread waits long for another.
PARTITIONS_PER_THREAD = 4
# Text is about this many times as long as its compressed file.
COMPRESSION = 5

# Applies a function to many arguments, here or on workers, and returns the results in order.
MapTasks = Callable[[Callable[..., Any], Sequence[tuple]], list[Any]]


class File(NamedTuple):
    """A file that was looked into."""

    whole: Piece
    format: str
    columns: list[str]
    strings: set[str]  # columns that are read as strings
    n_rows: float  # an estimate for CSV
    delimiter: str
    metadata: Any  # of Parquet
    notes: list[str]


class Dataset(NamedTuple):
    """Files with the same columns."""

    name: str
    files: list[File]

    @property
    def columns(self) -> list[str]:
        """Return the names of the columns of all files."""
        return list(dict.fromkeys(name for file in self.files for name in file.columns))

    @property
    def strings(self) -> set[str]:
        """Return the columns that are strings in some file, and read as strings from all."""
        return set().union(*(file.strings for file in self.files))

    @property
    def n_rows(self) -> float:
        """Return about how many rows there are."""
        return sum(file.n_rows for file in self.files)

    @property
    def n_bytes(self) -> int:
        """Return the size of all files."""
        return sum(file.whole.stamp.n_bytes for file in self.files)

    def require_columns(self, names: Sequence[str]) -> None:
        """Raise an error if a file lacks one of the columns."""
        for file in self.files:
            missing = [name for name in names if name not in file.columns]
            if missing:
                has = next((_name(f) for f in self.files if missing[0] in f.columns), None)
                others = "" if has is None else f", which {has} has"
                raise ValueError(
                    f"{_name(file)} has no column {missing[0]!r}{others}. All files should have "
                    f"the columns that are used; those of {_name(file)} are: "
                    f"{listed(file.columns)}."
                )

    def partitions(self, n_threads: int, map_tasks: MapTasks) -> list[list[Piece]]:
        """Divide the files into parts of similar size, each made of pieces of files."""
        size = self.n_bytes / (PARTITIONS_PER_THREAD * n_threads)
        n_bytes = int(min(max(size, MIN_PARTITION_BYTES), MAX_PARTITION_BYTES))
        texts = [file.whole for file in self.files if isinstance(file.whole, CSVPiece)]
        blocks = {whole.path: blocks_of(whole, n_bytes) for whole in texts}
        ends = iter(map_tasks(find_ends, [block for some in blocks.values() for block in some]))
        found: list[tuple[Piece, int]] = []
        for file in self.files:
            whole = file.whole
            if file.metadata is not None:
                found += parquet_pieces(whole.path, whole.options, file.metadata, n_bytes)
            elif isinstance(whole, CSVPiece):
                pieces = divide_csv(whole, [next(ends) for _ in blocks[whole.path]])
                found += [(piece, piece.stop - piece.start) for piece in pieces]
            else:
                found.append((whole, whole.stamp.n_bytes))
        return _grouped(found, n_bytes)


def open_dataset(path: str, options: ReadOptions) -> Dataset:
    """Look into a file or all files of a folder."""
    if str(path) == STANDARD_INPUT:
        raise ValueError("Standard input cannot be read by several workers. Give a file or folder.")
    paths, files = _find_files(path), []
    for number, one in enumerate(paths):
        with open_table(one, options) as table:
            files.append(_look_into(one, table, options))
        advance((number + 1) / len(paths), "reading")
    if not Path(path).is_dir():
        return Dataset(files[0].whole.path.rpartition("/")[2], files)
    _require_one_format(path, files)
    return Dataset(Path(path).resolve().name, files)


def _find_files(path: str) -> list[Path]:
    """Return the file, or all files of a folder and the folders inside that can be read."""
    root = Path(path)
    if not root.is_dir():
        return [root]
    # Spark and others write notes about a folder into files that begin like this.
    inside = (p for p in root.rglob("*") if not p.name.startswith((".", "_")) and p.is_file())
    found = sorted(p for p in inside if _format_of(p) in FORMATS)
    if not found:
        raise ValueError(f"The folder {str(path)!r} has no files of CSV or Parquet.")
    return found


def _format_of(path: Path) -> str | None:
    suffixes = [s.lower() for s in path.suffixes if s.lower() not in COMPRESSED_SUFFIXES]
    return FORMAT_OF_SUFFIX.get(suffixes[-1]) if suffixes else None


def _look_into(path: Path, table: Table, options: ReadOptions) -> File:
    """Return what has to be known about a file to divide it."""
    place = str(path.resolve())
    whole = Piece(place, Stamp.of(place), options)
    if isinstance(table, ParquetTable):
        n_rows, metadata = float(table.metadata.num_rows), table.metadata
        columns, strings = list(table.columns or ()), table.strings
        return File(whole, "parquet", columns, strings, n_rows, "", metadata, table.notes)
    if not isinstance(table, CSVTable):
        raise ValueError(
            f"{table.name} is LIBSVM, which is read by one process. Write it as Parquet or CSV, or "
            "train without workers."
        )
    with open(path, "rb") as file:
        beginning = file.read(1 << 16)
    compressed = beginning.startswith(tuple(DECOMPRESSORS))
    line_bytes = len(beginning) / max(beginning.count(b"\n"), 1)
    n_rows = whole.stamp.n_bytes / max(line_bytes, 1) * (COMPRESSION if compressed else 1)
    known = replace(
        options, delimiter=table.delimiter, header=table.has_header, encoding=table.encoding
    )
    whole = replace(whole, options=known)
    # Old files of Macs have no line feeds.
    if table.head is not None and not compressed and (b"\n" in beginning or b"\r" not in beginning):
        head = table.head
        whole = CSVPiece(place, whole.stamp, known, head, len(head), whole.stamp.n_bytes)
    columns = list(table.columns or ())
    return File(whole, "csv", columns, set(columns), n_rows, table.delimiter, None, table.notes)


def _require_one_format(path: str, files: list[File]) -> None:
    first = files[0]
    other = next((file for file in files if file.format != first.format), None)
    if other is not None:
        raise ValueError(
            f"All files of the folder {str(path)!r} should have one format, but "
            f"{_name(first)} is {first.format} and {_name(other)} is {other.format}."
        )


def _name(file: File) -> str:
    return Path(file.whole.path).name


def _grouped(pieces: list[tuple[Piece, int]], n_bytes: int) -> list[list[Piece]]:
    """Put small pieces together, in order, until they are as large as a partition should be."""
    groups: list[list[Piece]] = []
    room = 0
    for piece, size in pieces:
        if not groups or size > room:
            groups.append([])
            room = n_bytes
        groups[-1].append(piece)
        room -= size
    return groups
