"""Partitions of Dask collections: aligned, checked and labeled on workers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.base import clone

from .._runtime.sample_weight import check_sample_weight
from ..classifiers._labels import require_two_classes
from ..classifiers._training_data import check_training_data, label_rows
from ..fitting.weights_fit import Table
from .calls import gather

if TYPE_CHECKING:
    from distributed import Client, Future

    from ..classifiers.linear import LinearBayesPointClassifier


def align_partitions(X, y, weight) -> list[tuple[Any, Any, Any]]:
    """Return the partitions of points, each with its labels and weights."""
    if _is_array(X) and X.numblocks[1] > 1:
        X = X.rechunk({1: -1})
    points = _parts_of(X, "X")
    labels = _parts_of(y, "y", X)
    weights = [None] * len(points) if weight is None else _parts_of(weight, "sample_weight", X)
    for name, parts in ("y", labels), ("sample_weight", weights):
        if len(parts) != len(points):
            raise ValueError(
                f"{name} should have as many partitions as X, {len(points)}, but has "
                f"{len(parts)}. Rechunk or repartition one of them."
            )
    if not points:
        raise ValueError("X should have at least one partition, but has none.")
    return list(zip(points, labels, weights, strict=True))


def _is_array(X) -> bool:
    return hasattr(X, "numblocks")


def _parts_of(data, name: str, X=None) -> list[Any]:
    """Return the partitions of a collection, split at the same rows as X if possible."""
    if isinstance(data, (list, tuple)) and (X is None or isinstance(X, (list, tuple))):
        return list(data)
    known = _is_array(X) and not np.isnan(X.chunks[0]).any()
    if known and _is_array(data):
        data = data.rechunk({0: X.chunks[0]}) if data.shape[0] == X.shape[0] else data
    elif known and not hasattr(data, "to_delayed") and len(data) == X.shape[0]:
        return np.split(np.asarray(data), np.cumsum(X.chunks[0])[:-1])
    if hasattr(data, "to_delayed"):
        return list(np.ravel(data.to_delayed()))
    raise TypeError(
        f"{name} should be a dask array, a dask dataframe or a list of delayed partitions, but is "
        f"of type {type(data).__name__}. For data in memory, use the method fit of the model."
    )


def label_partitions(
    client: Client, model: LinearBayesPointClassifier, partitions: list[tuple[Any, Any, Any]]
) -> list[Future]:
    """Check and label partitions on workers. The model learns its classes and features."""
    from dask import delayed

    check, bare = delayed(_check, pure=False), clone(model)
    parts = [check(bare, i, *partition) for i, partition in enumerate(partitions)]
    checked = client.compute(parts)
    described = gather(client, client.map(_describe, checked, pure=False), "reading")
    class_weight = _learn_classes(model, described)
    settled = model.classes_, class_weight
    return [client.submit(_label, part, *settled, pure=False) for part in checked]


class _Description(NamedTuple):
    """Size, features and classes of a partition."""

    n_rows: int
    n_features: int
    names: Any  # of the features, or None
    classes: np.ndarray
    counts: np.ndarray


def _learn_classes(model: LinearBayesPointClassifier, described: list[_Description]) -> Any:
    """Set classes and features of the model; return how much each class counts."""
    filled = [(i, part) for i, part in enumerate(described) if part.n_rows]
    if not filled:
        raise ValueError(
            f"X should have rows, but all of its {len(described)} partitions are empty."
        )
    require_same_features(filled)
    first = filled[0][1]
    classes, which = np.unique(
        np.concatenate([part.classes for _, part in filled]), return_inverse=True
    )
    counts = np.bincount(which, np.concatenate([part.counts for _, part in filled]))
    require_two_classes(classes)
    store_names(model, classes, first)
    if model.class_weight != "balanced":
        return model.class_weight
    balanced = counts.sum() / (len(classes) * counts)
    return dict(zip(classes.tolist(), balanced, strict=True))


def store_names(model, classes: np.ndarray, part: Any) -> None:
    """Set the classes of a model, and its features to those of a partition."""
    model.classes_, model.n_features_in_ = classes, part.n_features
    if part.names is not None:
        model.feature_names_in_ = part.names
    elif hasattr(model, "feature_names_in_"):  # from another fit
        del model.feature_names_in_


def require_same_features(filled: list[tuple[int, Any]]) -> None:
    """Raise an error if partitions differ in the number or the names of their features."""
    first, one = filled[0]
    for i, part in filled[1:]:
        if part.n_features != one.n_features:
            raise ValueError(
                f"Partition {i} has {part.n_features} features, but partition {first} has "
                f"{one.n_features}."
            )
        if not np.array_equal(part.names, one.names):
            raise ValueError(
                f"Partition {i} has features named {part.names}, but partition {first} has "
                f"features named {one.names}."
            )


# Tasks


class _Checked(NamedTuple):
    """A valid partition."""

    X: Any
    y: np.ndarray
    weight: np.ndarray
    names: np.ndarray | None  # of the features


def _check(model: LinearBayesPointClassifier, number: int, X, y, weight) -> _Checked:
    """Validate a partition."""
    try:
        if X.shape[0] == 0:
            empty = sparse.csr_array((0, X.shape[1]))
            return _Checked(empty, np.asarray(y), np.empty(0), None)
        X, y = check_training_data(model, X, y)
        weight = check_sample_weight(weight, X, allow_all_zero=True)
    except (TypeError, ValueError) as error:
        raise type(error)(f"Partition {number}: {error}") from None
    return _Checked(X, y, weight, getattr(model, "feature_names_in_", None))


def _describe(part: _Checked) -> _Description:
    classes, counts = np.unique(part.y, return_counts=True)
    return _Description(part.X.shape[0], part.X.shape[1], part.names, classes, counts)


def _label(part: _Checked, classes: np.ndarray, class_weight) -> Table:
    """Return the rows with a positive weight. A single partition may have none."""
    X, y, weight, _ = part
    if not weight.any():
        return Table(X[:0], np.empty(0), weight[:0])
    return label_rows(X, y, weight, classes, class_weight)
