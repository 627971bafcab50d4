"""From a model to JSON and arrays."""

from __future__ import annotations

import math
from collections import UserList
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import Bunch

from .allowed_types import (
    ARRAY_DTYPE,
    CLASS_NAMES,
    MAX_DEPTH,
    OBJECT_DTYPE,
    SPARSE_TYPES,
    check_object,
    find_type,
)
from .archive import ModelFileError
from .foreign import NODE_TYPE, dump

# Attributes that belong to a session, such as progress bars and what `partial_fit` can compute
# again, are not saved.
SKIPPED_PREFIX = ("_skl_callbacks", "_session_")


class Encoder:
    """Turns values into JSON, and collects their arrays."""

    def __init__(self) -> None:
        self.arrays: list[np.ndarray] = []
        self.layouts: list[dict] = []
        # Index of each array by its id; keeping the array keeps the id valid.
        self._known: dict[int, tuple[int, np.ndarray]] = {}
        # Classifiers of other libraries, only inside of a reject option: by their id, with the
        # types that need trust, and the libraries that they come from.
        self._inside_option = False
        self._foreign: dict[int, tuple[dict, Any]] = {}
        self.untrusted: set[str] = set()
        self.libraries: set[str] = set()

    def encode(self, value: Any, where: str = "model", depth: int = 0) -> Any:
        """Return a value as JSON; messages call it `where`."""
        if depth > MAX_DEPTH:
            raise ModelFileError(f"{where[:200]}... is nested too deeply, or contains itself.")
        kind = type(value)
        if value is None or kind in (bool, int, str) or (kind is float and math.isfinite(value)):
            return value
        if kind in (np.ndarray, np.memmap) and value.dtype != object:
            return self._array(value, where)
        if kind is float:
            return {"type": "float", "value": repr(value)}
        if isinstance(value, type) and value in CLASS_NAMES:
            return {"type": "class", "value": CLASS_NAMES[value]}
        if isinstance(value, np.dtype) and _is_dtype(value):
            return {"type": "dtype", "value": value.str}
        if isinstance(value, np.generic) and kind in CLASS_NAMES:
            inner = self.encode(value.item(), where, depth)
            return {"type": "scalar", "class": CLASS_NAMES[kind], "value": inner}
        if find_type(kind.__name__) is kind:
            return self._object(value, where, depth)
        return self._container(value, where, depth)

    def _container(self, value: Any, where: str, depth: int) -> Any:
        def parts(values):
            return [self.encode(v, f"{where}[{i}]", depth + 1) for i, v in enumerate(values)]

        kind = type(value)
        if kind is list:
            return parts(value)
        # In scikit-learn 1.6, the columns of a ColumnTransformer's remainder warn when read.
        if kind.__name__ == "_RemainderColsList" and isinstance(value, UserList):
            return parts(value.data)
        if kind is tuple:
            return {"type": "tuple", "items": parts(value)}
        if kind in (dict, Bunch):
            named = [self.encode(v, f"{where}[{k!r}]", depth + 1) for k, v in value.items()]
            return {"type": kind.__name__, "items": [parts(value.keys()), named]}
        if kind is slice:
            return {"type": "slice", "items": parts([value.start, value.stop, value.step])}
        if kind is np.ndarray:
            items = parts(value.ravel().tolist())
            return {"type": "objects", "shape": list(value.shape), "items": items}
        if kind in SPARSE_TYPES.values():
            items = parts([value.data, value.indices, value.indptr])
            return {"type": kind.__name__, "shape": list(map(int, value.shape)), "items": items}
        if kind is np.random.RandomState:
            return {"type": "RandomState", "items": parts(value.get_state()[1:])}
        if self._inside_option and _is_foreign(value):
            return self._other(value, where)
        raise ModelFileError(_refusal(value, where))

    def _other(self, value: Any, where: str) -> dict:
        """Return a classifier or transformer of another library as bytes of skops."""
        if id(value) not in self._foreign:
            content, untrusted, libraries = dump(value, where)
            self.untrusted |= untrusted
            self.libraries |= libraries
            node = {"type": NODE_TYPE, "array": self._array(content, where)}
            self._foreign[id(value)] = node, value  # keeping the value keeps the id valid
        return self._foreign[id(value)][0]

    def _object(self, value: Any, where: str, depth: int) -> dict:
        try:
            check_object(value)
        except Exception as error:  # wrong attributes may raise anything
            raise ModelFileError(
                f"{where} cannot be saved as it is: {error}. Were parameters changed after fit?"
            ) from error
        was_inside = self._inside_option
        self._inside_option |= type(value).__name__ == "RejectOptionClassifier"
        state = {
            name: self.encode(inner, f"{where}.{name}", depth + 1)
            for name, inner in vars(value).items()
            if not name.startswith(SKIPPED_PREFIX)
        }
        self._inside_option = was_inside
        return {"type": type(value).__name__, "state": state}

    def _array(self, array: np.ndarray, where: str) -> dict:
        if id(array) not in self._known:
            if not ARRAY_DTYPE.fullmatch(array.dtype.str):
                raise ModelFileError(
                    f"{where} is an array of {array.dtype}, but a model file holds arrays of "
                    "numbers, bools and strings."
                )
            # Keep the order in memory, so that matrix products round as before.
            axes = sorted(range(array.ndim), key=lambda axis: -abs(array.strides[axis]))
            stored = np.asarray(array).transpose(axes)
            self._known[id(array)] = len(self.arrays), array
            self.arrays.append(stored)
            layout = {"dtype": array.dtype.str, "shape": list(stored.shape), "axes": axes}
            self.layouts.append(layout)
        return {"type": "array", "index": self._known[id(array)][0]}


def _is_dtype(value: np.dtype) -> bool:
    return value.str == OBJECT_DTYPE or ARRAY_DTYPE.fullmatch(value.str) is not None


def _is_foreign(value: Any) -> bool:
    """Tell whether something is an estimator, and neither of this package nor made from it."""
    kinds = type(value).__mro__
    ours = any(kind.__module__.partition(".")[0] == "bayespoint" for kind in kinds)
    return isinstance(value, BaseEstimator) and not ours


def _refusal(value: Any, where: str) -> str:
    """Return why a value cannot be saved, and what to do."""
    kind = type(value)
    if callable(value) and not isinstance(value, type):
        name = getattr(value, "__qualname__", kind.__qualname__)
        return (
            f"{where} is the function {name!r}, but a model file holds no code. Use a kernel that "
            "has a name or kernel='precomputed', or pickle the model for your own use."
        )
    return (
        f"{where} is of type {kind.__module__}.{kind.__qualname__}, which a model file cannot "
        "hold. It holds classifiers of bayespoint, alone or in pipelines with scikit-learn's "
        "scalers, SimpleImputer, OneHotEncoder and ColumnTransformer, and other classifiers of "
        "scikit-learn inside of a RejectOptionClassifier. Save other models with skops."
    )
