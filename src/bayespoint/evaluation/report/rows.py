"""Sections on the data: columns, classes, and rows to look at."""

from __future__ import annotations

import numpy as np

from ..results import Evaluation
from . import charts
from .columns import Table
from .markup import Markup, join, table, tag
from .section import MOST_CLASSES, Section, answer, right
from .words import percent, several, text

# Columns that are shown at most: a reader who wants more has the data.
MOST_COLUMNS = 40
MOST_EXAMPLE_COLUMNS = 15


def data(cells: Table, figures: Evaluation) -> Section:
    """Summarize the columns."""
    columns = cells.describe(MOST_COLUMNS)
    rows = [
        [
            column.name,
            tag("td", charts.histogram(column.bars, f"Histogram of {column.name}")),
            column.kind,
            right(percent(column.n_missing / cells.n_rows) if column.n_missing else "none"),
            tag("td", column.words, class_="words"),
        ]
        for column in columns
    ]
    more = cells.n_columns - len(columns)
    shown = "Columns" if not more else f"The first {len(columns)} of {cells.n_columns:,} columns"
    counts = np.bincount(figures.target, minlength=len(figures.classes))
    order = np.argsort(-counts, kind="stable")[:MOST_CLASSES]
    classes = [
        [answer(figures, i), right(f"{counts[i]:,}"), right(percent(counts[i] / figures.n_rows))]
        for i in order
    ]
    return Section(
        "data",
        "The data",
        join(
            table(["column", "distribution", "kind", "missing", "values"], rows, caption=shown),
            table(
                ["class", tag("span", "rows"), "share"],
                classes,
                caption="Classes"
                if len(order) == len(counts)
                else f"The {len(order)} most frequent of {len(counts):,} classes",
            ),
            _unknown(figures),
        ),
    )


def _unknown(figures: Evaluation) -> Markup | None:
    """Say that there are classes which the model cannot answer."""
    n_rows = int(np.count_nonzero(figures.target >= figures.n_known))
    if not n_rows:
        return None
    names = ", ".join(f"“{text(name)}”" for name in figures.classes[figures.n_known :][:5])
    return tag(
        "div",
        tag(
            "p",
            f"{several(n_rows, 'row')} of classes that the model has never seen ({names}): it "
            "cannot be right there. They count as errors.",
        ),
        class_="note look",
    )


def examples(figures: Evaluation, cells: Table, n_examples: int) -> Section | None:
    """Show rows that a person should look at."""
    if not n_examples:
        return None
    wrong = np.flatnonzero(figures.wrong)
    hardest = wrong[np.argsort(-figures.confidence[wrong], kind="stable")][:n_examples]
    unsure = np.argsort(figures.confidence, kind="stable")[:n_examples]
    named = (
        "Rows have the names of their index." if cells.has_labels else "Rows are counted from 1."
    )
    if cells.n_columns > MOST_EXAMPLE_COLUMNS:
        named += f" The first {MOST_EXAMPLE_COLUMNS} of {cells.n_columns:,} columns are shown."
    return Section(
        "examples",
        "Rows to look at",
        join(
            tag(
                "p", "Mistakes of which the model was sure often are mistakes in the data. ", named
            ),
            _rows(figures, cells, hardest, "Wrong, with the greatest confidence")
            if len(hardest)
            else tag("p", "No row is answered wrongly."),
            _rows(figures, cells, unsure, "Least certain"),
        ),
    )


def _rows(figures: Evaluation, cells: Table, chosen: np.ndarray, told: str) -> Markup:
    shown = range(min(cells.n_columns, MOST_EXAMPLE_COLUMNS))
    head = ["row", "true class", "answer", "confidence", *(cells.name(j) for j in shown)]
    rows = [
        [
            cells.row_name(i),
            answer(figures, figures.target[i]),
            answer(figures, figures.predicted[i]),
            right(percent(figures.confidence[i])),
            *(cells.cell(i, j) for j in shown),
        ]
        for i in map(int, chosen)
    ]
    return table(head, rows, caption=told, class_="examples")
