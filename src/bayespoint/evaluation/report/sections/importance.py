"""Which columns the model uses."""

from __future__ import annotations

from ...importance import Importance
from ..charts import whisker
from ..columns import Table
from ..formatting import percent, several
from ..markup import join, table, tag
from ..section import Section, number_cell

# Columns in the table, if they matter and if none does.
MAX_COLUMNS_SHOWN, MIN_COLUMNS_SHOWN = 15, 3
# Increases below this many standard errors may be chance.
MIN_DEVIATIONS = 2.0
INTRODUCTION = (
    "If the values of a column are shuffled, the model loses what it knows from this column, and "
    "gets worse by as much as the column matters to it. Of two columns that say the same, both "
    "may look unimportant."
)


def importance_section(cells: Table, found: list[Importance] | None) -> Section | None:
    """Show how much worse the model gets if a column is shuffled; nothing if it is not known."""
    if not found:
        return None
    clear = [one for one in found if one.log_loss > MIN_DEVIATIONS * one.deviation]
    shown = clear[:MAX_COLUMNS_SHOWN] or found[:MIN_COLUMNS_SHOWN]
    top = max(1e-6, *(one.log_loss + MIN_DEVIATIONS * one.deviation for one in shown))
    rows = [
        [
            cells.name(one.column),
            tag("td", _bar(one, top), class_="whiskers"),
            number_cell(f"{one.log_loss:+.4f}"),
            number_cell(f"± {MIN_DEVIATIONS * one.deviation:.4f}"),
            number_cell(_points(one.error)),
        ]
        for one in shown
    ]
    head = ["column", "", "log loss", "", "error"]
    content = join(
        tag("p", INTRODUCTION),
        table(
            head, rows, caption="How much worse it gets if a column is shuffled", class_="errors"
        ),
        tag("p", _rest(len(found), len(shown), len(clear)), class_="soft"),
    )
    return Section("importance", "Which columns it uses", content)


def _bar(one: Importance, top: float):
    reach = MIN_DEVIATIONS * one.deviation
    low, high = max(one.log_loss - reach, 0), max(one.log_loss + reach, 0)
    return whisker(max(one.log_loss, 0), low, high, top, ours=True)


def _points(change: float) -> str:
    """Format the change of an error in percentage points."""
    change = round(change, 9)  # a mean of zeros may differ from 0 by rounding
    sign = "" if change == 0 else "+" if change > 0 else "−"
    return f"{sign}{percent(abs(change))}"


def _rest(n_columns: int, n_shown: int, n_clear: int) -> str:
    words = (
        f"{several(n_clear, 'column')} of {n_columns:,} matter more than chance explains (two "
        "standard errors over the rows; about one useless column in 40 looks useful by chance)."
    )
    if n_clear == 1:
        words = words.replace("matter", "matters", 1)
    if n_columns > n_shown:
        words += f" The other {several(n_columns - n_shown, 'column')} are not shown."
    return words
