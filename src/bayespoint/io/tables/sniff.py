"""Guess the format of a file, its delimiter, and whether its first line holds names."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from contextlib import suppress
from itertools import islice
from pathlib import Path

from .missing_values import MISSING_WORDS

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
    return max(candidates, key=regularity, default=",")


def guess_header(first: list[str], others: Iterator[list[str]]) -> bool:
    """Guess whether the cells of the first line are column names.

    They are if none is a number. If some cells are numbers, such as years, they are names if
    another column has a word there and numbers below.
    """
    if not any(map(_is_number, first)):
        return True
    below: list[list[str]] = []
    with suppress(csv.Error):
        below.extend(islice(others, MAX_SNIFFED_LINES))
    below = [[cell.strip() for cell in row] for row in below if len(row) == len(first)]
    for cell, *column in zip(first, *below, strict=True):
        known = [value for value in column if value not in MISSING_WORDS]
        is_word = cell not in MISSING_WORDS and not _is_number(cell)
        if is_word and known and all(map(_is_number, known)):
            return True
    return False


def _without_quoted(line: str) -> str:
    return re.sub(r'"[^"]*"', "", line)


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return text.lower() not in ("nan", "inf", "infinity")
