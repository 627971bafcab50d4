"""Whether the rows look like the rows of the training."""

from __future__ import annotations

from ...drift import Drift
from ..formatting import percent, several, text
from ..markup import join, table, tag
from ..section import Section, number_cell, text_cell

# Columns in the table, and new categories of a column.
MAX_COLUMNS_SHOWN, MAX_CATEGORIES_SHOWN = 10, 5
EXPLANATION = (
    "Moved is the share of rows that would have to take another value to make the column look as "
    "in training (total variation distance); a few percent are chance."
)


def drift_section(found: list[Drift]) -> Section | None:
    """Show columns that differ from training; nothing if the training rows are not known."""
    if not found:
        return None
    moved = [one for one in found if one.drifted or one.new_categories]
    if not moved:
        words = (
            f"Yes: none of {several(len(found), 'column')} differs by more than chance explains "
            "(chi-square tests, corrected for the number of columns by Holm’s method)."
        )
        return Section("drift", "Whether these rows look like the training rows", tag("p", words))
    rows = [
        [
            text(one.column),
            tag("td", percent(one.distance), class_="right"),
            tag("td", "! drifted" if one.drifted else "", class_="verdict look"),
            number_cell(f"{percent(one.missing_before)} → {percent(one.missing_now)}"),
            text_cell(_categories(one.new_categories)),
        ]
        for one in moved[:MAX_COLUMNS_SHOWN]
    ]
    n_drifted = sum(one.drifted for one in moved)
    n_new = sum(bool(one.new_categories) for one in moved)
    words = f"{several(n_drifted, 'column')} of {len(found):,} drifted"
    if n_new:
        words += (
            f"; {n_new:,} {'has' if n_new == 1 else 'have'} categories that training did not have"
        )
    words += "."
    if len(moved) > MAX_COLUMNS_SHOWN:
        words += f" The first {MAX_COLUMNS_SHOWN} are shown."
    head = ["column", "moved", "", "missing, then → now", "new categories"]
    content = join(
        tag("p", words),
        table(head, rows, caption="Columns that differ from training"),
        tag("p", EXPLANATION, class_="soft"),
    )
    return Section("drift", "Whether these rows look like the training rows", content)


def _categories(names: list[str]) -> str:
    shown = ", ".join(f"“{text(name)}”" for name in names[:MAX_CATEGORIES_SHOWN])
    return shown + (", …" if len(names) > MAX_CATEGORIES_SHOWN else "")
