"""Columns as they come, of numbers and of texts, made ready for a classifier."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import MaxAbsScaler, OneHotEncoder, StandardScaler

from .missing_values import MISSING_WORDS

# Texts that fewer rows have are taken together.
MIN_FREQUENCY = 5
# More classes than this, or than rows for each, are no classes.
MOST_CLASSES = 1000
ROWS_PER_CLASS = 2
# Different texts of a column, to see whether most are numbers.
LOOKED_AT = 1000


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
    def used(self) -> list[str]:
        """Return the names of columns that are predicted from."""
        return [*self.numbers, *self.categories]

    def to_dict(self) -> dict[str, Any]:
        """Return what can be written as JSON."""
        return asdict(self)


def find_columns(table, target: str, *, categorical: Collection[str] = ()) -> Columns:
    """Decide which columns hold numbers and which texts; those that hold nothing are not used.

    Parameters
    ----------
    table : pyarrow.Table
        Rows, of texts or numbers.
    target : str
        The column with the classes.
    categorical : collection of str
        Columns whose numbers are names.
    """
    numbers, categories = [], []
    for name in table.column_names:
        values = None if name in categorical else as_numbers(table[name])
        if name == target:
            continue
        if values is None:
            categories.append(name)
        elif values.null_count < len(values):
            numbers.append(name)
    if not (numbers or categories):
        raise ValueError(f"There should be a column with values besides the target {target!r}.")
    classes = as_numbers(table[target])
    integers = classes is not None and len(_known(classes)) > 0
    integers = integers and not len(_not_whole(_known(classes)))
    return Columns(numbers, categories, target, integers)


def almost_numbers(column) -> str | None:
    """Return what keeps a column from being one of numbers, if most of it is."""
    import pyarrow as pa

    texts = as_texts(column).drop_null().unique()[:LOOKED_AT].to_pylist()
    others = [text for text in texts if as_numbers(pa.array([text])) is None]
    return others[0] if len(others) < len(texts) / 2 else None


def as_texts(column):
    """Return a column of texts without blanks around them, null where there is nothing."""
    import pyarrow as pa
    import pyarrow.compute as pc

    column = pc.utf8_trim_whitespace(column.cast(pa.string()))
    gone = pc.is_in(column, value_set=pa.array(MISSING_WORDS))
    return pc.if_else(gone, pa.scalar(None, pa.string()), column)


def as_numbers(column):
    """Return a column of numbers, or None if there are other things."""
    import pyarrow as pa

    # Most columns of numbers are as they should be, and this is the fast way to see it.
    for plain in (lambda: column, lambda: as_texts(column)):
        try:
            return plain().cast(pa.float64())
        except pa.ArrowInvalid:
            pass
    return None


def _known(numbers) -> np.ndarray:
    values = numbers.to_numpy()
    return values[~np.isnan(values)]


def _not_whole(values: np.ndarray) -> np.ndarray:
    """Return those that are no whole numbers, or too large to be exact."""
    return values[~((values == np.floor(values)) & (np.abs(values) < 2**53))]


def frame(table, columns: Columns):
    """Return the columns that are used, as a data frame of float64 and of objects.

    Raises
    ------
    ValueError
        If a column of numbers holds something else, or infinity.
    """
    import pandas as pd

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
        series[name] = pd.Series(as_texts(table[name]).to_numpy(), dtype=object)
    return pd.DataFrame(series)


def _no_number(column) -> str:
    """Return the first text that is no number."""
    import pyarrow as pa

    texts = as_texts(column).drop_null().unique()
    return next(str(text) for text in texts if as_numbers(pa.array([text.as_py()])) is None)


def labels(table, columns: Columns) -> np.ndarray:
    """Return the classes of rows, None or NaN where they are missing."""
    column = table[columns.target]
    if not columns.integers:
        return np.asarray(as_texts(column).to_numpy(), dtype=object)
    numbers = as_numbers(column)
    odd = [_no_number(column)] if numbers is None else _not_whole(_known(numbers))
    if len(odd):
        raise ValueError(
            f"The target {columns.target!r} should hold whole numbers, as in training, but holds "
            f"{str(odd[0])!r}."
        )
    return numbers.to_numpy()


def whole_labels(y: np.ndarray) -> np.ndarray:
    """Return the numbers in front of rows of LIBSVM as classes."""
    odd = _not_whole(y)
    if len(odd):
        raise ValueError(
            f"The number in front of each row should be its class, a whole number, but one is "
            f"{odd[0]:g}."
        )
    return y.astype(np.int64)


def known_labels(y: np.ndarray, columns: Columns) -> tuple[np.ndarray, np.ndarray]:
    """Return which rows have a class, and these classes."""
    known = ~np.isnan(y) if columns.integers else np.array([label is not None for label in y], bool)
    y = y[known].astype(np.int64) if columns.integers else y[known].astype(str)
    return known, y


def check_classes(y: np.ndarray, target: str) -> None:
    """Refuse what cannot be classes."""
    classes, counts = np.unique(y, return_counts=True)
    if len(classes) < 2:
        only = f", {str(classes[0])!r}" if len(classes) else ""
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
