"""What a model knows about the columns of its table, and how it reads them again."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from .date_format import DateFormat, date_parts, describe_format, parse_dates
from .missing_values import MISSING_WORDS, NOT_A_VALUE_WORDS
from .number_format import PLAIN, NumberFormat, parse_numbers, recognize_numbers

# Double precision cannot represent all whole numbers from here on.
MAX_EXACT_INTEGER = 2**53
# Whole numbers as a computer writes them: nothing is lost if they are read as numbers.
WHOLE_NUMBER = r"^(?:0|-?[1-9][0-9]{0,14})$"
# Look at this many different strings to see how a column is written.
MAX_EXAMINED_STRINGS = 1000
# If more of a column's values cannot be read, the column is written in another way.
MAX_ODD_SHARE = 0.5

# Tells about values that could not be read: name of the column, their number, and one of them.
OddValues = Callable[[str, int, str], None]


@dataclass(frozen=True)
class Columns:
    """What a model knows about the table that it was trained on.

    Attributes
    ----------
    numbers, categories : list of str
        Columns with numbers and with categories that the model predicts from.
    target : str
        The column that it predicts.
    integers : bool
        Whether classes are whole numbers; otherwise they are strings.
    formats : dict
        How columns write their numbers, if not as computers do.
    dates : dict
        Columns of dates: how they are written, and which parts are used.
    texts : list of str
        Columns of free text, of which words are used.
    left_out : list of str
        Columns that are not used.
    """

    numbers: list[str]
    categories: list[str]
    target: str
    integers: bool
    formats: dict[str, Any] = field(default_factory=dict)
    dates: dict[str, Any] = field(default_factory=dict)
    texts: list[str] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        """Turn dicts from a model file into formats."""
        for attribute, kind in (("formats", NumberFormat), ("dates", DateFormat)):
            values = getattr(self, attribute)
            made = {k: kind(**v) if isinstance(v, dict) else v for k, v in values.items()}
            object.__setattr__(self, attribute, made)

    @property
    def used(self) -> list[str]:
        """Return the names of the columns of the file that the model predicts from."""
        return [*self.numbers, *self.dates, *self.categories, *self.texts]

    @property
    def number_features(self) -> list[str]:
        """Return the names of the columns of a frame that hold numbers, with parts of dates."""
        parts = [name for column, date in self.dates.items() for name in date.names(column)]
        return [*self.numbers, *parts]

    @property
    def features(self) -> list[str]:
        """Return the names of the columns of a frame: parts of dates instead of dates."""
        return [*self.number_features, *self.categories, *self.texts]

    def to_dict(self) -> dict[str, Any]:
        """Return the attributes as a dict that JSON can hold."""
        return asdict(self)


def find_columns(table, target: str, *, categorical: Collection[str] = ()) -> Columns:
    """Decide which columns hold numbers and which text; empty columns are not used.

    Parameters
    ----------
    table : pyarrow.Table
        Columns of strings or numbers.
    target : str
        The column with the classes.
    categorical : collection of str
        Columns whose numbers stand for categories.
    """
    numbers, categories = [], []
    formats: dict[str, NumberFormat] = {}
    for name in table.column_names:
        if name == target:
            continue
        format = None if name in categorical else number_format(table[name])
        if format is None:
            categories.append(name)
        elif as_texts(table[name]).null_count < len(table):
            numbers.append(name)
            formats |= {} if format == PLAIN else {name: format}
    if not (numbers or categories):
        raise ValueError(f"There should be a column with values besides the target {target!r}.")
    return Columns(numbers, categories, target, has_integers(table[target]), formats)


def number_format(column) -> NumberFormat | None:
    """Return how a column writes numbers, or None if it holds anything else."""
    if as_numbers(column) is not None:
        return None if has_leading_zeros(as_texts(column)) else PLAIN
    reading = recognize_numbers(value_counts(as_texts(column, among_numbers=True)))
    if reading is None or reading.odd:
        return None
    return reading.format if as_numbers(column, reading.format) is not None else None


def has_leading_zeros(texts) -> bool:
    """Tell whether whole numbers begin with zeros, as codes do."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if not (pa.types.is_string(texts.type) or pa.types.is_large_string(texts.type)):
        return False
    return bool(pc.any(pc.match_substring_regex(texts, "^0[0-9]+$")).as_py())


def has_integers(column) -> bool:
    """Tell whether all values are whole numbers as a computer writes them, not 01 or 1.0."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_floating(column.type):
        known = known_numbers(column)
        return len(known) > 0 and not len(not_whole(known))
    texts = as_texts(column)
    if texts.null_count == len(texts):
        return False
    return bool(pc.all(pc.match_substring_regex(texts, WHOLE_NUMBER)).as_py())


def value_counts(texts) -> dict[str, int]:
    """Return different texts of an Arrow column and how often they occur, a limited number."""
    counts = texts.drop_null().value_counts()[:MAX_EXAMINED_STRINGS]
    return dict(zip(counts.field(0).to_pylist(), counts.field(1).to_pylist(), strict=True))


def as_texts(column, *, among_numbers: bool = False):
    """Return a column as strings without blanks around them, null where a value is missing.

    Among numbers and dates, more words stand for a missing value.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    column = pc.utf8_trim_whitespace(column.cast(pa.string()))
    words = (*MISSING_WORDS, *(NOT_A_VALUE_WORDS if among_numbers else ()))
    is_missing = pc.is_in(column, value_set=pa.array(words))
    return pc.if_else(is_missing, pa.scalar(None, pa.string()), column)


def as_numbers(column, format: NumberFormat = PLAIN):
    """Return a column as float64, or None if it holds anything else."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if format == PLAIN or pa.types.is_floating(column.type):
        # Most columns of numbers can be converted as they are, which is faster.
        for convert in (lambda: column, lambda: as_texts(column)):
            try:
                return convert().cast(pa.float64())
            except pa.ArrowInvalid:
                pass
        return None
    values, odd = parse_numbers(as_texts(column, among_numbers=True), format)
    return None if pc.any(odd).as_py() else values


def frame(table, columns: Columns, odd_values: OddValues | None = None):
    """Return the columns that the model uses as a data frame of float64 and objects.

    Parameters
    ----------
    table : pyarrow.Table
        Columns of strings or numbers.
    columns : Columns
        What the columns mean.
    odd_values : callable, default=None
        Called if some values of a column of numbers or dates cannot be read and count as
        missing. Without it they raise an error.

    Raises
    ------
    ValueError
        If a column of numbers or dates holds mostly other things, or infinity.
    """
    import pandas as pd

    series: dict[str, Any] = {}
    for name in columns.numbers:
        format = columns.formats.get(name, PLAIN)
        series[name] = _finite_numbers(name, table[name], format, odd_values)
    for name, date in columns.dates.items():
        texts = as_texts(table[name], among_numbers=True)
        times, odd = parse_dates(texts, date.format)
        advice = f"Write them like that, or train again with --date '{name}=FORMAT'."
        wanted = f"dates like {describe_format(date.format)}"
        _tell_odd(name, texts, odd, odd_values, wanted, advice)
        parts = date_parts(times, date)
        series |= dict(zip(date.names(name), parts.values(), strict=True))
    for name in columns.categories:
        series[name] = pd.Series(as_texts(table[name]).to_numpy(), dtype=object)
    for name in columns.texts:
        series[name] = pd.Series(as_texts(table[name]).fill_null("").to_numpy(), dtype=object)
    return pd.DataFrame(series)


def _finite_numbers(
    name: str, column, format: NumberFormat, odd_values: OddValues | None
) -> np.ndarray:
    numbers = as_numbers(column, format)
    if numbers is None:
        texts = as_texts(column, among_numbers=True)
        numbers, odd = parse_numbers(texts, format)
        if odd_values is not None and np.mean(odd) > MAX_ODD_SHARE * (
            1 - texts.null_count / len(texts)
        ):
            # Another program wrote this file, and writes numbers in another way.
            reading = recognize_numbers(value_counts(texts))
            if reading is not None and reading.is_number and reading.format != format:
                numbers, odd = parse_numbers(texts, reading.format)
                odd_values(name, 0, reading.format.describe() or "like 1.5")
        _tell_odd(name, texts, np.asarray(odd), odd_values, "numbers")
    values = numbers.to_numpy()
    if np.isinf(values).any():
        raise ValueError(
            f"Column {name!r} should hold finite numbers, but holds infinity. Leave unknown "
            "values empty."
        )
    return values


def _tell_odd(
    name: str,
    texts,
    odd: np.ndarray,
    odd_values: OddValues | None,
    expected: str,
    advice: str = "If its numbers stand for categories, say so when the model is trained.",
) -> None:
    """Tell about values that cannot be read, or raise an error if there are too many."""
    n_odd = int(np.count_nonzero(odd))
    if not n_odd:
        return
    example = str(texts[int(np.argmax(odd))])
    n_known = len(texts) - texts.null_count
    if odd_values is None or n_odd > MAX_ODD_SHARE * n_known:
        raise ValueError(f"Column {name!r} should hold {expected}, but holds {example!r}. {advice}")
    odd_values(name, n_odd, example)


def first_text(column) -> str:
    """Return the first string that is not a number."""
    import pyarrow as pa

    texts = as_texts(column).drop_null().unique()
    return next(str(text) for text in texts if as_numbers(pa.array([text.as_py()])) is None)


def known_numbers(numbers) -> np.ndarray:
    """Return the values of an Arrow column that are not missing."""
    values = numbers.to_numpy()
    return values[~np.isnan(values)]


def not_whole(values: np.ndarray) -> np.ndarray:
    """Return the values that are not whole numbers, or too large to be exact."""
    return values[~((values == np.floor(values)) & (np.abs(values) < MAX_EXACT_INTEGER))]
