"""Convert preprocessors of scikit-learn: columns, imputation, scaling, one-hot encoding."""

from __future__ import annotations

from collections import UserList
from collections.abc import Callable

import numpy as np
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import FunctionTransformer, MaxAbsScaler, OneHotEncoder, StandardScaler
from sklearn.utils import _safe_indexing

from .converters import find_converter
from .graph import Value, concat
from .inputs import Matrix, Source

# The string of an ONNX input that stands for a missing value.
MISSING_TEXT = ""


def prepare(step, X: Source) -> Source:
    """Return the output of a fitted preprocessor."""
    if step is None or (isinstance(step, str) and step == "passthrough"):
        return X
    advice = "Apply other steps before the exported model, and export only the steps after them."
    return find_converter(CONVERTERS, step, "Preprocessors", advice)(step, X)


def _function(step: FunctionTransformer, X: Source) -> Source:
    """Return the input; ColumnTransformer writes "passthrough" as a step without function."""
    if step.func is not None:
        raise ValueError(
            "A FunctionTransformer with a function cannot be exported to ONNX. Apply it before the "
            "exported model, and export only the steps after it."
        )
    return X


def _pipeline(pipeline: Pipeline, X: Source) -> Source:
    for _, step in pipeline.steps:
        X = prepare(step, X)
    return X


def _column_transformer(transformer: ColumnTransformer, X: Source) -> Source:
    """Put the outputs of all transformers side by side."""
    parts = []
    for _, step, which in transformer.transformers_:
        chosen = _positions(which, transformer, X.n_columns)
        if not len(chosen) or (isinstance(step, str) and step == "drop"):
            continue
        parts.append(prepare(step, X.select(chosen)))
    return _side_by_side(parts)


def _positions(which, transformer: ColumnTransformer, n_columns: int) -> list[int]:
    """Return the positions of columns given by name, number, mask or slice."""
    names = list(getattr(transformer, "feature_names_in_", []))
    if isinstance(which, UserList):  # remainder columns in scikit-learn 1.6: warn when read
        which = which.data
    if isinstance(which, str):
        return [names.index(which)]
    if isinstance(which, int | np.integer):
        return [range(n_columns)[which]]
    if isinstance(which, slice):
        if isinstance(which.start, str) or isinstance(which.stop, str):
            first = 0 if which.start is None else names.index(which.start)
            last = n_columns if which.stop is None else names.index(which.stop) + 1
            which = slice(first, last, which.step)
        return list(range(n_columns)[which])
    if len(which) and isinstance(which[0], str):
        return [names.index(name) for name in which]
    return list(_safe_indexing(np.arange(n_columns), np.asarray(which))) if len(which) else []


def _side_by_side(parts: list[Source]) -> Matrix:
    return Matrix(concat([part.matrix() for part in parts]), sum(p.n_columns for p in parts))


def _simple_imputer(imputer: SimpleImputer, X: Source) -> Source:
    """Fill in missing numbers; leave out columns without any number in training."""
    try:
        statistics = imputer.statistics_.astype(np.float64)
    except ValueError as error:
        raise ValueError(
            "A SimpleImputer for text cannot be exported to ONNX. OneHotEncoder treats missing "
            "values as a category of their own: leave out the imputer."
        ) from error
    values = X.matrix()
    missing = _is_missing(values, imputer.missing_values)
    known = np.flatnonzero(~np.isnan(statistics))
    filled = missing.where(statistics[None], values)
    result = Matrix(filled, X.n_columns).select(known.tolist())
    if not imputer.add_indicator:
        return result
    features = imputer.indicator_.features_
    flags = Matrix(missing.double(), X.n_columns).select(features)
    return _side_by_side([result, flags]) if len(features) else result


def _is_missing(values: Value, missing) -> Value:
    if isinstance(missing, float) and np.isnan(missing):
        return values.op("IsNaN")
    return values.equal(float(missing))


def _standard_scaler(scaler: StandardScaler, X: Source) -> Source:
    values = X.matrix()
    if scaler.mean_ is not None and scaler.with_mean:
        values = values - scaler.mean_[None]
    if scaler.scale_ is not None:
        values = values / scaler.scale_[None]
    return Matrix(values, X.n_columns)


def _max_abs_scaler(scaler: MaxAbsScaler, X: Source) -> Source:
    values = X.matrix() / scaler.scale_[None]
    clip = getattr(scaler, "clip", False)  # older versions of scikit-learn never clip
    return Matrix(values.op("Clip", -1.0, 1.0) if clip else values, X.n_columns)


def _one_hot_encoder(encoder: OneHotEncoder, X: Source) -> Source:
    return _side_by_side([_one_hot(encoder, i, X) for i in range(X.n_columns)])


def _one_hot(encoder: OneHotEncoder, i: int, X: Source) -> Matrix:
    """Return an indicator for each frequent category, and one for all other categories."""
    categories = np.asarray(encoder.categories_[i])
    positions, n_positions, other = _positions_of_categories(encoder, i)
    if other is not None:  # every value that is not a frequent category, known or not
        frequent = np.flatnonzero(positions != other)
        categories, positions = categories[frequent], positions[frequent]
    found = matches(categories, i, X).double()
    result = found
    if not np.array_equal(positions, np.arange(n_positions)):
        result = found @ (positions[:, None] == np.arange(n_positions)).astype(np.float64)
    if other is not None:
        others = (np.arange(n_positions) == other).astype(np.float64)[None]
        result = result + (1 - found.sum(1)) * others
    return Matrix(result, n_positions)


def _positions_of_categories(encoder: OneHotEncoder, i: int) -> tuple[np.ndarray, int, int | None]:
    """Return each category's position (-1: none), their number, and the one for other values."""
    categories = encoder.categories_[i]
    rare = getattr(encoder, "infrequent_categories_", [None] * (i + 1))[i]
    known_rare = set() if rare is None else {_key(c) for c in rare}
    is_rare = np.array([_key(c) in known_rare for c in categories], dtype=bool)
    positions = np.cumsum(~is_rare) - 1
    positions[is_rare] = np.sum(~is_rare)
    n_positions = int(np.sum(~is_rare)) + int(is_rare.any())
    other = n_positions - 1 if is_rare.any() else None
    if encoder.handle_unknown not in ("infrequent_if_exist", "warn"):
        other = None
    dropped = None if encoder.drop_idx_ is None else encoder.drop_idx_[i]
    if dropped is not None:
        gone = positions[dropped]
        positions = np.where(positions == gone, -1, positions - (positions > gone))
        n_positions -= 1
        other = None if other in (None, gone) else other - (other > gone)
    return positions, n_positions, other


def _key(category):
    """Return a key that is equal for equal categories, including NaN."""
    return ("NaN",) if category != category else category


def matches(categories: np.ndarray, i: int, X: Source) -> Value:
    """Return where a column equals each of the categories, shape (rows, n_categories)."""
    missing = [c is None or c != c for c in categories]
    if categories.dtype.kind in "fiub":
        column = X.numbers(i)
        found = column.equal(categories.astype(np.float64)[None])
        return found | (column.op("IsNaN") & np.array([missing])) if any(missing) else found
    texts = [MISSING_TEXT if gone else c for c, gone in zip(categories, missing, strict=True)]
    if not all(isinstance(text, str) for text in texts):
        raise ValueError(
            f"Categories should be strings or numbers, but column {i} has "
            f"{next(t for t in texts if not isinstance(t, str))!r} among its categories."
        )
    if texts.count(MISSING_TEXT) > 1:
        raise ValueError(
            f"Column {i} has different categories for missing values and empty strings, but in "
            "ONNX an empty string stands for a missing value. Replace one by the other before "
            "fitting."
        )
    return X.texts(i).equal(np.array([texts], dtype=object))


CONVERTERS: dict[type, Callable[..., Source]] = {
    FunctionTransformer: _function,
    Pipeline: _pipeline,
    ColumnTransformer: _column_transformer,
    SimpleImputer: _simple_imputer,
    StandardScaler: _standard_scaler,
    MaxAbsScaler: _max_abs_scaler,
    OneHotEncoder: _one_hot_encoder,
}
