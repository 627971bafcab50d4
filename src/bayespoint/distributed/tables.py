"""From the partitions of a user's table to training points on workers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.base import clone
from sklearn.utils import compute_class_weight
from sklearn.utils.multiclass import check_classification_targets

from .._runtime.sample_weight import check_sample_weight
from ..classifiers._labels import require_labels, require_two_classes
from ..classifiers._tables import check_table, code_table, standardizes
from ..geometry.points import canonical
from .calls import gather
from .column_fit import fit_columns_of
from .partitions import align_partitions, require_same_features, store_names
from .row_parts import Part, RowParts

if TYPE_CHECKING:
    from distributed import Client


def read_partitions(client: Client, model, X, y, sample_weight) -> RowParts:
    """Check partitions on workers and make points of them; the model learns classes and columns."""
    from dask import delayed

    check, bare = delayed(_check, pure=False), clone(model)
    partitions = align_partitions(X, y, sample_weight)
    checked = client.compute([check(bare, i, *p) for i, p in enumerate(partitions)])
    descriptions = [client.submit(_describe, part, pure=False) for part in checked]
    described = gather(client, descriptions, "reading")
    table = _settle(model, described)
    starts = np.cumsum([part.n_rows for part in described])
    coded = [
        client.submit(_code, bare, part, table, start - d.n_rows, pure=False)
        for part, d, start in zip(checked, described, starts, strict=True)
        if d.n_rows
    ]
    del checked
    rows = RowParts(client, coded)
    standardize = standardizes(model, sparse.csr_array((1, 1)) if table.is_sparse else None)
    kinds = table.categories, table.ordered
    model.columns_ = columns = fit_columns_of(rows, *kinds, standardize, table)
    if not columns.missing.any() and not columns.is_standardized and columns.is_number.all():
        return rows
    return rows.change(_to_points, columns)


class _Description(NamedTuple):
    """Size, features and classes of a partition."""

    n_rows: int
    n_features: int
    names: Any  # of the features, or None
    classes: np.ndarray  # of rows with a positive weight
    totals: np.ndarray  # their weights
    is_sparse: bool
    dtype: Any
    categories: Any
    ordered: Any


class TableKind(NamedTuple):
    """What all partitions have in common, and the weights of classes."""

    n_features: int
    is_sparse: bool
    dtype: Any
    categories: Any  # as in `Columns`, or None if all are numbers
    ordered: Any
    classes: np.ndarray
    class_weight: np.ndarray


def _settle(model, described: list[_Description]) -> TableKind:
    """Set classes and features of the model; return what partitions have in common."""
    filled = [(i, part) for i, part in enumerate(described) if part.n_rows]
    if not filled:
        raise ValueError(
            f"X should have rows, but all of its {len(described)} partitions are empty."
        )
    require_same_features(filled)
    parts = [part for _, part in filled]
    first = parts[0]
    _require_same_kind("sparse", [part.is_sparse for part in parts])
    _require_same_kind("tables with categories", [part.categories is not None for part in parts])
    classes, which = np.unique(np.concatenate([p.classes for p in parts]), return_inverse=True)
    totals = np.bincount(which, np.concatenate([p.totals for p in parts]), len(classes))
    of_class = _class_weights(model.class_weight, classes, totals)
    present = (totals > 0) & (of_class > 0)
    classes, of_class = classes[present], of_class[present]
    require_two_classes(classes)
    store_names(model, classes, first)
    categories, ordered = _all_categories(filled)
    dtype = np.result_type(*(part.dtype for part in parts)) if categories is None else np.float64
    return TableKind(
        first.n_features, first.is_sparse, dtype, categories, ordered, classes, of_class
    )


def _require_same_kind(kind: str, is_it: list[bool]) -> None:
    """Raise an error if only some partitions are of a kind."""
    if any(is_it) and not all(is_it):
        raise ValueError(
            f"Either all partitions of X should be {kind}, or none, but {sum(is_it)} of "
            f"{len(is_it)} are. Give all partitions the same types."
        )


def _class_weights(given, classes: np.ndarray, totals: np.ndarray) -> np.ndarray:
    """Return the weight of each class, as `combined_weight` defines it."""
    if given is None:
        return np.ones(len(classes))
    if isinstance(given, str):
        n_present = np.count_nonzero(totals)
        return totals.sum() / (n_present * np.where(totals > 0, totals, np.inf))
    return compute_class_weight(given, classes=classes, y=classes)


def _all_categories(filled: list[tuple[int, _Description]]) -> tuple[Any, Any]:
    """Return the categories of all partitions, and which columns have an order."""
    first = filled[0][1]
    if first.categories is None:
        return None, None
    found: list[np.ndarray | None] = []
    for j in range(first.n_features):
        levels = [part.categories[j] for _, part in filled]
        are_numbers = {values is None for values in levels}
        same_order = {bool(part.ordered[j]) for _, part in filled}
        if len(are_numbers) > 1 or len(same_order) > 1:
            raise ValueError(
                f"Column {j} of X (counted from 0) holds categories in some partitions but numbers "
                "in others, or has an order only in some. Give all partitions the same types."
            )
        if levels[0] is None:
            found.append(None)
        elif first.ordered[j]:
            if any(not np.array_equal(values, levels[0]) for values in levels):
                raise ValueError(
                    f"The ordered categories of column {j} of X (counted from 0) should be the "
                    "same in all partitions."
                )
            found.append(levels[0])
        else:
            found.append(np.unique(np.concatenate(levels)))
    return found, first.ordered


# Tasks


class _Checked(NamedTuple):
    """A valid partition."""

    X: Any
    y: np.ndarray
    weight: np.ndarray
    names: Any
    categories: Any
    ordered: Any


def _check(model, number: int, X, y, weight) -> _Checked:
    """Validate a partition."""
    try:
        if X.shape[0] == 0:
            return _Checked(X, np.asarray(y), np.empty(0), None, None, None)
        require_labels(y)
        X, y, categories, ordered = check_table(model, X, y)
        weight = check_sample_weight(weight, X, allow_all_zero=True)
        check_classification_targets(y)
    except (TypeError, ValueError) as error:
        raise type(error)(f"Partition {number}: {error}") from None
    names = getattr(model, "feature_names_in_", None)
    return _Checked(canonical(X), np.asarray(y), weight, names, categories, ordered)


def _describe(part: _Checked) -> _Description:
    used = part.weight > 0
    classes, which = np.unique(part.y[used], return_inverse=True)
    return _Description(
        part.X.shape[0],
        part.X.shape[1],
        part.names,
        classes,
        np.bincount(which, part.weight[used], len(classes)),
        sparse.issparse(part.X),
        getattr(part.X, "dtype", np.dtype(np.float64)),
        part.categories,
        part.ordered,
    )


def _code(model, part: _Checked, table: TableKind, start: int) -> Part:
    """Return the rows of positive weight, coded and numbered."""
    target = np.searchsorted(table.classes, part.y)
    known = table.classes[np.minimum(target, len(table.classes) - 1)] == part.y
    rows = np.flatnonzero(known & (part.weight > 0))
    X, y = part.X, part.y
    if len(rows) < len(y):
        X = X.iloc[rows] if hasattr(X, "iloc") else X[rows]
    if len(rows):
        X, _ = code_table(model, X, target[rows], table.categories, table.ordered)
    else:
        X = np.empty((0, table.n_features))
        X = sparse.csr_array(X) if table.is_sparse else X
    weight, target = part.weight[rows], target[rows]
    likelihood = weight * table.class_weight[target]
    return Part(X.astype(table.dtype, copy=False), target, weight, likelihood, start + rows)


def _to_points(part: Part, columns) -> Part:
    return part._replace(X=columns.points(part.X))
