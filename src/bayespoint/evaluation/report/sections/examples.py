"""Rows that a person should look at: confident mistakes and unsure answers."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...results import Evaluation
from ..columns import Table
from ..formatting import percent
from ..markup import Markup, join, table, tag
from ..section import Section, class_name, number_cell, shown_columns

# Columns that are shown of each row.
MAX_EXAMPLE_COLUMNS = 8


def examples_section(
    evaluation: Evaluation, cells: Table, n_examples: int, order: Sequence[int]
) -> Section | None:
    """Show the hardest and the least certain rows, with the first columns of `order`.

    Returns nothing if no examples are wanted.
    """
    if not n_examples:
        return None
    wrong = np.flatnonzero(evaluation.wrong)
    hardest = wrong[np.argsort(-evaluation.confidence[wrong], kind="stable")][:n_examples]
    unsure = np.argsort(evaluation.confidence, kind="stable")[:n_examples]
    names = "Rows are named by their index." if cells.has_labels else "Rows are counted from 1."
    if cells.n_columns > MAX_EXAMPLE_COLUMNS:
        names += f" The {shown_columns(order, MAX_EXAMPLE_COLUMNS)} are shown."
    shown = sorted(order[:MAX_EXAMPLE_COLUMNS])
    content = join(
        tag("p", "Confident mistakes of the model are often mistakes in the data. ", names),
        _rows(evaluation, cells, shown, hardest, "Wrong, with the greatest confidence")
        if len(hardest)
        else tag("p", "No row is answered wrongly."),
        _rows(evaluation, cells, shown, unsure, "Least certain"),
    )
    return Section("examples", "Rows to look at", content)


def _rows(
    evaluation: Evaluation, cells: Table, shown: list[int], chosen: np.ndarray, caption: str
) -> Markup:
    head = ["row", "true class", "answer", "confidence", *(cells.name(j) for j in shown)]
    rows = [
        [
            cells.row_name(i),
            class_name(evaluation, evaluation.target[i]),
            class_name(evaluation, evaluation.predicted[i]),
            number_cell(percent(evaluation.confidence[i])),
            *(cells.cell(i, j) for j in shown),
        ]
        for i in map(int, chosen)
    ]
    return table(head, rows, caption=caption, class_="examples")
