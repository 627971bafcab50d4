"""Promises of a model, in each group, and what the rows of the report say about them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ....classifiers.reject.certificate import Certificate
from ...results import Evaluation, GroupAnswers, Kept, Promise
from ..charts import whisker
from ..formatting import between, level, percent, several, text
from ..markup import Markup, join, table, tag
from ..section import class_name, number_cell, text_cell

# Groups in a table: all if there are so few, otherwise those with the most rows.
MAX_GROUPS_SHOWN = 30
# The scale of the whiskers goes at least up to this share.
MIN_SCALE = 1e-3
CLASS_THAT_COUNTS = {"false positive rate": 0, "false negative rate": 1}
MEANINGS = {
    "error": "wrong answers",
    "false positive rate": "wrong answers to rows of the first class (false positives)",
    "false negative rate": "wrong answers to rows of the second class (false negatives)",
    "cost": "mean cost of an answer",
}


def format_limit(kept: Kept) -> str:
    """Format the limit of a promise: a share or a cost."""
    return f"{kept.limit:.3g}" if kept.name == "cost" else level(kept.limit)


def format_value(kept: Kept) -> str:
    """Format what the rows say about a promise."""
    return f"{kept.value:.3g}" if kept.name == "cost" and kept.n_rows else percent(kept.value)


def promises_table(evaluation: Evaluation) -> Markup | None:
    """Show each promise beside what the rows say; nothing if there is only one about the error."""
    promise = evaluation.promise
    if promise is None or [kept.name for kept in promise.kept] in ([], ["error"]):
        return None
    rows = [
        [
            join(kept.name, _whose(evaluation, kept)),
            number_cell(f"at most {format_limit(kept)}"),
            _value_cell(kept),
            number_cell(f"{kept.n_rows:,} of {evaluation.n_rows:,}"),
            _verdict(kept),
        ]
        for kept in promise.kept
    ]
    head = ["promise", "promised", "on these rows, interval", "rows that count", ""]
    return table(head, rows, caption="Promises about the answers that it gives")


def _whose(evaluation: Evaluation, kept: Kept) -> Markup | None:
    """Say which rows count."""
    if kept.name not in CLASS_THAT_COUNTS:
        return None
    name = class_name(evaluation, CLASS_THAT_COUNTS[kept.name])
    return tag("small", f"wrong answers to “{name}”")


def groups_table(promise: Promise) -> Markup | None:
    """Show who is refused how often, and how the answers of each group keep the promises."""
    groups = promise.groups
    if not groups:
        return None
    shown: Sequence[GroupAnswers] = groups
    if len(groups) > MAX_GROUPS_SHOWN:
        shown = sorted(groups, key=lambda one: -one.n_rows)[:MAX_GROUPS_SHOWN]
    first = promise.kept[0].name if promise.kept else "error"
    top = max([MIN_SCALE, *(one.kept[0].high for one in shown if one.kept and one.error.total)])
    rows = [_group_row(one, promise, top) for one in shown]
    head = ["group", "rows", "refused", f"{first}, interval"]
    # Whiskers take the room that other promises need.
    head += [kept.name for kept in promise.kept[1:]] or [""]
    if any(one.reason for one in shown):
        head.append("why all are refused")
    else:
        rows = [row[:-1] for row in rows]
    more = len(groups) - len(shown)
    words = (
        "The intervals hold in all groups together. Refused are the rows of this report that get "
        "no answer."
    )
    if more:
        words += f" {several(more, 'group')} with fewer rows are not shown."
    return join(
        table(head, rows, caption=f"Who is refused how often, by {text(promise.by)}"),
        tag("p", words, class_="soft"),
    )


def _group_row(one: GroupAnswers, promise: Promise, top: float) -> list:
    refused = 1 - one.error.total / one.n_rows if one.n_rows else np.nan
    cells: list = [text(one.group), number_cell(f"{one.n_rows:,}"), number_cell(percent(refused))]
    if not one.kept or not one.kept[0].n_rows:
        cells += [number_cell("–")] * len(promise.kept) + [tag("td")] * (len(promise.kept) == 1)
    else:
        cells += [_value_cell(kept) for kept in one.kept]
        cells += [_whisker(one.kept[0], top)] * (len(one.kept) == 1)
    return [*cells, text_cell(one.reason)]


def _whisker(kept: Kept, top: float) -> Markup:
    ours = not kept.broken
    return tag("td", whisker(kept.value, kept.low, kept.high, top, ours=ours), class_="whiskers")


def _value_cell(kept: Kept) -> Markup:
    if not kept.n_rows:
        return number_cell("–")
    low_high = between(kept.low, kept.high)
    if kept.name == "cost":
        low_high = f"{kept.low:.3g} to {kept.high:.3g}"
    return tag("td", format_value(kept), tag("small", low_high), class_="right")


def _verdict(kept: Kept) -> str:
    if not kept.n_rows:
        return "no row to judge by"
    if kept.value <= kept.limit:
        return "kept"
    return "more than chance explains" if kept.broken else "more, but chance explains it"


def watched_note(certificate: Certificate | None) -> Markup | None:
    """Say what is known since deployment."""
    if certificate is None:
        return None
    watched = certificate.watched()
    n_answers = sum(one.n_answers for one in watched)
    if not n_answers:
        return tag("p", "Since deployment no answer was compared with its true class yet.")
    n_wrong = sum(one.n_wrong for one in watched)
    counted = (
        f"{several(n_answers, 'answer')} were compared with their true classes, and "
        f"{percent(n_wrong / n_answers)} were wrong. "
    )
    if certificate.holds:
        words = "There is not enough evidence against the promise."
        return tag(
            "div", tag("p", tag("strong", "Since deployment "), counted, words), class_="note"
        )
    broken = [one for one in watched if not one.holds]
    where = ""
    if certificate.by_group:
        names = ", ".join(f"“{text(one.group)}”" for one in broken[:MAX_GROUPS_SHOWN])
        where = f" in {'group' if len(broken) == 1 else 'groups'} {names}"
    sure = level(certificate.confidence_level)
    words = f"The promise does not hold any longer{where}, with {sure} confidence."
    return tag(
        "div", tag("p", tag("strong", "Since deployment "), counted, words), class_="note look"
    )
