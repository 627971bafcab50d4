"""From the labels of rows to positions in the list of classes."""

from __future__ import annotations

import numpy as np

# Labels that an error message quotes.
MAX_QUOTED_LABELS = 5


def class_positions(y, classes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return each row's class as a position, and all classes, the model's classes first."""
    labels = np.asarray(y)
    if labels.ndim != 1 or not len(labels):
        raise ValueError(
            "y should be a column with the true classes of at least one row, but its shape is "
            f"{labels.shape}."
        )
    _check_present(labels)
    position = {label: i for i, label in enumerate(classes.tolist())}
    target = np.array([position.setdefault(label, len(position)) for label in labels.tolist()])
    if (target >= len(classes)).all():
        raise ValueError(
            "y should hold classes that the model knows, which are "
            f"{_quote(classes.tolist())}, but it holds {_quote(list(position)[len(classes) :])}. "
            "Is it the right column, of the right type?"
        )
    if len(position) == len(classes):
        return target, classes
    return target, np.array(list(position), dtype=object)


def is_missing(label) -> bool:
    """Tell whether a label is None, NaN, NaT or pandas' NA (which cannot be compared).

    Examples
    --------
    >>> from bayespoint.evaluation import is_missing
    >>> is_missing(float("nan")), is_missing(""), is_missing(0)
    (True, False, False)
    """
    try:
        return label is None or bool(label != label)
    except TypeError:
        return True


def _check_present(labels: np.ndarray) -> None:
    missing = np.array([is_missing(label) for label in labels])
    if missing.any():
        raise ValueError(
            f"y should hold a class for every row, but it is missing in {missing.sum()} of "
            f"{len(labels)} rows (the first is row {int(missing.argmax())}, counted from 0). "
            "Leave these rows out."
        )


def _quote(labels: list) -> str:
    """List the first labels."""
    more = ", ..." if len(labels) > MAX_QUOTED_LABELS else ""
    return ", ".join(repr(label) for label in labels[:MAX_QUOTED_LABELS]) + more
