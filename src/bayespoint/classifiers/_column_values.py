"""The values of a column of a table: numbers or text, some of them missing."""

from __future__ import annotations

from decimal import Decimal
from numbers import Real

import numpy as np

from ..geometry.columns import UNSEEN

# Kinds of dtypes that scikit-learn converts to numbers; it refuses complex ones.
NUMBER_KINDS = "biufc"
# Types of pandas.NA and pandas.NaT, which need no import of pandas.
MISSING_TYPES = {"NAType", "NaTType"}


def is_text(column, name: str) -> bool:
    """Return whether a column holds strings that are not numbers in an array of strings."""
    if column.dtype.kind in NUMBER_KINDS:
        return False
    if isinstance(column, np.ndarray) and column.dtype.kind == "U":
        return _as_floats(column) is None
    return levels(column, name)[0].dtype.kind == "U"


def _as_floats(texts: np.ndarray) -> np.ndarray | None:
    """Return strings as numbers, None if one is something else."""
    try:
        return texts.astype(np.float64)
    except ValueError:
        return None


def numbers(column, name: str) -> np.ndarray:
    """Return a column as numbers, NaN where a value is missing."""
    if column.dtype.kind in NUMBER_KINDS:
        if column.dtype.kind == "c":
            raise ValueError(f"Complex data not supported, but column {name} of X is complex.")
        if isinstance(column, np.ndarray):
            return column
        return column.to_numpy(dtype=np.float64, na_value=np.nan)
    if isinstance(column, np.ndarray) and column.dtype.kind == "U":
        numbers = _as_floats(column)
        if numbers is not None:
            return numbers
    values, codes = levels(column, name)
    if values.dtype.kind == "U":
        raise ValueError(
            f"Column {name} of X should hold numbers, but holds {str(values[0])!r}. For a column "
            "of categories set categorical_features, and fit again."
        )
    return np.append(values, np.nan)[codes]


def positions(column, name: str, categories: np.ndarray, ordered: bool) -> np.ndarray:
    """Return positions in the categories, NaN where a value is missing."""
    values, codes = levels(column, name)
    if len(values) and len(categories) and values.dtype.kind != categories.dtype.kind:
        raise ValueError(
            f"Column {name} of X should hold categories like {categories[0].item()!r}, as in "
            f"training, but holds {values[0].item()!r}."
        )
    known = {category: i for i, category in enumerate(categories.tolist())}
    unseen = np.nan if ordered else UNSEEN
    return np.array([*(known.get(v, unseen) for v in values.tolist()), np.nan], dtype=float)[codes]


def levels(column, name: str) -> tuple[np.ndarray, np.ndarray]:
    """Return the different values of a column, and the position of each row's value.

    Values are an array of strings or of numbers; the position of a missing value is -1.
    """
    if hasattr(column, "cat"):
        return _tidy(list(column.dtype.categories), name), column.cat.codes.to_numpy()
    if column.dtype.kind in "Mm":
        _refuse(column.dtype, name)
    if column.dtype.kind in NUMBER_KINDS:
        objects = numbers(column, name).tolist()
    else:
        objects = column.to_list() if hasattr(column, "to_list") else column.tolist()
    places: dict = {}
    try:
        codes = [-1 if _is_missing(v) else places.setdefault(v, len(places)) for v in objects]
    except TypeError as error:  # a list or a dict
        _refuse(error, name)
    return _tidy(list(places), name), np.array(codes, dtype=np.intp)


def _is_missing(value) -> bool:
    if value is None or type(value).__name__ in MISSING_TYPES:
        return True
    return isinstance(value, float | np.floating) and bool(np.isnan(value))


def _tidy(values: list, name: str) -> np.ndarray:
    """Return values as an array of strings or of double precision."""
    texts = [isinstance(value, str) for value in values]
    if values and all(texts):
        return np.array([str(value) for value in values])
    if any(texts):
        number = values[texts.index(False)]
        raise ValueError(
            f"Column {name} of X should hold either text or numbers, but holds both "
            f"{values[texts.index(True)]!r} and {number!r}. Convert it to one of them, for example "
            "with astype(str)."
        )
    for value in values:
        if not isinstance(value, Real | Decimal | np.bool_):
            _refuse(type(value).__name__, name)
    return np.array([float(value) for value in values])


def _refuse(what, name: str):
    raise TypeError(
        f"Column {name} of X should hold numbers, text or missing values, but holds another type: "
        f"{what} (float() argument must be a string or a real number). Convert it, for example "
        "dates to days since the first one."
    )
