"""bayespoint check: say what each column of a file is, and what will be done with it."""

from __future__ import annotations

import shutil
import textwrap
from pathlib import Path
from typing import Any

import numpy as np

from .._runtime.atomic import in_place_of
from ..io.tables.columns import as_texts, frame
from ..io.tables.kinds import Finding
from ..io.tables.labels import MAX_NUMBER_CLASSES, ask_about_spelling
from ..io.tables.look import AS_YOU_SAID, Look, describe_finding, find_used_columns, look
from ..io.tables.number_format import looks_like_number
from ..io.tables.open_table import open_table
from ..io.tables.wishes import plan_text
from .odd_values import OddValues
from .output import check_output
from .source import Plan, open_rows
from .terminal import note, show, working

# Widths of columns of the table and of the whole, in characters.
MISSING_WIDTH, DONE_WIDTH = 7, 9
MIN_WIDTH, MAX_WIDTH = 60, 120
GAP = "  "
# Classes whose number of rows is shown.
MAX_CLASSES_SHOWN = 5
USE_WORDS = {"date": "its parts", "text": "its words"}


def run_check(data: str, target: str | None, plan: Plan, write: Path | None, as_json: bool) -> None:
    """Look at a file, and print what will be done with its columns."""
    if write is not None:
        check_output(write, data)
    target = target or plan.wishes.target
    with working(f"reading {data}"):
        table = open_table(data, plan.read_options)
        if table.columns is None:
            table.close()
            raise ValueError(
                f"{table.name} is LIBSVM: its columns are numbers without names, and all are used."
            )
        with table:
            first, rest = open_rows(table, target, plan.wishes)
            found = look(first, target, plan.wishes, table.delimiter)
        if rest is not None:
            note(f"only the first {len(first):,} rows are looked at")
    classes, questions = (
        ([], []) if target is None else _classes(first[target], target, plan.min_class_rows)
    )
    questions += found.questions + _spellings(first, found.findings) + _odd(first, found, target)
    if write is not None:
        with in_place_of(write) as sink:
            sink.write(plan_text(table.name, target, found.findings).encode())
    result = {
        "data": table.name,
        "format": table.format,
        "delimiter": table.delimiter or None,
        "encoding": getattr(table, "encoding", None),
        "n_rows": found.n_rows,
        "target": target,
        "columns": [describe_finding(finding) for finding in found.findings],
        "suspicious": [suspect._asdict() for suspect in found.suspects],
        "questions": questions,
        "plan": None if write is None else str(write),
    }
    lines = [_headline(table, found), *classes, "", *_table(found.findings), *_asked(questions)]
    if write is not None:
        lines += ["", f"Written to {write}. Train with: bayespoint train {data} --plan {write} ..."]
    show(result, as_json, *lines)


def _spellings(first, findings: list[Finding]) -> list[str]:
    """Return a question for each column whose categories differ in capital letters only."""
    return [
        f"column {finding.name!r}: {question}"
        for finding in findings
        if finding.use_as == "category"
        for question in ask_about_spelling(
            sorted(as_texts(first[finding.name]).drop_null().unique().to_pylist()), "categories"
        )
    ]


def _odd(first, found: Look, target: str | None) -> list[str]:
    """Return a line for each column with values that cannot be read."""
    odd = OddValues()
    try:
        frame(first, find_used_columns(found, first, target), odd)
    except ValueError as error:
        return [str(error).rstrip(".")]
    return odd.lines()


def _headline(table: Any, found: Look) -> str:
    names = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars", " ": "spaces"}
    how = [f"columns between {names.get(table.delimiter, table.delimiter)}"] * bool(table.delimiter)
    how += [table.encoding] if hasattr(table, "encoding") else []
    more = f" ({', '.join(how)})" if how else ""
    n_columns = len(table.columns or ())
    return f"{table.name}: {found.n_rows:,} rows, {n_columns:,} columns{more}."


def _classes(column, target: str, min_rows: int) -> tuple[list[str], list[str]]:
    """Return a line about the classes, and questions about them."""
    counts = as_texts(column).drop_null().value_counts()
    pairs = zip(counts.field(0).to_pylist(), counts.field(1).to_pylist(), strict=True)
    by_count = sorted(pairs, key=lambda pair: -pair[1])
    n_rows, questions = len(column), []
    shown = [f"{name} {100 * n / n_rows:.1f} %" for name, n in by_count[:MAX_CLASSES_SHOWN]]
    more = len(by_count) - len(shown)
    shown += [f"and {more:,} more"] if more else []
    n_missing = n_rows - sum(n for _, n in by_count)
    shown += [f"missing (empty, NA or the like) in {n_missing:,} rows"] if n_missing else []
    if len(by_count) > MAX_NUMBER_CLASSES and all(looks_like_number(name) for name, _ in by_count):
        questions.append(
            f"the target {target!r} has {len(by_count):,} different numbers: a quantity rather "
            "than classes. Is it the right column?"
        )
    rare = [name for name, n in by_count if n < min_rows]
    if rare and not questions:
        names = ", ".join(repr(name) for name in rare[:MAX_CLASSES_SHOWN])
        dots = ", ..." * (len(rare) > MAX_CLASSES_SHOWN)
        questions.append(f"classes with fewer than {min_rows} rows will be left out: {names}{dots}")
    if len(by_count) < 2:
        questions.append(
            f"the target {target!r} should have two classes or more to train with, but has "
            f"{len(by_count)}"
        )
    questions += ask_about_spelling(sorted(name for name, _ in by_count))
    wrapped = textwrap.wrap(
        f"Classes of {target}: {', '.join(shown)}.", _width(), subsequent_indent="  "
    )
    return wrapped, questions


def _table(findings: list[Finding]) -> list[str]:
    """Return the lines of a table with a line for each column."""
    rows: list[tuple[str, ...]] = [("column", "what it is", "missing", "example", "used")]
    for finding in findings:
        missing = finding.missing
        share = "" if not missing else "< 1 %" if missing < 0.01 else f"{100 * missing:.0f} %"
        more = _more(finding)
        what = finding.kind + (" " if more.startswith("like") else ", ") * bool(more) + more
        rows.append((finding.name, what, share, _example(finding), _done(finding)))
    rows = [tuple(_one_line(cell) for cell in row) for row in rows]
    free = _width() - MISSING_WIDTH - DONE_WIDTH - 4 * len(GAP)
    limits = [free * 3 // 11, free * 5 // 11, MISSING_WIDTH, free * 3 // 11, DONE_WIDTH]
    widths = [min(max(len(row[i]) for row in rows), limit) for i, limit in enumerate(limits)]
    # What the other columns leave free helps to say what it is.
    longest = max(len(row[1]) for row in rows)
    widths[1] = min(longest, free - widths[0] - widths[3])
    lines = [
        GAP.join(_fit(c, w, i == 2) for i, (c, w) in enumerate(zip(row, widths, strict=True)))
        for row in rows
    ]
    return [line.rstrip() for line in [lines[0], GAP.join("-" * w for w in widths), *lines[1:]]]


def _more(finding: Finding) -> str:
    """Return more about what a column is: why it is left out, or how it is written."""
    if finding.kind in ("number", "category", "date", "text"):
        return finding.detail
    return finding.why


def _example(finding: Finding) -> str:
    return next(iter(finding.examples), "")


def _done(finding: Finding) -> str:
    if finding.use_as == "drop":
        return "left out" if finding.why != AS_YOU_SAID else "you drop"
    if finding.use_as != finding.kind:
        return finding.use_as
    return USE_WORDS.get(finding.use_as, "used")


def _fit(text: str, width: int, right: bool) -> str:
    text = text if len(text) <= width else text[: width - 1] + "…"
    return text.rjust(width) if right else text.ljust(width)


def _one_line(text: str) -> str:
    return "".join(c if c.isprintable() else " " for c in text)


def _width() -> int:
    return int(np.clip(shutil.get_terminal_size((80, 24)).columns, MIN_WIDTH, MAX_WIDTH))


def _asked(questions: list[str]) -> list[str]:
    """Return the questions, wrapped."""
    if not questions:
        return ["", "No questions."]
    lines = ["", "Please look at this:"]
    for question in questions:
        text = f"{question[:1].upper()}{question[1:]}."
        lines += textwrap.wrap(
            text, _width(), initial_indent="- ", subsequent_indent="  ", break_on_hyphens=False
        )
    return lines
