"""Lines about groups of rows: who is refused how often, and why."""

from __future__ import annotations

from collections.abc import Sequence

from ..evaluation.results import Promise
from .terminal import aligned, percent

# All groups are shown if there are so few, otherwise those with the most rows.
MAX_GROUPS_SHOWN = 20


def group_lines(groups: Sequence[tuple[str, int, int, str]]) -> list[str]:
    """Return a table of groups: name, rows, answered rows, and why all are refused."""
    rows = [
        (f"  {name}", f"{n_rows:,}", _refused(n_rows, n_answered), _because(reason))
        for name, n_rows, n_answered, reason in _largest(groups, lambda one: one[1])
    ]
    head = ("  group", "rows", "refused", "")
    return [*aligned([head, *rows]), *_others(len(groups))] if groups else []


def promise_lines(promise: Promise) -> list[str]:
    """Return lines about promises other than the error of all answers, as far as there are any."""
    lines = [
        f"  {kept.name}: {_value(kept)} (promised: at most {kept.limit:.3g})"
        + (", more than chance explains" if kept.broken else "")
        for kept in promise.kept
        if kept.name != "error"
    ]
    if not promise.groups:
        return lines
    rows = [
        (
            f"  {one.group}",
            f"{one.n_rows:,}",
            _refused(one.n_rows, one.error.total),
            f"{one.error.number:,}",
            percent(one.error.value) if one.error.total else "-",
            _because(one.reason),
            "broken: more than chance explains" if any(k.broken for k in one.kept) else "",
        )
        for one in _largest(promise.groups, lambda one: one.n_rows)
    ]
    head = ("  group", "rows", "refused", "wrong", "error")
    table = aligned([head, *rows])
    return [*lines, "", f"By {promise.by}:", *table, *_others(len(promise.groups))]


def _largest(groups: Sequence, n_rows) -> list:
    if len(groups) <= MAX_GROUPS_SHOWN:
        return list(groups)
    return sorted(groups, key=lambda one: -n_rows(one))[:MAX_GROUPS_SHOWN]


def _others(n_groups: int) -> list[str]:
    more = n_groups - MAX_GROUPS_SHOWN
    return [f"  and {more:,} more with fewer rows"] if more > 0 else []


def _refused(n_rows: int, n_answered: int) -> str:
    return percent(1 - n_answered / n_rows) if n_rows else "-"


def _because(reason: str) -> str:
    return f"({reason})" if reason else ""


def _value(kept) -> str:
    if not kept.n_rows:
        return "no row to judge by"
    return f"{kept.value:.3g}" if kept.name == "cost" else percent(kept.value)
