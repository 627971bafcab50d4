"""Find out which columns hold numbers and which text, and put them into a data frame."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from .missing_values import MISSING_WORDS

# Look at this many different strings to see whether most of a column is numbers.
MAX_EXAMINED_STRINGS = 1000
# Double precision cannot represent all whole numbers from here on.
MAX_EXACT_INTEGER = 2**53


@dataclass(frozen=True)
class Columns:
    """What a model knows about the table that it was trained on.

    Attributes
    ----------
    numbers, categories : list of str
        Columns with numbers and with text that the model predicts from.
    target : str
        The column that it predicts.
    integers : bool
        Whether classes are whole numbers; otherwise they are strings.
    """

    numbers: list[str]
    categories: list[str]
    target: str
    integers: bool

    @property
    def used(self) -> list[str]:
        """Return the names of the columns that the model predicts from."""
        return [*self.numbers, *self.categories]

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
    for name in table.column_names:
        if name == target:
            continue
        values = None if name in categorical else as_numbers(table[name])
        if values is None:
            categories.append(name)
        elif values.null_count < len(values):
            numbers.append(name)
    if not (numbers or categories):
        raise ValueError(f"There should be a column with values besides the target {target!r}.")
    classes = as_numbers(table[target])
    known = np.empty(0) if classes is None else known_numbers(classes)
    return Columns(numbers, categories, target, len(known) > 0 and not len(not_whole(known)))


def find_stray_text(column) -> str | None:
    """Return a string that is not a number, if most of the column is numbers."""
    import pyarrow as pa

    texts = as_texts(column).drop_null().unique()[:MAX_EXAMINED_STRINGS].to_pylist()
    others = [text for text in texts if as_numbers(pa.array([text])) is None]
    return others[0] if len(others) < len(texts) / 2 else None


def as_texts(column):
    """Return a column as strings without blanks around them, null where a value is missing."""
    import pyarrow as pa
    import pyarrow.compute as pc

    column = pc.utf8_trim_whitespace(column.cast(pa.string()))
    is_missing = pc.is_in(column, value_set=pa.array(MISSING_WORDS))
    return pc.if_else(is_missing, pa.scalar(None, pa.string()), column)


def as_numbers(column):
    """Return a column as float64, or None if it holds anything else."""
    import pyarrow as pa

    # Most columns of numbers can be converted as they are, which is faster.
    for convert in (lambda: column, lambda: as_texts(column)):
        try:
            return convert().cast(pa.float64())
        except pa.ArrowInvalid:
            pass
    return None


def frame(table, columns: Columns):
    """Return the columns that the model uses as a data frame of float64 and objects.

    Raises
    ------
    ValueError
        If a column of numbers holds anything else, or infinity.
    """
    import pandas as pd

    series: dict[str, Any] = {name: _finite_numbers(name, table[name]) for name in columns.numbers}
    for name in columns.categories:
        series[name] = pd.Series(as_texts(table[name]).to_numpy(), dtype=object)
    return pd.DataFrame(series)


def _finite_numbers(name: str, column) -> np.ndarray:
    numbers = as_numbers(column)
    if numbers is None:
        raise ValueError(
            f"Column {name!r} should hold numbers, but holds {first_text(column)!r}. If its "
            "numbers stand for categories, say so when the model is trained."
        )
    values = numbers.to_numpy()
    if np.isinf(values).any():
        raise ValueError(
            f"Column {name!r} should hold finite numbers, but holds infinity. Leave unknown "
            "values empty."
        )
    return values


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
