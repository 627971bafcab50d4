"""Which texts can be labels."""

from __future__ import annotations

from collections.abc import Iterable

from ..io.tables.missing_values import MISSING_WORDS

MAX_LABEL_CHARACTERS = 200


class LabelError(ValueError):
    """A text that cannot be a label, and why."""


def check_label(text: str, classes: Iterable[str]) -> str:
    """Return a label without blanks around it, or raise an error that says what is wrong."""
    label, classes = text.strip(), [str(name) for name in classes]
    if label in classes:
        return label
    if label in MISSING_WORDS:
        shown = f"{label!r} stands for a missing value" if label else "It is empty"
        raise LabelError(f"A class needs a name. {shown}.")
    if len(label) > MAX_LABEL_CHARACTERS:
        raise LabelError(f"The name of a class has at most {MAX_LABEL_CHARACTERS} characters.")
    if not label.isprintable():
        raise LabelError("The name of a class should be one line of ordinary characters.")
    for name in classes:
        if name.casefold() == label.casefold():
            raise LabelError(f"There is a class “{name}” already, which differs in capitals only.")
    return label
