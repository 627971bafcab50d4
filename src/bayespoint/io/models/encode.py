"""From a model to JSON and arrays."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from sklearn.utils import Bunch

from .allowed_types import CLASS_NAMES, DTYPE, MAX_DEPTH, OBJECTS, SPARSE, check_object, find_type
from .archive import ModelFileError

NOT_KEPT = "_skl_callbacks"  # progress bars and the like belong to a session


class Encoder:
    """Turns values into JSON, and collects arrays."""

    def __init__(self) -> None:
        self.arrays: list[np.ndarray] = []
        self.layouts: list[dict] = []
        self._known: dict[int, tuple[int, np.ndarray]] = {}  # with the array, to keep its id

    def encode(self, value: Any, where: str = "model", depth: int = 0) -> Any:
        """Return a value as JSON; `where` is what errors call it."""
        if depth > MAX_DEPTH:
            raise ModelFileError(f"{where[:200]}... is nested too deeply, or holds itself.")
        kind = type(value)
        if value is None or kind in (bool, int, str) or (kind is float and math.isfinite(value)):
            return value
        if kind in (np.ndarray, np.memmap) and value.dtype != object:
            return self._array(value, where)
        if kind is float:
            return {"type": "float", "value": repr(value)}
        if isinstance(value, type) and value in CLASS_NAMES:
            return {"type": "class", "value": CLASS_NAMES[value]}
        if isinstance(value, np.dtype) and (DTYPE.fullmatch(value.str) or value.str == OBJECTS):
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
        if kind in SPARSE.values():
            items = parts([value.data, value.indices, value.indptr])
            return {"type": kind.__name__, "shape": list(map(int, value.shape)), "items": items}
        if kind is np.random.RandomState:
            return {"type": "RandomState", "items": parts(value.get_state()[1:])}
        raise ModelFileError(_refusal(value, where))

    def _object(self, value: Any, where: str, depth: int) -> dict:
        try:
            check_object(value)
        except Exception as error:  # whatever attributes of the wrong kind lead to
            raise ModelFileError(
                f"{where} cannot be saved as it is: {error}. Were parameters changed after fit?"
            ) from error
        state = {
            name: self.encode(inner, f"{where}.{name}", depth + 1)
            for name, inner in vars(value).items()
            if not name.startswith(NOT_KEPT)
        }
        return {"type": type(value).__name__, "state": state}

    def _array(self, array: np.ndarray, where: str) -> dict:
        if id(array) not in self._known:
            if not DTYPE.fullmatch(array.dtype.str):
                raise ModelFileError(
                    f"{where} is an array of {array.dtype}, but a model file holds arrays of "
                    "numbers, bools and strings."
                )
            # In the order of memory, so that matrix products round as before.
            axes = sorted(range(array.ndim), key=lambda axis: -abs(array.strides[axis]))
            stored = np.asarray(array).transpose(axes)
            self._known[id(array)] = len(self.arrays), array
            self.arrays.append(stored)
            layout = {"dtype": array.dtype.str, "shape": list(stored.shape), "axes": axes}
            self.layouts.append(layout)
        return {"type": "array", "index": self._known[id(array)][0]}


def _refusal(value: Any, where: str) -> str:
    kind = type(value)
    if callable(value) and not isinstance(value, type):
        name = getattr(value, "__qualname__", kind.__qualname__)
        return (
            f"{where} is the function {name!r}, but a model file holds no code. Use a kernel that "
            "has a name or kernel='precomputed', or pickle the model for your own use."
        )
    return (
        f"{where} is of type {kind.__module__}.{kind.__qualname__}, which a model file cannot "
        "hold: it holds classifiers of bayespoint, in pipelines with scikit-learn's scalers, "
        "SimpleImputer, OneHotEncoder and ColumnTransformer. Save other models with skops."
    )
