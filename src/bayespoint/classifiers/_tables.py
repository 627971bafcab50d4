"""Read the X that a user gave: numbers, categories and missing values of any table."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils import check_array, check_X_y
from sklearn.utils.validation import validate_data

from .._runtime.warn import warn
from ..geometry.columns import Columns, fit_columns
from ..geometry.points import canonical
from ._column_values import NUMBER_KINDS, is_text, levels, numbers, positions

# Points in single precision are not copied to double.
FLOAT_TYPES = (np.float64, np.float32)
# Double precision rounds larger whole numbers, so that different categories could become equal.
MAX_EXACT_INTEGER = 2**53
# A column of text with more categories is doubted if they are numbers or names of single rows.
MAX_UNDOUBTED_CATEGORIES = 100


def read_training_table(estimator, X, y, weight: np.ndarray | None = None) -> tuple:
    """Return the training points and labels, and set `columns_`.

    The estimator has the parameters `kernel`, `categorical_features`, `standardize` and
    `cache_size`. A precomputed kernel is a matrix, not a table: then `columns_` is None.
    """
    if estimator.kernel == "precomputed":
        _refuse_table_options(estimator)
        estimator.columns_ = None
        return validate_data(estimator, X, y, accept_sparse="csr", dtype=FLOAT_TYPES)
    X, y, *kinds = check_table(estimator, X, y)
    X, y = code_table(estimator, X, y, *kinds)
    columns = fit_columns(X, *kinds, standardize=standardizes(estimator, X), weight=weight)
    _require_memory(columns, X.shape[0], estimator.cache_size)
    estimator.columns_ = columns
    return columns.points(X), y


def check_table(estimator, X, y) -> tuple[Any, Any, list[np.ndarray | None] | None, Any]:
    """Return a training table and labels; the categories of its columns, and which have an order.

    These are None if all columns hold numbers. The estimator learns the names of the columns.
    """
    X = as_table(X)
    chosen = _chosen_columns(X, estimator.categorical_features)
    if chosen is None and not _has_other_types(X):
        checks: Any = {"accept_sparse": "csr", "dtype": FLOAT_TYPES}
        X, y = validate_data(estimator, X, y, ensure_all_finite="allow-nan", **checks)
        return _checked_sparse(X), y, None, None
    validate_data(estimator, X, y, skip_check_array=True)
    by_type = isinstance(estimator.categorical_features, str)
    return X, y, *_find_categories(X, chosen, by_type)


def code_table(estimator, X, y, categories, ordered) -> tuple:
    """Return coded rows and labels of a table that was checked."""
    if categories is None:
        return X, y
    coded = _code(X, categories, ordered)
    return check_X_y(coded, y, ensure_all_finite="allow-nan", estimator=estimator)


def read_table(estimator, X):
    """Return new points, checked against the training table."""
    columns: Columns | None = getattr(estimator, "columns_", None)
    checks: Any = {"accept_sparse": "csr", "dtype": FLOAT_TYPES, "reset": False}
    if columns is None:
        return validate_data(estimator, X, **checks)
    X = as_table(X)
    has_categories = any(levels is not None for levels in columns.categories)
    if not has_categories and not _has_other_types(X):
        X = validate_data(estimator, X, ensure_all_finite="allow-nan", **checks)
        return columns.points(_checked_sparse(X))
    if sparse.issparse(X):
        raise TypeError(
            "X is sparse, but the training table had columns with categories. Pass a table of the "
            "same kind."
        )
    validate_data(estimator, X, skip_check_array=True, reset=False)
    coded = _code(X, columns.categories, columns.ordered)
    coded = check_array(coded, ensure_all_finite="allow-nan", estimator=estimator, input_name="X")
    return columns.points(coded)


def standardizes(estimator, X) -> bool:
    """Tell whether numbers are standardized: by default for a kernel that is chosen here.

    Sparse columns are often indicators, of which rare ones would become very large.
    """
    given = estimator.standardize
    if not isinstance(given, str):
        return bool(given)
    chosen_here = estimator.kernel == "auto" and estimator.gamma == "auto"
    return chosen_here and not sparse.issparse(X)


def _refuse_table_options(estimator) -> None:
    """Raise an error for options that a precomputed kernel cannot have."""
    chosen = estimator.categorical_features
    for name, wrong in (
        ("standardize=True", standardizes(estimator, None)),
        ("categorical_features", chosen is not None and not isinstance(chosen, str)),
    ):
        if wrong:
            raise ValueError(
                f"{name} needs the columns of a table, but with a precomputed kernel X is the "
                "kernel matrix. Leave the option out, and prepare the columns before you compute "
                "the kernel."
            )


def _checked_sparse(X):
    """Return X; a sparse matrix has no duplicate entries, and must not have missing values."""
    X = canonical(X)
    if sparse.issparse(X) and np.isnan(X.data).any():
        raise ValueError(
            "Input X contains NaN. Missing values are filled in dense tables only, but X is "
            "sparse. Pass X.toarray(), or replace the values."
        )
    return X


def _require_memory(columns: Columns, n_rows: int, cache_size: float) -> None:
    n_features = len(columns.groups)
    needed = 8 * n_rows * n_features / 2**20
    if n_features > len(columns.fill) and needed > cache_size:
        j = int(np.argmax(columns.widths))
        raise ValueError(
            f"{n_rows} rows with {n_features} features, {columns.widths[j]} of them for the "
            f"categories of column {j} (counted from 0), need {needed:.3g} MB, but cache_size is "
            f"{cache_size:g}. Leave out columns that only name their rows, or raise cache_size."
        )


def as_table(X):
    """Return a data frame of pandas, an array or a sparse matrix."""
    if sparse.issparse(X) or isinstance(X, np.ndarray) or hasattr(X, "iloc"):
        return X
    if hasattr(X, "to_pandas"):  # polars, PyArrow
        return X.to_pandas()
    try:
        array = np.asarray(X)
    except ValueError:  # rows of different lengths, about which scikit-learn says more
        return X
    # In an array of strings a number would be a string, too.
    return np.asarray(X, dtype=object) if array.dtype.kind == "U" else array


def _has_other_types(X) -> bool:
    """Return whether X is a table with anything that is not a number."""
    if sparse.issparse(X) or not hasattr(X, "ndim"):
        return False
    dtypes = X.dtypes if hasattr(X, "columns") else [X.dtype]
    found = any(dtype.kind not in NUMBER_KINDS for dtype in dtypes)
    if found and X.ndim != 2:
        raise ValueError(
            f"Expected 2D array: X should have a row for each sample, but its shape is {X.shape}."
        )
    return found


def _chosen_columns(X, categorical_features) -> np.ndarray | None:
    """Return a mask of the columns that the user named, None without names."""
    if categorical_features is None or isinstance(categorical_features, str):
        return None
    if sparse.issparse(X):
        raise TypeError("categorical_features needs a dense table, but X is sparse.")
    given = np.asarray(categorical_features)
    n = np.shape(X)[1] if np.ndim(X) == 2 else 0
    if not given.size or not n:
        return None
    mask = np.zeros(n, dtype=bool)
    if given.dtype.kind == "b" and given.shape == (n,):
        mask = given
    elif given.dtype.kind == "i" and given.ndim == 1 and 0 <= given.min() <= given.max() < n:
        mask[given] = True
    elif hasattr(X, "columns") and all(isinstance(name, str) for name in given.ravel()):
        names = list(X.columns)
        if unknown := [name for name in given.ravel().tolist() if name not in names]:
            raise ValueError(
                f"categorical_features names {unknown[0]!r}, but the columns of X are {names}."
            )
        mask = np.isin(names, given)
    else:
        raise ValueError(
            f"categorical_features should be a mask of {n} booleans, column numbers from 0 to "
            f"{n - 1}, or column names of a data frame, but is {categorical_features!r}."
        )
    return mask


def _find_categories(X, chosen, by_type: bool) -> tuple[list[np.ndarray | None], np.ndarray]:
    """Return the categories of each column, None for numbers, and which have an order.

    By type, columns of text and pandas categoricals hold categories.
    """
    categories: list[np.ndarray | None] = []
    ordered = np.zeros(X.shape[1], dtype=bool)
    for j, (name, column) in enumerate(_columns_of(X)):
        is_categorical = hasattr(column, "cat")
        if not by_type:
            wanted = chosen is not None and chosen[j]
        else:
            wanted = is_categorical or is_text(column, name)
        if not wanted:
            categories.append(None)
            continue
        values, codes = levels(column, name)
        if is_categorical and by_type and column.dtype.ordered:
            ordered[j] = True
            categories.append(values)
        else:
            used = _used(values, codes, name)
            categories.append(used)
            if by_type and not is_categorical:
                _doubt(used, X.shape[0], name)
    return categories, ordered


def _doubt(found: np.ndarray, n_rows: int, name: str) -> None:
    """Warn of a column of text that is probably no category: each value becomes a feature."""
    n = len(found)
    if n <= MAX_UNDOUBTED_CATEGORIES:
        return
    if 2 * sum(_is_number(value) for value in found.tolist()) > n:
        advice = "most of them numbers. Convert it: pandas.to_numeric(column, errors='coerce')"
    elif 2 * n > n_rows:
        advice = f"in {n_rows} rows. Leave it out if it only names its rows"
    else:
        return
    warn(
        f"Column {name} of X holds text with {n} different values, {advice}. As it is, each value "
        "is a category."
    )


def _is_number(text: Any) -> bool:
    try:
        return bool(np.isfinite(float(text)))
    except (TypeError, ValueError):
        return False


def _used(values: np.ndarray, codes: np.ndarray, name: str) -> np.ndarray:
    """Return the sorted categories that rows have; numbers must be exact in double precision."""
    used = np.unique(values[np.unique(codes[codes >= 0])])
    if used.dtype.kind == "f" and np.abs(used).max(initial=0.0) > MAX_EXACT_INTEGER:
        raise ValueError(
            f"Column {name} of X should hold categories up to {MAX_EXACT_INTEGER} if they are "
            f"numbers, but holds {np.abs(used).max():.17g}. Convert them to text."
        )
    return used


def _columns_of(X):
    """Yield a name for messages, and the column as an array or a series."""
    for j in range(X.shape[1]):
        if hasattr(X, "iloc"):
            yield repr(X.columns[j]), X.iloc[:, j]
        else:
            yield f"{j} (counted from 0)", X[:, j]


def _code(X, categories, ordered) -> np.ndarray:
    """Return a column for each column of X: numbers, or positions in its categories."""
    coded = np.empty(X.shape)
    for j, (name, column) in enumerate(_columns_of(X)):
        if categories[j] is None:
            coded[:, j] = numbers(column, name)
        else:
            coded[:, j] = positions(column, name, categories[j], ordered[j])
    return coded


def bytes_of_copy(X, given) -> int:
    """Return the memory that was taken to convert the user's data to points."""
    if sparse.issparse(X):
        return 0 if X is given else X.data.nbytes + X.indices.nbytes + X.indptr.nbytes
    shared = isinstance(given, np.ndarray) and np.may_share_memory(X, given)
    return 0 if shared else X.nbytes
