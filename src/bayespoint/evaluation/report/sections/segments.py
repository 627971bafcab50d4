"""Where the model is wrong more often."""

from __future__ import annotations

from ..columns import Table
from ..formatting import interval, percent, several
from ..markup import join, table, tag
from ..section import Section, number_cell
from ..segments import SIGNIFICANCE_LEVEL, Segment, Segments

# Segments in the table.
MAX_SEGMENTS_SHOWN = 10


def segments_section(cells: Table, segments: Segments) -> Section | None:
    """Show segments with more or fewer errors than elsewhere; nothing if none was looked at."""
    found, n_looks = segments
    if not n_looks:
        return None
    looked = (
        f"{several(n_looks, 'segment')} of the rows by the values of one column were compared with "
        "all other rows (Fisher’s exact test, corrected for the number of looks by Holm’s method)."
    )
    if not found:
        content = tag("p", f"Nowhere, as far as these rows can tell. {looked}")
        return Section("segments", "Where it is wrong more often", content)
    rows = [
        [
            join(cells.name(one.column), tag("small", _words(one))),
            tag("td", percent(one.error.value), tag("small", interval(one.error)), class_="right"),
            number_cell(percent(one.elsewhere.value)),
            number_cell(percent(one.expected)),
        ]
        for one in found[:MAX_SEGMENTS_SHOWN]
    ]
    head = ["rows where", "error, interval", "elsewhere", "expected"]
    more = len(found) - MAX_SEGMENTS_SHOWN
    words = (
        "Expected is the error that the model’s own confidence promises there: where it is close, "
        "the model knows that these rows are harder or easier. Only the clearest segment of a "
        "column is shown."
    )
    if more > 0:
        words += f" {several(more, 'column')} more are not shown."
    sure = f"{SIGNIFICANCE_LEVEL:.0%}"
    content = join(
        tag("p", looked, f" The chance that any of these is an accident is at most {sure}."),
        table(head, rows, caption="Segments whose error differs from all other rows"),
        tag("p", words, class_="soft"),
    )
    return Section("segments", "Where it is wrong more often", content)


def _words(one: Segment) -> str:
    return f"{one.values} ({several(one.error.total, 'row')})"
