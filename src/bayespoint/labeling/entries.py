"""Lines of a journal: CSV with one action each, which anybody can read.

The first lines are facts about the session (which file, which target, which seed); a line `begin`
ends them. Then come the actions of the person, in order, and of the session: `use` means that it
now learns from a row that was a blind test before. Rows are counted from 1, as on the page.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from typing import NamedTuple

COLUMNS = ("time", "action", "row", "key", "label", "mark")
HEADER = ",".join(COLUMNS) + "\n"
FACTS = ("pool", "sha256", "n_rows", "target", "seed", "max_error", "confidence_level", "version")
BEGIN, CLASS = "begin", "class"
LABEL, UNKNOWN, SKIP, UNDO, USE = "label", "unknown", "skip", "undo", "use"
ACTIONS = (LABEL, UNKNOWN, SKIP, UNDO, USE)


class Entry(NamedTuple):
    """One line of a journal. Rows are counted from 0 here, and from 1 in the file."""

    time: str
    action: str
    row: int | None = None
    key: str = ""  # a hash of the row's content
    label: str = ""
    mark: str = ""  # a word of the session, for when it is replayed


class Answer(NamedTuple):
    """What a person finally said about a row."""

    row: int
    key: str
    label: str | None  # None: the person does not know
    time: str


def now() -> str:
    """Return the time in UTC, to the millisecond."""
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def to_line(entry: Entry) -> bytes:
    """Return an entry as a line of CSV, with its end of line."""
    out = io.StringIO()
    row = "" if entry.row is None else entry.row + 1
    csv.writer(out, lineterminator="\n").writerow(entry._replace(row=row))  # type: ignore[arg-type]
    return out.getvalue().encode()


def from_lines(content: bytes, name: str) -> Iterator[Entry]:
    """Yield the entries of a journal; a last line without an end was never finished.

    Raises
    ------
    ValueError
        If the content is no journal, or a line before the last one is damaged.
    """
    head, end, rest = content.partition(b"\n")
    if not end:
        rest = b""
    if end and head.decode("utf-8-sig", "replace").strip() != HEADER.strip():
        raise ValueError(
            f"{name} is not a journal of bayespoint label: its first line should be "
            f"{HEADER.strip()!r}. Give another file with --journal."
        )
    complete = rest[: rest.rfind(b"\n") + 1]
    for number, line in enumerate(complete.splitlines(), start=2):
        try:
            yield _entry(next(csv.reader([line.decode()], strict=True)))
        except (ValueError, StopIteration, csv.Error):
            raise ValueError(
                f"Line {number} of {name} is damaged: {line[:60]!r}. Repair or remove it; the "
                "other lines are as they were."
            ) from None


def _entry(cells: list[str]) -> Entry:
    time, action, row, key, label, mark = cells
    if action in ACTIONS:
        return Entry(time, action, _position(row), key, label, mark)
    if row or action not in (*FACTS, BEGIN, CLASS):
        raise ValueError
    return Entry(time, action, None, key, label)


def _position(row: str) -> int:
    position = int(row) - 1
    if position < 0:
        raise ValueError
    return position


def final_answers(entries: Iterable[Entry]) -> dict[int, Answer]:
    """Return what was said last about each row, without what was taken back."""
    done: list[Entry] = []
    for entry in entries:
        if entry.action == UNDO:
            if done:
                done.pop()
        elif entry.action in (LABEL, UNKNOWN, SKIP):
            done.append(entry)
    answers: dict[int, Answer] = {}
    for entry in done:
        if entry.row is not None and entry.action != SKIP:
            answers.pop(entry.row, None)  # in order of the last answer
            label = None if entry.action == UNKNOWN else entry.label
            answers[entry.row] = Answer(entry.row, entry.key, label, entry.time)
    return answers
