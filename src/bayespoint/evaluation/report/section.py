"""What all sections of a report are made of."""

from __future__ import annotations

from typing import NamedTuple

from ..results import Evaluation
from .markup import Markup, tag
from .words import text

# Classes that are shown at most: a reader who wants more has the data.
MOST_CLASSES = 20


class Section(NamedTuple):
    """A part of the page with a heading."""

    key: str
    heading: str
    content: Markup


def right(cell: object) -> Markup:
    """Return a cell with a number."""
    return tag("td", cell, class_="right")


def answer(figures: Evaluation, position: int) -> str:
    """Return the name of a class."""
    return text(figures.classes[position])
