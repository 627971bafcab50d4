"""The classes of rows: read them, and refuse what cannot be classes."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from .columns import (
    WHOLE_NUMBER,
    Columns,
    as_numbers,
    as_texts,
    first_text,
    has_integers,
    known_numbers,
    not_whole,
)
from .number_format import looks_like_number

# A column with more distinct values, or fewer rows for each value, does not hold classes.
MAX_CLASSES = 1000
MIN_ROWS_PER_CLASS = 2
# So many different numbers are a quantity rather than classes.
MAX_NUMBER_CLASSES = 50


class ClassCounts(NamedTuple):
    """The classes of a table, sorted, and how many rows each has."""

    classes: np.ndarray
    counts: np.ndarray

    @property
    def n_rows(self) -> int:
        """Return the number of rows with a class."""
        return int(self.counts.sum())

    def without(self, classes: np.ndarray) -> ClassCounts:
        """Return the other classes."""
        kept = ~np.isin(self.classes, classes)
        return ClassCounts(self.classes[kept], self.counts[kept])


def count_classes(y: np.ndarray) -> ClassCounts:
    """Return the classes of some rows, and how often they occur."""
    return ClassCounts(*np.unique(y, return_counts=True))


def labels(table, columns: Columns) -> np.ndarray:
    """Return the classes of rows, None or NaN where they are missing."""
    column = table[columns.target]
    if not columns.integers:
        return np.asarray(as_texts(column).to_numpy(), dtype=object)
    numbers = as_numbers(column)
    wrong = [first_text(column)] if numbers is None else not_whole(known_numbers(numbers))
    if len(wrong):
        raise ValueError(
            f"The target {columns.target!r} should hold whole numbers, as in training, but holds "
            f"{str(wrong[0])!r}."
        )
    return numbers.to_numpy()


def whole_labels(y: np.ndarray) -> np.ndarray:
    """Return the numbers in front of rows of LIBSVM as classes."""
    wrong = not_whole(y)
    if len(wrong):
        raise ValueError(
            "The number in front of each row should be its class, a whole number, but one is "
            f"{wrong[0]:g}."
        )
    return y.astype(np.int64)


def known_labels(y: np.ndarray, columns: Columns) -> tuple[np.ndarray, np.ndarray]:
    """Return which rows have a class, and the classes of these rows."""
    known = ~np.isnan(y) if columns.integers else np.array([label is not None for label in y], bool)
    y = y[known].astype(np.int64) if columns.integers else y[known].astype(str)
    return known, y


def check_quantity(found: ClassCounts, target: str, max_classes: int | None = None) -> None:
    """Refuse values that are too many to be classes; the user may allow more of them."""
    classes, n_rows = found.classes, found.n_rows
    if len(classes) > (max_classes or min(MAX_CLASSES, max(n_rows / MIN_ROWS_PER_CLASS, 2))):
        raise ValueError(
            f"The target {target!r} has {len(classes):,} different values in {n_rows:,} rows, "
            "which cannot be classes. Is it the right column?"
        )
    if max_classes is None and len(classes) > MAX_NUMBER_CLASSES and _are_numbers(classes):
        raise ValueError(
            f"The target {target!r} has {len(classes)} different numbers, which is a quantity "
            "rather than classes. Choose another column, or put them into a few classes. If they "
            f"are classes, pass max_classes={len(classes)}."
        )


def _are_numbers(classes: np.ndarray) -> bool:
    if classes.dtype.kind in "iuf":
        return True
    return all(looks_like_number(str(label)) for label in classes)


def find_rare(found: ClassCounts, min_rows: int) -> np.ndarray:
    """Return the classes that have fewer rows than this."""
    return found.classes[found.counts < min_rows]


def check_classes(found: ClassCounts, target: str, *, are_all: bool = True) -> None:
    """Refuse a target with less than two classes, among all rows or the first ones."""
    classes = found.classes
    if len(classes) < 2:
        only = f", {str(classes[0])!r}" if len(classes) else ""
        if not are_all:
            raise ValueError(
                f"The first {found.n_rows:,} rows, which are looked at before the others, should "
                f"have two classes of {target!r} or more, but have {len(classes)}{only}. If the "
                "rows are sorted by class, shuffle them, or look at more: raise --max-time and "
                "--max-memory if they are set."
            )
        raise ValueError(
            f"The target {target!r} should have two classes or more, but has {len(classes)}{only}."
        )


def ask_about_spelling(names: Iterable[str], kind: str = "classes") -> list[str]:
    """Return a question if classes or categories differ in small and capital letters only.

    Examples
    --------
    >>> (question,) = ask_about_spelling(["Yes", "no", "yes"])
    >>> question.split(".")[0]
    "the classes 'Yes' and 'yes' differ in capital letters only, and stay different classes"
    """
    first: dict[str, str] = {}
    for name in map(str, names):
        before = first.setdefault(name.casefold(), name)
        if before != name:
            return [
                f"the {kind} {before!r} and {name!r} differ in capital letters only, and stay "
                f"different {kind}. If they mean the same, write both in the same way"
            ]
    return []


def check_exact(table, columns: Columns) -> None:
    """Refuse classes such as 01 or 1.0 where the rows before had only 1."""
    if columns.integers and not has_integers(table[columns.target]):
        texts = as_texts(table[columns.target]).drop_null().unique().to_pylist()
        odd = next((text for text in texts if not re.match(WHOLE_NUMBER, text)), None)
        if odd is not None:
            raise ValueError(
                f"The target {columns.target!r} should hold whole numbers, as in the rows before, "
                f"but holds {odd!r}. Write all classes in the same way."
            )
