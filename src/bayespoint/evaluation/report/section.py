"""The common parts of all sections of a report."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ..intervals import share
from ..results import Evaluation
from ..seen import UNKNOWN, SeenRows
from .formatting import text
from .markup import Markup, tag

# Classes that a table shows; a reader who wants more has the data.
MAX_CLASSES = 20


class Section(NamedTuple):
    """A part of the page with a heading."""

    key: str  # its anchor
    heading: str
    content: Markup


def number_cell(content: object) -> Markup:
    """Return a table cell that is aligned to the right."""
    return tag("td", content, class_="right")


def text_cell(content: object) -> Markup:
    """Return a table cell with room for a sentence."""
    return tag("td", content, class_="words")


def class_name(evaluation: Evaluation, position: int) -> str:
    """Return the name of a class."""
    return text(evaluation.classes[position])


def rows_in_words(seen: SeenRows | None) -> str:
    """Say whether the rows trained the model."""
    return UNKNOWN if seen is None else seen.sentence().replace(" %", "%")


def shown_columns(order: Sequence[int], n_shown: int) -> str:
    """Say which of all columns are shown, if these are the first of an order."""
    in_file_order = list(order) == sorted(order)
    which = f"first {n_shown}" if in_file_order else f"{n_shown} most important"
    return f"{which} of {len(order):,} columns"


def upper_limit(evaluation: Evaluation) -> float:
    """Return the one-sided limit of the error: the whole risk is spent on the upper end."""
    two_sided_level = max(2 * evaluation.confidence_level - 1, 0.0)
    return share(evaluation.error.number, evaluation.error.total, two_sided_level).high
