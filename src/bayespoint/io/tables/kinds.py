"""Find out what a column is: number, category, date, text, identifier, index or constant."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from .columns import as_numbers, as_texts, value_counts
from .date_format import DateFormat, describe_format, find_parts, parse_dates, recognize_dates
from .number_doubts import ask_about_numbers
from .number_format import (
    PLAIN,
    NumberFormat,
    Reading,
    certain_marks,
    parse_numbers,
    recognize_numbers,
)
from .shell_words import shell_word

# What a column can be used as.
USES = ("number", "category", "date", "text", "drop")
# Fewer rows than this cannot tell an identifier from a category.
MIN_ROWS = 20
# Unique whole numbers are identifiers if by chance this many of them would be equal.
MIN_EXPECTED_REPEATS = 10
# Texts of which this share is different are identifiers.
MIN_IDENTIFIER_SHARE = 0.9
# Texts with this many words, and this share of different ones, are free text.
MIN_TEXT_WORDS = 4
MIN_TEXT_SHARE = 0.3
# Whole numbers of different lengths are codes if this share begins with zero.
MIN_ZEROS_SHARE = 0.01
# A column with this share of numbers deserves a question if it is not read as numbers.
MIN_ODD_NUMBER_SHARE = 0.5
_UUID = re.compile(
    r"(?:\{?[0-9a-fA-F]{8}(?:-?[0-9a-fA-F]{4}){3}-?[0-9a-fA-F]{12}\}?|[0-9a-f]{40,64})"
)
_CAMEL_ID = re.compile(r"[a-z](?:Id|ID|Key|Nr|No)$")
_PLAIN_ID = re.compile(
    r"(?:^|[\W_])(?:id|ids|uid|uuid|guid|key|nr|no|num|number|index|idx|row)$|^id(?:[\W_]|$)",
    re.IGNORECASE,
)
_INDEX_NAME = re.compile(r"Unnamed: ?\d+|index|row_?names?|level_\d+|\.\.\.1", re.IGNORECASE)
EXAMPLES = 3


@dataclass(frozen=True)
class Finding:
    """What a column is, and what will be done with it.

    Attributes
    ----------
    name : str
        The column.
    kind : str
        One of `USES`, or "identifier", "index", "constant", "empty", "duplicate", "copy".
    use_as : str
        One of `USES`.
    base : str
        What the column is used as if the user wants to keep it.
    detail : str
        More about the kind, such as the decimal mark.
    why : str
        Why it is left out; nothing for columns that are used.
    missing : float
        Share of missing values.
    examples : list of str
        Some values.
    format : NumberFormat, DateFormat or None
        How numbers or dates are written.
    questions : list of str
        What the user should answer.
    """

    name: str
    kind: str
    use_as: str
    base: str
    detail: str = ""
    why: str = ""
    missing: float = 0.0
    examples: list[str] = field(default_factory=list)
    format: Any = None
    questions: list[str] = field(default_factory=list)

    def dropped(self, kind: str, why: str) -> Finding:
        """Return the same column, left out."""
        return replace(self, kind=kind, use_as="drop", why=why)


@dataclass(frozen=True)
class Habits:
    """How a file writes things, learned from all of its columns.

    Attributes
    ----------
    decimal : str or None
        The decimal mark that the user gave.
    certain : str or None
        The decimal mark of columns that leave no doubt.
    delimiter : str
        Character between columns.
    """

    decimal: str | None = None
    certain: str | None = None
    delimiter: str = ","

    @property
    def day_first(self) -> bool:
        """Tell whether 3/4/2025 is in April rather than in March."""
        return (self.decimal or self.certain or ".") == "," or self.delimiter == ";"


def learn_habits(sample, decimal: str | None, delimiter: str) -> Habits:
    """Find the decimal mark that most columns with a certain mark have."""
    votes = {".": 0, ",": 0}
    for name in sample.column_names:
        column = sample[name]
        if column.type != "string":
            continue
        texts = list(value_counts(as_texts(column[:500])))
        marks = certain_marks(texts)
        if marks and marks.total() >= 0.5 * len(texts):
            votes[marks.most_common(1)[0][0]] += 1
    certain = max(votes, key=lambda mark: votes[mark]) if any(votes.values()) else None
    return Habits(decimal, certain, delimiter)


def recognize(name: str, column, rows: np.ndarray, habits: Habits, *, unnamed: bool) -> Finding:
    """Find out what a column is.

    Parameters
    ----------
    name : str
        Name of the column.
    column : Arrow array
        Some of its values, strings or float64.
    rows : ndarray
        The numbers of their rows.
    habits : Habits
        How the file writes numbers and dates.
    unnamed : bool
        Whether the file has no name for the column, as for a row index.
    """
    texts = as_texts(column)
    counts = value_counts(texts)
    finding = Finding(
        name,
        "category",
        "category",
        "category",
        missing=texts.null_count / max(len(texts), 1),
        examples=list(counts)[:EXAMPLES],
    )
    if not counts:
        return finding.dropped("empty", "no values")
    finding = (
        _as_number(finding, column, counts, habits)
        or _as_date(finding, column, counts, habits)
        or _as_words(finding, texts, counts)
    )
    if len(counts) == 1 and not texts.null_count:
        return finding.dropped("constant", "one value only")
    return _as_identifier(finding, texts, column, rows, unnamed)


def _as_number(finding: Finding, column, counts: dict[str, int], habits: Habits) -> Finding | None:
    plain = as_numbers(column) is not None
    usual = habits.certain or ("," if habits.delimiter == ";" and not plain else None)
    typed = column.type != "string"
    if typed:
        reading: Reading | None = Reading(PLAIN, False, [], 1.0)
    elif plain and (usual != "," and habits.decimal is None):
        reading = Reading(PLAIN, False, [], 1.0)
    else:
        more = as_texts(column, among_numbers=True)
        found = value_counts(more) if not plain else counts
        reading = recognize_numbers(found, decimal=habits.decimal, usual_decimal=usual)
        if habits.decimal and (reading is None or not reading.is_number):
            # The given mark decides where there is a doubt. Here it does not fit.
            reading = recognize_numbers(found, usual_decimal=usual)
    if reading is None:
        return None
    if not reading.is_number:
        if reading.share < MIN_ODD_NUMBER_SHARE:
            return None
        question = (
            f"column {finding.name!r} holds numbers, but also {reading.odd[0]!r}, so it is read as "
            f"categories. Leave unknown values empty, or say --numeric {shell_word(finding.name)} "
            f"or --categorical {shell_word(finding.name)}"
        )
        return replace(finding, questions=[question])
    if not typed and _are_codes(counts):
        return replace(finding, detail="leading zeros")
    missing = 1 - (1 - finding.missing) * _known_share(column, reading)
    questions = _ambiguous(finding, reading, counts) + _doubts(finding.name, column, reading)
    return replace(
        finding,
        kind="number",
        use_as="number",
        base="number",
        detail=reading.format.describe(),
        format=reading.format,
        missing=missing,
        questions=questions,
    )


def _known_share(column, reading: Reading) -> float:
    """Return the share of values that stay, if words among numbers are missing values."""
    before = as_texts(column).null_count
    after = as_texts(column, among_numbers=True).null_count
    known = len(column) - before
    return (len(column) - after) / known if known else 1.0


def _ambiguous(finding: Finding, reading: Reading, counts: dict[str, int]) -> list[str]:
    if not reading.is_ambiguous:
        return []
    example = next((text for text in counts if re.search(r"\d[.,]\d", text)), "1,234")
    mark, other = reading.format.decimal, "," if reading.format.decimal == "." else "."
    kind = "thousands" if mark not in re.sub(r"[^.,]", "", example) else "a decimal mark"
    return [
        f"column {finding.name!r}: the mark in {example!r} is read as {kind}. If that is wrong, "
        f"say --decimal '{other}'"
    ]


def _doubts(name: str, column, reading: Reading) -> list[str]:
    import pyarrow.compute as pc

    plain = as_numbers(column) if reading.format == PLAIN else None
    if plain is not None:
        return ask_about_numbers(name, plain.to_numpy(), [], "")
    texts = as_texts(column, among_numbers=True)
    values, odd = parse_numbers(texts, reading.format)
    known = list(value_counts(texts.filter(pc.invert(odd))))
    return ask_about_numbers(name, values.to_numpy(), known, reading.format.unit)


def _are_codes(counts: dict[str, int]) -> bool:
    """Tell whether whole numbers begin with zeros, as zip codes do."""
    zeros = [text for text in counts if re.fullmatch(r"0\d+", text)]
    if not zeros or not all(text.isdigit() for text in counts):
        return False
    share = sum(counts[text] for text in zeros) / sum(counts.values())
    return len({len(text) for text in counts}) == 1 or share >= MIN_ZEROS_SHARE


def _as_date(finding: Finding, column, counts: dict[str, int], habits: Habits) -> Finding | None:
    if column.type != "string":
        return None
    texts = as_texts(column, among_numbers=True)
    found = recognize_dates(value_counts(texts), finding.name, day_first=habits.day_first)
    return None if found is None else use_dates(finding, texts, *found)


def use_dates(finding: Finding, texts, format: str, is_ambiguous: bool = False) -> Finding:
    """Return the finding of a column of dates in this format."""
    times, odd = parse_dates(texts, format)
    dates: DateFormat = find_parts(times, format)
    questions = []
    if is_ambiguous:
        other = format.replace("%d", "@").replace("%m", "%d").replace("@", "%m")
        questions = [
            f"column {finding.name!r}: {finding.examples[0]!r} is read as "
            f"{describe_format(format)}. If that is wrong, say --date '{finding.name}={other}'"
        ]
    return replace(
        finding,
        kind="date",
        use_as="date",
        base="date",
        detail=describe_format(format),
        format=dates,
        missing=(texts.null_count + np.count_nonzero(odd)) / max(len(texts), 1),
        questions=questions,
    )


def _as_words(finding: Finding, texts, counts: dict[str, int]) -> Finding:
    """Return the finding of free text or categories."""
    n_words = np.mean([len(text.split()) for text in counts])
    n_known = len(texts) - texts.null_count
    n_different = len(texts.drop_null().unique())
    if n_words >= MIN_TEXT_WORDS and n_different >= max(MIN_ROWS, MIN_TEXT_SHARE * n_known):
        return replace(finding, kind="text", use_as="text", base="text")
    detail = finding.detail or f"{n_different:,} different"
    return replace(finding, detail=detail)


def _as_identifier(finding: Finding, texts, column, rows, unnamed: bool) -> Finding:
    """Return the finding as an index or identifier, if it is one."""
    n_known, n_different = len(texts) - texts.null_count, len(texts.drop_null().unique())
    if finding.kind == "number":
        return _numeric_identifier(finding, column, rows, unnamed)
    is_unique = n_different == n_known
    if unnamed and finding.kind == "category" and is_unique:
        return finding.dropped("index", "row names")
    if finding.kind != "category" or n_known < MIN_ROWS:
        return finding
    some = finding.examples
    if all(_UUID.fullmatch(text) for text in some) and n_different >= MIN_ROWS:
        return finding.dropped("identifier", "random codes")
    if n_different >= MIN_IDENTIFIER_SHARE * n_known:
        why = "all values differ" if is_unique else "nearly all values differ"
        return finding.dropped("identifier", why)
    return finding


def _numeric_identifier(finding: Finding, column, rows: np.ndarray, unnamed: bool) -> Finding:
    """Tell row numbers and identifiers from measured numbers."""
    if finding.missing or finding.format != PLAIN or len(column) < 3:
        return finding
    values = as_numbers(column)
    values = None if values is None else values.to_numpy()
    if values is None or np.isnan(values).any() or not np.array_equal(values, np.floor(values)):
        return finding
    is_index_name = unnamed or bool(_INDEX_NAME.fullmatch(finding.name))
    is_enough = len(values) >= MIN_ROWS
    ordered = np.sort(values)
    if (np.diff(ordered) == 0).any():
        return _question_repeated(finding, values)
    if np.ptp(values - rows) == 0 and (is_enough or is_index_name):
        return finding.dropped("index", "counts the rows")
    if is_index_name:
        return finding.dropped("index", "row numbers")
    if not is_enough:
        return finding
    spread = ordered[-1] - ordered[0] + 1
    if len(values) ** 2 / (2 * spread) >= MIN_EXPECTED_REPEATS:
        return finding.dropped("identifier", "numbers the rows")
    if (np.diff(values) > 0).all():
        return finding.dropped("identifier", "values differ and increase")
    if is_id_name(finding.name):
        return finding.dropped("identifier", "all values differ")
    return finding


def _question_repeated(finding: Finding, values: np.ndarray) -> Finding:
    """Ask about numbers whose name says that they are identifiers."""
    if not is_id_name(finding.name) or len(np.unique(values)) < MIN_ROWS:
        return finding
    question = (
        f"column {finding.name!r} is used as a number, but may be an identifier. If it is, say "
        f"--drop {shell_word(finding.name)}"
    )
    return replace(finding, questions=[*finding.questions, question])


def is_id_name(name: str) -> bool:
    """Tell whether a name says that a column identifies rows."""
    return bool(_PLAIN_ID.search(name) or _CAMEL_ID.search(name))


def format_of(finding: Finding) -> NumberFormat:
    """Return how a column that is used as a number writes it."""
    return finding.format if isinstance(finding.format, NumberFormat) else PLAIN
