"""Guess the format of a file, its delimiter, and whether its first line holds names."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from contextlib import suppress
from itertools import islice
from pathlib import Path

from .missing_values import MISSING_WORDS
from .number_format import looks_like_number

FORMAT_OF_SUFFIX = {
    **dict.fromkeys((".csv", ".tsv"), "csv"),
    **dict.fromkeys((".parquet", ".pq"), "parquet"),
    **dict.fromkeys((".libsvm", ".svmlight", ".svm"), "libsvm"),
}
COMPRESSED_SUFFIXES = (".gz", ".bz2", ".xz")
PARQUET_MAGIC = b"PAR1"
DELIMITERS = ",\t;|"
# Guess the delimiter and the header from this many lines.
MAX_SNIFFED_LINES = 20


def guess_format(head: bytes, path: str | Path) -> str:
    """Guess the format from Parquet's first bytes, the suffix, or the first line."""
    if head.startswith(PARQUET_MAGIC):
        return "parquet"
    suffixes = [suffix.lower() for suffix in Path(path).suffixes]
    if suffixes and suffixes[-1] in COMPRESSED_SUFFIXES:
        suffixes.pop()
    if suffixes and suffixes[-1] in FORMAT_OF_SUFFIX:
        return FORMAT_OF_SUFFIX[suffixes[-1]]
    first = next((line for line in head.splitlines() if line.split(b"#")[0].strip()), b"")
    return "libsvm" if re.match(rb"\s*[-+.\deE]+(\s+\d+:\S+)+\s*(#.*)?$", first) else "csv"


def declared_delimiter(text: str) -> str | None:
    """Return the delimiter that Excel writes in a line of its own before the table."""
    match = re.match(r'"?sep=(.)"?\r?\n', text)
    return match[1] if match else None


def guess_delimiter(text: str) -> str:
    """Guess the delimiter: equally often in all lines, or else most often in the first."""
    lines = [
        _without_quoted(line) for line in text.splitlines()[:MAX_SNIFFED_LINES] if line.strip()
    ]
    # The last line may be cut off.
    lines = lines[:1] + lines[1:-1]

    def regularity(delimiter: str) -> tuple[bool, int]:
        counts = [line.count(delimiter) for line in lines]
        return min(counts) == max(counts), counts[0]

    candidates = [d for d in DELIMITERS if lines and d in lines[0]]
    others = [d for d in candidates if d != "," and regularity(d)[0]]
    if others and not any(re.search(r"(?<!\d),|,(?!\d)", line) for line in lines):
        candidates = others  # all commas are decimal marks
    if not candidates and _has_spaces_between(lines):
        return " "
    return max(candidates, key=regularity, default=",")


def _has_spaces_between(lines: list[str]) -> bool:
    """Tell whether all lines have the same number of single spaces; R has one less in the first."""
    counts = [line.strip().count(" ") for line in lines]
    same = len(counts) > 1 and min(counts[1:]) == max(counts[1:]) > 0
    return same and counts[0] in (counts[1], counts[1] - 1) and not any("  " in x for x in lines)


def name_columns(first: list[str], below: list[list[str]]) -> list[str]:
    """Return names for all columns, also if rows have one cell more than the first line.

    R does not name the column of row names, and some programs end rows with a delimiter.
    """
    named = [cell or f"column_{i + 1}" for i, cell in enumerate(first)]
    if not below or any(len(row) != len(first) + 1 for row in below):
        return named
    if not any(row[-1].strip() for row in below):
        return [*named, f"column_{len(named) + 1}"]
    return ["row_name", *named]


def guess_header(first: list[str], below: list[list[str]]) -> bool:
    """Guess whether the cells of the first line are column names.

    They are if none is a number. If some cells are numbers, such as years, they are names if
    another column has a word there and numbers below.
    """
    if not any(map(looks_like_number, first)):
        return True
    below = [[cell.strip() for cell in row] for row in below if len(row) == len(first)]
    for cell, *column in zip(first, *below, strict=True):
        known = [value for value in column if value not in MISSING_WORDS]
        is_word = cell not in MISSING_WORDS and not looks_like_number(cell)
        if is_word and known and all(map(looks_like_number, known)):
            return True
    return False


def first_rows(reader: Iterator[list[str]]) -> list[list[str]]:
    """Return the first rows below the header, as many as can be read."""
    below: list[list[str]] = []
    with suppress(csv.Error):
        below.extend(islice(reader, MAX_SNIFFED_LINES))
    return below


def _without_quoted(line: str) -> str:
    return re.sub(r'"[^"]*"', "q", line)
