"""Columns as they come, of numbers and of texts, made ready for a classifier."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import MaxAbsScaler, OneHotEncoder, StandardScaler

# Texts that fewer rows have are taken together.
MIN_FREQUENCY = 5
# More classes than this, or than rows for each, are no classes.
MOST_CLASSES = 1000
ROWS_PER_CLASS = 2


@dataclass(frozen=True)
class Columns:
    """What a model knows about the table that it was trained with.

    Attributes
    ----------
    numbers, categories : list of str
        Columns that it uses.
    target : str
        The column that it predicts.
    integers : bool
        Whether classes are whole numbers; else they are texts.
    """

    numbers: list[str]
    categories: list[str]
    target: str
    integers: bool

    @property
    def kinds(self) -> dict[str, str]:
        """Return the kind of each column that is used, as `Table.batches` takes them."""
        return dict.fromkeys(self.numbers, "number") | dict.fromkeys(self.categories, "text")

    def to_dict(self) -> dict[str, Any]:
        """Return what can be written as JSON."""
        return asdict(self)


def find_columns(
    table, target: str, *, categorical: Sequence[str] = (), ignore: Sequence[str] = ()
) -> Columns:
    """Decide which columns hold numbers and which texts.

    Parameters
    ----------
    table : pyarrow.Table
        Rows, of texts or numbers.
    target : str
        The column with the classes.
    categorical : sequence of str
        Columns whose numbers are names.
    ignore : sequence of str
        Columns to leave out.
    """
    names = table.column_names
    for name in (target, *categorical, *ignore):
        if name not in names:
            raise ValueError(missing_column(name, names))
    used = [name for name in names if name != target and name not in ignore]
    if not used:
        raise ValueError(f"There should be a column besides the target {target!r}.")
    numbers = [n for n in used if n not in categorical and as_numbers(table[n]) is not None]
    categories = [name for name in used if name not in numbers]
    classes = as_numbers(table[target])
    integers = classes is not None and _are_whole(classes)
    return Columns(numbers, categories, target, integers)


def missing_column(name: str, names: Sequence[str]) -> str:
    """Say that there is no such column, and which might be meant."""
    lower = {str(other).lower(): str(other) for other in names}
    close = difflib.get_close_matches(name.lower(), lower, n=1)
    hint = f" Did you mean {lower[close[0]]!r}?" if close else ""
    some = ", ".join(list(map(str, names))[:20]) + (", ..." if len(names) > 20 else "")
    return f"There is no column {name!r}.{hint} The columns are: {some}."


def as_numbers(column):
    """Return a column of numbers, or None if there are other things."""
    import pyarrow as pa

    if pa.types.is_floating(column.type):
        return column
    if column.null_count == len(column):
        return column.cast(pa.float64())
    try:
        return column.cast(pa.float64())
    except pa.ArrowInvalid:
        return None


def _are_whole(column) -> bool:
    values = column.drop_null().to_numpy()
    # Above this, numbers are not exact.
    return bool(len(values) and np.all((values == np.floor(values)) & (np.abs(values) < 2**53)))


def frame(table, columns: Columns):
    """Return the columns that are used, as a data frame of float64 and of objects.

    Raises
    ------
    ValueError
        If a column of numbers holds something else, or infinity.
    """
    import pandas as pd
    import pyarrow as pa

    series = {}
    for name in columns.numbers:
        column = as_numbers(table[name])
        if column is None:
            raise ValueError(
                f"Column {name!r} should hold numbers, but holds {_no_number(table[name])!r}. "
                "If its numbers are names, say so when the model is trained."
            )
        values = column.to_numpy()
        if np.isinf(values).any():
            raise ValueError(
                f"Column {name!r} should hold finite numbers, but holds infinity. Leave it "
                "empty where it is not known."
            )
        series[name] = values
    for name in columns.categories:
        texts = table[name].cast(pa.string()).to_numpy()
        series[name] = pd.Series(texts, dtype=object)
    return pd.DataFrame(series)


def _no_number(column) -> str:
    """Return the first text that is no number."""
    for text in column.drop_null().unique().to_pylist():
        try:
            float(text)
        except ValueError:
            return text
    return "something else"


def labels(table, columns: Columns) -> np.ndarray:
    """Return the classes of rows, None or NaN where they are missing."""
    import pyarrow as pa

    column = table[columns.target]
    if not columns.integers:
        return np.asarray(column.cast(pa.string()).to_numpy(), dtype=object)
    numbers = as_numbers(column)
    if numbers is None or not (_are_whole(numbers) or numbers.null_count == len(numbers)):
        raise ValueError(
            f"The target {columns.target!r} should hold whole numbers, as in training, but holds "
            f"{_no_number(column)!r}."
        )
    return numbers.to_numpy()


def known_labels(y: np.ndarray, columns: Columns) -> tuple[np.ndarray, np.ndarray]:
    """Return which rows have a class, and these classes."""
    known = ~np.isnan(y) if columns.integers else np.array([label is not None for label in y], bool)
    y = y[known].astype(np.int64) if columns.integers else y[known].astype(str)
    return known, y


def check_classes(y: np.ndarray, target: str) -> None:
    """Refuse what cannot be classes."""
    classes, counts = np.unique(y, return_counts=True)
    if len(classes) < 2:
        only = f" {classes[0]!r}" if len(classes) else ""
        raise ValueError(
            f"The target {target!r} should have two classes or more, but has {len(classes)}{only}."
        )
    if len(classes) > min(MOST_CLASSES, len(y) / ROWS_PER_CLASS):
        raise ValueError(
            f"The target {target!r} has {len(classes):,} different values in {len(y):,} rows, "
            "which cannot be classes. Is it the right column?"
        )
    if counts.min() < 2:
        rare = classes[counts.argmin()]
        raise ValueError(
            f"Every class should have two rows or more, one to train and one to test with, but "
            f"{str(rare)!r} of {target!r} has one. Leave it out, or find more."
        )


def make_prepare(columns: Columns) -> ColumnTransformer:
    """Return what scales numbers, encodes texts, and fills what is missing."""
    numbers = Pipeline(
        [
            (
                "impute",
                SimpleImputer(strategy="median", add_indicator=True, keep_empty_features=True),
            ),
            ("scale", StandardScaler()),
        ]
    )
    # A missing text is a category of its own.
    texts = OneHotEncoder(handle_unknown="infrequent_if_exist", min_frequency=MIN_FREQUENCY)
    parts = [("numbers", numbers, columns.numbers), ("categories", texts, columns.categories)]
    return ColumnTransformer([part for part in parts if part[2]], verbose_feature_names_out=False)


def make_sparse_prepare() -> MaxAbsScaler:
    """Return what scales columns that have no names, and leaves zeros."""
    return MaxAbsScaler()
