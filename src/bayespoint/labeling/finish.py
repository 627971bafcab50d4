"""The tables that a session ends with: the labeled file, the predicted rest, the answers alone."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from .._runtime.atomic import in_place_of
from .entries import Answer
from .rows import Rows

# Endings of files of rows, and of compressed ones.
ENDINGS = {".csv", ".tsv", ".txt", ".dat", ".parquet", ".pq", ".gz", ".bz2", ".xz"}
# Decimals of a probability.
DECIMALS = 6


def beside(pool: Path, ending: str) -> Path:
    """Return a path beside the pool: `pool.csv.gz` and `journal.csv` give `pool.journal.csv`."""
    name = pool.name
    while Path(name).suffix.lower() in ENDINGS and Path(name).stem:
        name = Path(name).stem
    return pool.with_name(f"{name}.{ending}")


def write_labeled(path: Path, rows: Rows, target: str, labels: Mapping[int, str]) -> None:
    """Write the pool with the target filled in where a label is known."""
    names = rows.table.column_names
    lines = (
        [*cells, labels.get(row, "")] for row, cells in enumerate(_cells(rows, range(len(rows))))
    )
    _write(path, [*names, target], lines)


def write_predicted(path: Path, predictions: Any, is_promised: bool) -> tuple[int, int]:
    """Write a line for each row that the person has not labeled.

    With a promise, rows that it does not cover are refused and have no prediction.

    Returns
    -------
    tuple of int
        Number of rows, and how many of them were answered.
    """
    n_answered = 0
    lines = []
    for row, source in enumerate(predictions.source):
        if source == "person":
            continue
        accepted = bool(predictions.answered[row]) or not is_promised
        n_answered += accepted
        probability = f"{predictions.probability[row]:.{DECIMALS}g}"
        line = [row + 1, predictions.label[row] if accepted else "", probability]
        lines.append([*line, str(accepted).lower()] if is_promised else line)
    names = ["row", "prediction", "probability", *["accepted"] * is_promised]
    _write(path, names, lines)
    return len(lines), n_answered


def write_answers(path: Path, rows: Rows, target: str, answers: Iterable[Answer]) -> int:
    """Write the labeled rows alone, in the order of the file; return their number."""
    known = sorted((a for a in answers if a.label is not None), key=lambda answer: answer.row)
    content = _cells(rows, [answer.row for answer in known])
    lines = (
        [answer.row + 1, answer.label, answer.time, *cells]
        for answer, cells in zip(known, content, strict=True)
    )
    _write(path, ["row", target, "time", *rows.table.column_names], lines)
    return len(known)


def _cells(rows: Rows, numbers: Sequence[int]) -> Iterable[list[str]]:
    """Yield the cells of rows as they are written in the file."""
    for row in numbers:
        yield [rows.cell(row, name) or "" for name in rows.table.column_names]


def _write(path: Path, names: Sequence[str], lines: Iterable[Sequence[Any]]) -> None:
    with in_place_of(path) as file:
        text = io.TextIOWrapper(file, "utf-8", errors="surrogatepass", newline="")
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(names)
        writer.writerows(lines)
        text.detach()  # flushes; the file is closed elsewhere
