"""The data: columns, and classes that the model does not know."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...results import Evaluation
from ..charts import histogram
from ..columns import Table
from ..formatting import percent, several, text
from ..markup import Markup, join, table, tag
from ..section import Section, number_cell, shown_columns, text_cell

# Columns that are summarized; a reader who wants more has the data.
MAX_COLUMNS = 40
# Names of unknown classes that the note quotes.
MAX_QUOTED_CLASSES = 5


def data_section(cells: Table, evaluation: Evaluation, order: Sequence[int]) -> Section:
    """Summarize columns, the first of `order`, and point out unknown classes."""
    content = join(_unknown_classes(evaluation), _columns(cells, order))
    return Section("data", "The data", content)


def _columns(cells: Table, order: Sequence[int]) -> Markup:
    columns = cells.describe(sorted(order[:MAX_COLUMNS]))
    rows = [
        [
            column.name,
            tag("td", histogram(column.bars, f"Histogram of {column.name}")),
            column.kind,
            number_cell(percent(column.n_missing / cells.n_rows) if column.n_missing else "none"),
            text_cell(column.values),
        ]
        for column in columns
    ]
    all_shown = len(columns) == cells.n_columns
    caption = "Columns" if all_shown else f"The {shown_columns(order, MAX_COLUMNS)}"
    return table(["column", "distribution", "kind", "missing", "values"], rows, caption=caption)


def _unknown_classes(evaluation: Evaluation) -> Markup | None:
    """Point out rows of classes that the model cannot answer."""
    n_rows = int(np.count_nonzero(evaluation.target >= evaluation.n_known))
    if not n_rows:
        return None
    unknown = evaluation.classes[evaluation.n_known :][:MAX_QUOTED_CLASSES]
    names = ", ".join(f"“{text(name)}”" for name in unknown)
    words = (
        f"{several(n_rows, 'row')} of classes that the model has never seen ({names}): it cannot "
        "be right there, so they count as errors."
    )
    return tag("div", tag("p", words), class_="note look")
