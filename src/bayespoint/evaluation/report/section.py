"""The common parts of all sections of a report."""

from __future__ import annotations

from typing import NamedTuple

from ..results import Evaluation
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
