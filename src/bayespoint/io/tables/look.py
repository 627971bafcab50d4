"""Look at a table: what each column is, what to do with it, and what is suspicious."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from .columns import Columns, as_numbers, as_texts, has_integers, value_counts
from .date_format import date_parts, parse_dates, recognize_dates
from .kinds import Finding, Habits, format_of, learn_habits, recognize, use_dates
from .leakage import Suspect, find_suspects
from .number_format import PLAIN, NumberFormat, parse_numbers, recognize_numbers
from .shell_words import shell_word
from .wishes import KEEP, Wishes

# Look at this many rows, spread over the file.
MAX_ROWS = 10_000
# A column can be a copy of the target only with this many rows.
MIN_COPY_ROWS = 20
# Why a column is left out if the user wants it so.
AS_YOU_SAID = "as you said"
UNNAMED = re.compile(r"column_\d+|Unnamed: ?\d+|row_name")


class Look(NamedTuple):
    """What was found in a table.

    Attributes
    ----------
    findings : list of Finding
        What each column is, without the target.
    questions : list of str
        What the user should answer.
    n_rows : int
        Number of rows.
    suspects : list of Suspect
        Columns that alone predict the target too well.
    """

    findings: list[Finding]
    questions: list[str]
    n_rows: int
    suspects: list[Suspect]

    @property
    def left_out(self) -> list[Finding]:
        """Return the columns that are not used."""
        return [finding for finding in self.findings if finding.use_as == "drop"]


def look(table, target: str | None, wishes: Wishes | None = None, delimiter: str = ",") -> Look:
    """Find out what each column is, and decide what to do with it.

    Parameters
    ----------
    table : pyarrow.Table
        Columns of strings or numbers.
    target : str or None
        The column with the classes; without it copies and leaks are not looked for.
    wishes : Wishes
        What the user says about the columns.
    delimiter : str
        Character between the columns of the file, a hint about its decimal mark.
    """
    wishes = wishes or Wishes()
    rows = np.unique(np.linspace(0, max(len(table) - 1, 0), min(len(table), MAX_ROWS)).astype(int))
    sample = table if len(rows) == len(table) else table.take(rows)
    habits = learn_habits(sample, wishes.decimal, delimiter)
    names = [name for name in table.column_names if name != target]
    some_named = any(not UNNAMED.fullmatch(name) for name in names)
    findings = []
    for name in names:
        unnamed = some_named and bool(UNNAMED.fullmatch(name))
        finding = recognize(name, sample[name], rows, habits, unnamed=unnamed)
        findings.append(_confirm(finding, table[name], len(rows) < len(table)))
    findings = _leave_out_duplicates(findings, sample, table)
    suspects: list[Suspect] = []
    if target is not None:
        findings = _leave_out_copies(findings, sample, table, target)
    findings = [_wanted(finding, sample[finding.name], wishes, habits) for finding in findings]
    findings = _keep_something(findings)
    if target is not None:
        suspects = _suspects(findings, sample, target)
    questions = [q for f in findings if f.use_as != "drop" for q in f.questions]
    return Look(findings, questions + [_accuse(s) for s in suspects], len(table), suspects)


def find_used_columns(look: Look, table, target: str | None) -> Columns:
    """Return what a model has to know about the columns that it uses, the target if it is known."""
    by_use: dict[str, list[Finding]] = {}
    for finding in look.findings:
        by_use.setdefault(finding.use_as, []).append(finding)
    numbers = by_use.get("number", [])
    dates = {f.name: f.format for f in by_use.get("date", []) if f.format.parts}
    columns = Columns(
        numbers=[f.name for f in numbers],
        categories=[f.name for f in by_use.get("category", [])],
        target=target or "",
        integers=target is not None and has_integers(table[target]),
        formats={f.name: format_of(f) for f in numbers if format_of(f) != PLAIN},
        dates=dates,
        texts=[f.name for f in by_use.get("text", [])],
        left_out=[f.name for f in look.left_out],
    )
    if not columns.features:
        besides = "" if target is None else f" besides the target {target!r}"
        raise ValueError(f"There should be a column with values{besides}.")
    return columns


def _confirm(finding: Finding, column, was_sampled: bool) -> Finding:
    """Check with all rows what a sample says about a column that would be left out."""
    if not was_sampled or finding.use_as != "drop":
        return finding
    texts = as_texts(column)
    n_known = len(texts) - texts.null_count
    n_different = len(texts.unique()) - bool(texts.null_count)
    if finding.kind == "empty":
        confirmed = n_known == 0
    elif finding.kind == "constant":
        confirmed = n_different == 1 and not texts.null_count
    else:
        confirmed = n_different >= 0.9 * n_known
    if confirmed:
        return finding
    return replace(finding, kind=finding.base, use_as=finding.base, why="")


def _leave_out_duplicates(findings: list[Finding], sample, table) -> list[Finding]:
    """Leave out columns that are equal to a column before them."""
    first: dict[bytes, str] = {}
    result = []
    for finding in findings:
        if finding.use_as != "drop":
            key = _codes(sample[finding.name]).tobytes()
            before = first.setdefault(key, finding.name)
            if before != finding.name and _equal(table[before], table[finding.name]):
                finding = finding.dropped("duplicate", f"equals {before!r}")
        result.append(finding)
    return result


def _equal(one, other) -> bool:
    """Tell whether two columns hold the same values, however numbers are written."""
    if as_texts(one).equals(as_texts(other)):
        return True
    numbers = as_numbers(one), as_numbers(other)
    if numbers[0] is None or numbers[1] is None:
        return False
    return bool(np.array_equal(numbers[0].to_numpy(), numbers[1].to_numpy(), equal_nan=True))


def _leave_out_copies(findings: list[Finding], sample, table, target: str) -> list[Finding]:
    """Leave out columns that have one value for each class."""
    if len(table) < MIN_COPY_ROWS:
        return findings
    classes = _codes(sample[target])
    if classes.max(initial=-1) < 1:
        return findings
    known = _has_company(classes)
    result = []
    for finding in findings:
        codes = _codes(sample[finding.name])
        # Renumber, because rows without a class and classes of one row do not count.
        if (
            finding.kind not in ("constant", "empty")
            and np.array_equal(_renumbered(codes[known]), _renumbered(classes[known]))
            and _is_copy(table[finding.name], table[target])
        ):
            finding = finding.dropped("copy", f"of the target {target!r}")
        result.append(finding)
    return result


def _has_company(classes: np.ndarray) -> np.ndarray:
    """Tell which rows have a class that other rows have, too; the others cannot be learned."""
    counts = np.bincount(classes + 1)
    return (classes >= 0) & (counts[classes + 1] > 1)


def _is_copy(column, target) -> bool:
    classes = _codes(target)
    known = _has_company(classes)
    codes = _codes(column)[known]
    return np.array_equal(_renumbered(codes), _renumbered(classes[known]))


def _codes(column) -> np.ndarray:
    """Number the different values of a column in order of appearance, -1 for missing ones."""
    import pyarrow.compute as pc

    texts = (
        as_texts(column).combine_chunks() if hasattr(column, "combine_chunks") else as_texts(column)
    )
    coded = pc.dictionary_encode(texts)
    indices = coded.indices if hasattr(coded, "indices") else coded.combine_chunks().indices
    return indices.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int64)


def _renumbered(codes: np.ndarray) -> np.ndarray:
    import pandas as pd

    return pd.factorize(codes)[0]


def _wanted(finding: Finding, column, wishes: Wishes, habits: Habits) -> Finding:
    """Do what the user wants with a column."""
    use, _, more = wishes.uses.get(finding.name, "").partition(" ")
    if use == "drop" or (wishes.only and finding.name not in wishes.only):
        return replace(finding, use_as="drop", why=AS_YOU_SAID, questions=[])
    if not use and finding.name in wishes.only:
        use = KEEP
    if not use:
        return finding
    use = finding.base if use == KEEP else use
    if use == finding.use_as and not more:
        return finding if finding.use_as != use else replace(finding, questions=[])
    changed = replace(finding, use_as=use, why="", questions=[])
    if use == "number":
        return _wanted_number(changed, column, more or habits.decimal)
    if use == "date":
        return _wanted_date(changed, column, more, habits)
    return changed


def _wanted_number(finding: Finding, column, decimal: str | None) -> Finding:
    if column.type != "string":
        return replace(finding, kind="number", format=PLAIN)
    counts = value_counts(as_texts(column, among_numbers=True))
    reading = recognize_numbers(counts, decimal=decimal)
    if reading is None:
        raise ValueError(
            f"Column {finding.name!r} should hold numbers, but holds "
            f"{next(iter(counts), '')!r}. Use it as a category or text, or leave it out."
        )
    format: NumberFormat = reading.format
    return replace(finding, kind="number", format=format, detail=format.describe())


def _wanted_date(finding: Finding, column, format: str, habits: Habits) -> Finding:
    texts = as_texts(column, among_numbers=True)
    counts = value_counts(texts)
    found = (format, False) if format else None
    if not found:
        found = recognize_dates(counts, "date", day_first=habits.day_first)
    if found is None or parse_dates(texts, found[0])[0].isna().all():
        raise ValueError(
            f"Column {finding.name!r} should hold dates, but holds {next(iter(counts), '')!r}. "
            f"Say how they are written, for example --date '{finding.name}=%d.%m.%Y'."
        )
    return replace(use_dates(finding, texts, *found), questions=[])


def _keep_something(findings: list[Finding]) -> list[Finding]:
    """Use columns that would be left out if nothing else remains, and ask about them."""
    if any(finding.use_as != "drop" for finding in findings):
        return findings

    def kept(finding: Finding) -> Finding:
        if finding.kind in ("empty", "constant") or finding.why == AS_YOU_SAID:
            return finding
        question = f"column {finding.name!r} would be left out ({finding.why}), but is all there is"
        return replace(finding, use_as=finding.base, why="", questions=[question])

    return [kept(finding) for finding in findings]


def _suspects(findings: list[Finding], sample, target: str) -> list[Suspect]:
    """Find columns that alone predict the target too well."""
    y = _codes(sample[target])
    known = y >= 0
    values: dict[str, np.ndarray] = {}
    for finding in findings:
        if finding.use_as != "drop" and finding.use_as != "text":
            values[finding.name] = _values(finding, sample[finding.name])[known]
    return find_suspects(values, _renumbered(y[known]))


def _values(finding: Finding, column) -> np.ndarray:
    """Return a column as numbers, or as codes of categories."""
    if finding.use_as == "number":
        plain = as_numbers(column)
        if plain is not None and format_of(finding) == PLAIN:
            return plain.to_numpy()
        texts = as_texts(column, among_numbers=True)
        return parse_numbers(texts, format_of(finding))[0].to_numpy()
    if finding.use_as == "date":
        times, _ = parse_dates(as_texts(column, among_numbers=True), finding.format.format)
        parts = date_parts(times, finding.format)
        return next(iter(parts.values()), np.zeros(len(times)))
    return _codes(column)


def _accuse(suspect: Suspect) -> str:
    right = 100 * (1 - suspect.error)
    shown = "100" if right == 100 else f"{min(right, 99.9):.1f}"
    return (
        f"column {suspect.name!r} alone predicts the target in {shown} % of the rows. Is it known "
        f"before the target is? If not, say --drop {shell_word(suspect.name)}"
    )


def describe_finding(finding: Finding) -> dict[str, Any]:
    """Return a finding as plain JSON."""
    return {
        "name": finding.name,
        "kind": finding.kind,
        "use_as": finding.use_as,
        "detail": finding.detail,
        "why": finding.why,
        "missing": finding.missing,
        "examples": finding.examples,
    }
