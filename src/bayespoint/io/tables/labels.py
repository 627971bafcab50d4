"""The classes of rows: read them, and refuse what cannot be classes."""

from __future__ import annotations

import numpy as np

from .columns import Columns, as_numbers, as_texts, first_text, known_numbers, not_whole

# A column with more distinct values, or fewer rows for each value, does not hold classes.
MAX_CLASSES = 1000
MIN_ROWS_PER_CLASS = 2


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


def check_classes(y: np.ndarray, target: str) -> None:
    """Refuse values that cannot be classes."""
    classes, counts = np.unique(y, return_counts=True)
    if len(classes) < 2:
        only = f", {str(classes[0])!r}" if len(classes) else ""
        raise ValueError(
            f"The target {target!r} should have two classes or more, but has {len(classes)}{only}."
        )
    if len(classes) > min(MAX_CLASSES, len(y) / MIN_ROWS_PER_CLASS):
        raise ValueError(
            f"The target {target!r} has {len(classes):,} different values in {len(y):,} rows, "
            "which cannot be classes. Is it the right column?"
        )
    if counts.min() < 2:
        rare = classes[counts.argmin()]
        raise ValueError(
            f"Every class should have two rows or more, one to train and one to test with, but "
            f"{str(rare)!r} of {target!r} has one. Leave it out, or find more rows."
        )
