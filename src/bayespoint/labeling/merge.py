"""Take over answers from another journal, also if the rows are in another order."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from .entries import Answer
from .rows import Rows


class Merged(NamedTuple):
    """What becomes of the answers of another journal."""

    new: list[Answer]  # with rows of this pool
    conflicts: list[Answer]  # this pool has another answer, which stays
    n_same: int  # this pool has the same answer
    n_lost: int  # the row is not in this pool


def merge(answers: Iterable[Answer], rows: Rows, known: Mapping[int, str | None]) -> Merged:
    """Find the rows of this pool that have the content of the answered rows.

    A row is looked for at its old place, then by its content. Equal rows are taken in order.

    Parameters
    ----------
    answers : iterable of Answer
        Of the other journal.
    rows : Rows
        Of this pool.
    known : mapping
        Answers that this pool already has; None means that the person does not know.
    """
    result = Merged([], [], 0, 0)
    n_same = n_lost = 0
    for answer in _placed(list(answers), rows):
        if answer.row < 0:
            n_lost += 1
        elif answer.row not in known:
            result.new.append(answer)
        elif known[answer.row] == answer.label:
            n_same += 1
        else:
            result.conflicts.append(answer)
    return result._replace(n_same=n_same, n_lost=n_lost)


def _placed(answers: list[Answer], rows: Rows) -> list[Answer]:
    """Return answers with the rows of this pool, -1 if a row is not there."""
    at_home = {a.row: a for a in answers if a.row < len(rows) and rows.key(a.row) == a.key}
    if len(at_home) == len(answers):
        return answers
    places: dict[str, list[int]] = {}
    for row in range(len(rows)):
        if row not in at_home:
            places.setdefault(rows.key(row), []).append(row)
    for equal in places.values():
        equal.reverse()
    placed = []
    for answer in answers:
        if at_home.get(answer.row) is not answer:
            equal = places.get(answer.key, [])
            answer = answer._replace(row=equal.pop() if equal else -1)
        placed.append(answer)
    return placed
