"""Check what compiled code of scikit-learn assumes about classifiers that come from a file."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
from scipy import sparse

from .allowed_types import TWISTER_WORDS, check_object

# The child of a leaf.
LEAF = -1
# Words of 32 bits in a set of categories: scikit-learn looks up 256 of them.
CATEGORY_WORDS = 8
# 64-bit numbers in the buffer of NumPy's Philox.
PHILOX_BUFFER = 4


def check_foreign(model: Any) -> None:
    """Raise a ValueError if anything in a classifier could make compiled code leave its arrays."""
    for value in _parts(model):
        if sparse.issparse(value):
            value.check_format(full_check=True)
        if isinstance(value, np.random.RandomState | np.random.Generator):
            _random_numbers(value)
        if not hasattr(value, "__dict__"):
            continue
        check_object(value)
        _no_methods(value)
        kind = type(value).__name__
        if "tree_" in vars(value):
            _tree(value)
        if kind in ("RandomForestClassifier", "ExtraTreesClassifier") and _estimators(value):
            _same_features(value, [_n_columns(value)] * len(_estimators(value)))
        elif kind == "BaggingClassifier" and _estimators(value):
            _same_features(value, [len(f) for f in value.estimators_features_])
        elif kind == "HistGradientBoostingClassifier" and "_predictors" in vars(value):
            _boosted(value)


def _parts(model: Any) -> Iterator[Any]:
    """Yield a model and everything in it, each once."""
    waiting, known = [model], {}
    while waiting:
        value = waiting.pop()
        if isinstance(value, type | str | bytes | int | float | None) or id(value) in known:
            continue
        known[id(value)] = value  # keeps it, so that the id stays its own
        yield value
        if isinstance(value, dict):
            waiting += [*value.keys(), *value.values()]
        elif isinstance(value, list | tuple | set | frozenset):
            waiting += value
        elif isinstance(value, np.ndarray):
            waiting += value.ravel().tolist() if value.dtype == object else []
        waiting += vars(value).values() if hasattr(value, "__dict__") else []


def _no_methods(value: Any) -> None:
    """Refuse attributes that hide a method of their class."""
    if not type(value).__module__.startswith("sklearn."):
        return
    for name in vars(value):
        if name.startswith("__") or callable(getattr(type(value), name, None)):
            raise ValueError(f"{name!r} is not an attribute of a {type(value).__name__}")


def _random_numbers(generator: Any) -> None:
    """Check the position of the next number, which NumPy reads as it is."""
    if isinstance(generator, np.random.RandomState):
        state = generator.get_state(legacy=False)
    else:
        state = generator.bit_generator.state
    places = [(state["state"].get("pos", 0), TWISTER_WORDS)]
    places += [(state.get("buffer_pos", 0), PHILOX_BUFFER)]
    if not all(0 <= place <= last for place, last in places):
        raise ValueError("the state of its random number generator is impossible")


def _n_columns(estimator: Any) -> int:
    """Return the number of columns, which scikit-learn compares with that of rows."""
    n = estimator.n_features_in_
    if type(n) is bool or not isinstance(n, int | np.integer):
        raise ValueError(f"the number of columns of a {type(estimator).__name__} is not a number")
    return int(n)


def _tree(estimator: Any) -> None:
    """Check that children come after their parents, and features are columns."""
    tree = estimator.tree_
    n = tree.node_count
    if not 0 < n <= tree.capacity:
        raise ValueError(f"a tree says that it has {n} nodes, but has {tree.capacity}")
    left, right, feature = tree.children_left, tree.children_right, tree.feature
    inner = left != LEAF
    _later_nodes(np.flatnonzero(inner), left[inner], right[inner], n)
    if tree.n_features != _n_columns(estimator):
        raise ValueError("a tree should have the columns of its estimator")
    if np.any((feature[inner] < 0) | (feature[inner] >= tree.n_features)):
        raise ValueError("a tree asks for a column that is not there")


def _later_nodes(place: np.ndarray, left: np.ndarray, right: np.ndarray, n: int) -> None:
    """Check children: a walk from the root ends, inside of the tree."""
    for child in (left.astype(np.int64), right.astype(np.int64)):
        if np.any((child <= place) | (child >= n)):
            raise ValueError("a tree has children out of bounds")


def _estimators(ensemble: Any) -> list:
    return list(vars(ensemble).get("estimators_", ()))


def _same_features(ensemble: Any, expected: list[int]) -> None:
    """Check the columns of each member, which is not asked again when it predicts."""
    found = [_n_columns(member) for member in _estimators(ensemble)]
    if found != expected:
        raise ValueError(f"the members of a {type(ensemble).__name__} have other columns than it")


def _boosted(model: Any) -> None:
    """Check the trees of gradient boosting with histograms."""
    n_features = _n_columns(model)
    if "_in_fit" in vars(model):
        raise ValueError("it is in the middle of its training: rows would not be checked")
    first = vars(model).get("_preprocessor")
    # scikit-learn makes it with a partial function, which needs trust. Others may drop columns.
    if first is not None and not any(isinstance(part, partial) for part in _parts(first)):
        raise ValueError("its columns are prepared in another way than scikit-learn does")
    has_categories = np.asarray(model._bin_mapper.is_categorical_)
    if has_categories.shape != (n_features,):
        raise ValueError("its bins should have the columns of the model")
    for predictor in (one for stage in model._predictors for one in stage):
        nodes = predictor.nodes
        inner = np.flatnonzero(nodes["is_leaf"] == 0)
        _later_nodes(inner, nodes["left"][inner], nodes["right"][inner], len(nodes))
        if not len(nodes) or np.any(nodes["feature_idx"][inner].astype(np.int64) >= n_features):
            raise ValueError("a tree asks for a column that is not there")
        if np.any(nodes["feature_idx"][inner].astype(np.int64) < 0):
            raise ValueError("a tree asks for a column that is not there")
        by_category = inner[nodes["is_categorical"][inner] != 0]
        bitsets = predictor.raw_left_cat_bitsets
        if np.any(nodes["bitset_idx"][by_category].astype(np.int64) >= len(bitsets)):
            raise ValueError("a tree has categories out of bounds")
        for one in (bitsets, predictor.binned_left_cat_bitsets):
            if one.ndim != 2 or one.shape[1] != CATEGORY_WORDS:
                raise ValueError("a tree has categories of another shape")
        if not np.all(has_categories[nodes["feature_idx"][by_category]]):
            raise ValueError("a tree asks for categories of a column without any")
