"""Models as JSON and arrays, and back: only types of a short list, no functions, no code."""

from __future__ import annotations

import importlib
import math
import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils import Bunch

from ._archive import Layout, ModelFileError
from ._state_checks import CHECKS

# Whose attributes a file may hold, and where they live. A type belongs here if no method of it
# does more with its attributes than arithmetic: calls no function, opens no file.
HOMES = {
    "bayespoint.classifier": ["BayesPointClassifier"],
    "bayespoint.hyperplane": ["LinearMarginSVC"],
    "bayespoint.linear": ["LinearBayesPointClassifier"],
    "bayespoint.margin": ["AdaptiveMarginSVC", "LinearProgramSVC"],
    "bayespoint.onion": ["OnionClassifier"],
    "bayespoint.reject": ["RejectOptionClassifier"],
    "bayespoint.solvers": ["EP", "Billiard", "Cells", "Corners", "Gibbs", "Nystroem", "Perceptron"],
    "sklearn.compose": ["ColumnTransformer"],
    "sklearn.impute": ["MissingIndicator", "SimpleImputer"],
    "sklearn.pipeline": ["Pipeline"],
    "sklearn.preprocessing": [
        "MaxAbsScaler",
        "MinMaxScaler",
        "Normalizer",
        "OneHotEncoder",
        "RobustScaler",
        "StandardScaler",
    ],
}
HOME = {name: home for home, names in HOMES.items() for name in names}

# What parameters like OneHotEncoder's dtype may be.
_NUMBERS = "bool_ int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64"
CLASSES: dict[str, type] = {
    **{f"numpy.{name}": getattr(np, name) for name in (*_NUMBERS.split(), "str_", "object_")},
    **{kind.__name__: kind for kind in (bool, int, float, str, object)},
}
CLASS_NAMES = {kind: name for name, kind in CLASSES.items()}

SPARSE = {
    kind.__name__: kind
    for kind in (sparse.csr_array, sparse.csr_matrix, sparse.csc_array, sparse.csc_matrix)
}

DTYPE = re.compile(r"[<>|][biuf](1|2|4|8)|[<>]U[1-9][0-9]{0,8}")
MAX_DEPTH = 100  # of lists in lists; a pipeline in a pipeline is four
STATE_OF_TWISTER = 624  # numbers of 32 bits
NOT_KEPT = "_skl_callbacks"  # progress bars and the like belong to a session


class Encoder:
    """Turns a model into JSON, and collects its arrays."""

    def __init__(self) -> None:
        self.arrays: list[np.ndarray] = []
        self.layouts: list[dict] = []
        self._index: dict[int, int] = {}
        self._alive: list[np.ndarray] = []  # so that no id is used twice

    def encode(self, value: Any, where: str = "model", depth: int = 0) -> Any:
        if depth > MAX_DEPTH:
            raise ModelFileError(f"{where} is nested too deeply, or holds itself.")
        kind = type(value)
        if value is None or kind in (bool, int, str) or (kind is float and math.isfinite(value)):
            return value

        def part(inner, name):
            return self.encode(inner, f"{where}{name}", depth + 1)

        def parts(values):
            return [part(inner, f"[{i}]") for i, inner in enumerate(values)]

        if kind is float:
            return {"type": "float", "value": repr(value)}
        if kind is list:
            return parts(value)
        if kind is tuple:
            return {"type": "tuple", "items": parts(value)}
        if kind in (dict, Bunch):
            items = [[part(k, f" key {k!r}"), part(v, f"[{k!r}]")] for k, v in value.items()]
            return {"type": kind.__name__, "items": items}
        if kind is slice:
            return {"type": "slice", "items": parts([value.start, value.stop, value.step])}
        if kind in (np.ndarray, np.memmap):
            if value.dtype == object:
                items = parts(value.ravel().tolist())
                return {"type": "objects", "shape": list(value.shape), "items": items}
            return self._array(value, where)
        if isinstance(value, np.generic) and DTYPE.fullmatch(value.dtype.str):
            return {"type": "scalar", "dtype": value.dtype.str, "value": part(value.item(), "")}
        if isinstance(value, np.dtype) and (DTYPE.fullmatch(value.str) or value.str == "|O"):
            return {"type": "dtype", "value": value.str}
        if isinstance(value, type) and value in CLASS_NAMES:
            return {"type": "class", "value": CLASS_NAMES[value]}
        if kind in SPARSE.values():
            arrays = parts([value.data, value.indices, value.indptr])
            return {"type": kind.__name__, "shape": list(map(int, value.shape)), "items": arrays}
        if kind is np.random.RandomState:
            return {"type": "RandomState", "items": parts(value.get_state()[1:])}
        if kind.__name__ in HOME and _find(kind.__name__) is kind:
            try:
                _check_object(value)
            except Exception as error:  # whatever attributes of the wrong kind lead to
                raise ModelFileError(
                    f"{where} cannot be saved as it is: {error}. Were parameters changed after fit?"
                ) from error
            kept = {k: v for k, v in vars(value).items() if not k.startswith(NOT_KEPT)}
            state = {name: part(inner, f".{name}") for name, inner in kept.items()}
            return {"type": kind.__name__, "state": state}
        raise ModelFileError(_refusal(value, where))

    def _array(self, array: np.ndarray, where: str) -> dict:
        if id(array) not in self._index:
            if not DTYPE.fullmatch(array.dtype.str):
                raise ModelFileError(
                    f"{where} is an array of {array.dtype}, but a model file holds arrays of "
                    "numbers, bools and strings."
                )
            self._index[id(array)] = len(self.arrays)
            self._alive.append(array)
            # In the order of memory, so that matrix products round as before.
            axes = sorted(range(array.ndim), key=lambda axis: -abs(array.strides[axis]))
            stored = np.asarray(array).transpose(axes)
            self.arrays.append(stored)
            layout = {"dtype": array.dtype.str, "shape": list(stored.shape), "axes": axes}
            self.layouts.append(layout)
        return {"type": "array", "index": self._index[id(array)]}


def _refusal(value: Any, where: str) -> str:
    kind = type(value)
    if callable(value) and not isinstance(value, type) and not hasattr(value, "get_params"):
        name = getattr(value, "__qualname__", kind.__qualname__)
        return (
            f"{where} is the function {name!r}, but a model file holds no code. Use a kernel that "
            "has a name or kernel='precomputed', or pickle the model for your own use."
        )
    return (
        f"{where} is of type {kind.__module__}.{kind.__qualname__}, which a model file cannot "
        "hold: it holds bayespoint's classifiers in pipelines of common preprocessing. Save "
        "other models with skops."
    )


def _check_object(value: Any) -> None:
    """Refuse what would make an object do more than arithmetic, or arithmetic elsewhere."""
    if getattr(value, "memory", None) is not None:
        raise ValueError("its memory should be None: a cache is a folder of pickles")
    CHECKS.get(type(value).__name__, _no_check)(value)


def _no_check(value: Any) -> None:
    """Nothing compiled relies on its attributes."""


def _find(name: str) -> type | None:
    return getattr(importlib.import_module(HOME[name]), name, None)


class Decoder:
    """Turns JSON back into a model; raises whatever it likes if the JSON is not `Encoder`'s."""

    def __init__(self, arrays: Sequence[np.ndarray]) -> None:
        self._arrays = arrays

    def decode(self, node: Any, depth: int = 0) -> Any:
        if depth > MAX_DEPTH:
            raise ValueError("it is nested too deeply")
        if isinstance(node, list):
            return [self.decode(inner, depth + 1) for inner in node]
        if not isinstance(node, dict):
            return node
        kind = node["type"]
        if kind in HOME:
            state = {name: self.decode(inner, depth + 1) for name, inner in node["state"].items()}
            return _object(kind, state)
        if kind in _BY_VALUE:
            return _BY_VALUE[kind](node["value"])
        if kind == "array":
            return self._arrays[_natural(node["index"])]
        if kind == "scalar":
            return dtype_of(node["dtype"]).type(self._plain(node["value"]))
        items = self.decode(_a(list, node["items"]), depth + 1)
        if kind in SPARSE:
            return _sparse(SPARSE[kind], _shape(node["shape"]), *items)
        if kind == "objects":
            return _objects(_shape(node["shape"]), items)
        if kind not in _BY_ITEMS:
            raise ValueError(f"it holds a {str(kind)[:100]!r}, which this version does not know")
        return _BY_ITEMS[kind](items)

    def _plain(self, node: Any) -> Any:
        return _a((bool, int, float, str), self.decode(node))


def _a(kind, value: Any) -> Any:
    if not isinstance(value, kind):
        raise ValueError(f"it has a {type(value).__name__} where {kind} should be")
    return value


def _natural(value: Any) -> int:
    if type(value) is not int or value < 0:
        raise ValueError(f"{str(value)[:100]!r} should be a number from 0 on")
    return value


def _shape(values: Any) -> tuple[int, ...]:
    return tuple(_natural(n) for n in _a(list, values))


def dtype_of(text: Any) -> np.dtype:
    if not DTYPE.fullmatch(_a(str, text)):
        raise ValueError(f"{text[:100]!r} is not a type of arrays that it may hold")
    return np.dtype(text)


def _float(text: Any) -> float:
    return {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}[text]


def _class(name: Any) -> type:
    return CLASSES[_a(str, name)]


def _dtype(text: Any) -> np.dtype:
    return np.dtype(object) if text == "|O" else dtype_of(text)


def _dict(items: list) -> dict:
    return {key: value for key, value in items}


def _bunch(items: list) -> Bunch:
    return Bunch(**_dict(items))


def _slice(items: list) -> slice:
    start, stop, step = (n if n is None else int(n) for n in items)
    return slice(start, stop, step)


def _objects(shape: tuple[int, ...], items: list) -> np.ndarray:
    array = np.empty(len(items), dtype=object)
    array[:] = items
    return array.reshape(shape)


def _sparse(kind, shape: tuple[int, ...], data, indices, indptr):
    matrix = kind((data, indices, indptr), shape=shape)
    matrix.check_format(full_check=True)  # compiled code looks at no index twice
    return matrix


def _random_state(items: list) -> np.random.RandomState:
    key, position, has_gauss, gauss = items
    if key.shape != (STATE_OF_TWISTER,) or not 0 <= position <= STATE_OF_TWISTER:
        raise ValueError("the state of its random numbers is impossible")
    state = np.random.RandomState(0)
    state.set_state(("MT19937", key, position, has_gauss, gauss))
    return state


def _object(name: str, state: dict) -> Any:
    kind = _find(name)
    if kind is None:
        raise ValueError(f"it holds a {name}, which this version does not know")
    for attribute in state:
        if hasattr(kind, attribute):
            raise ValueError(f"{attribute!r} is no attribute that a {name} can have")
    made: Any = object.__new__(kind)
    vars(made).update(state)
    _check_object(made)
    return made


_BY_VALUE: dict[str, Callable] = {"class": _class, "dtype": _dtype, "float": _float}
_BY_ITEMS: dict[str, Callable] = {
    "Bunch": _bunch,
    "RandomState": _random_state,
    "dict": _dict,
    "slice": _slice,
    "tuple": tuple,
}


def layout_of(described: dict) -> Layout:
    """Return how an array is stored, from what the text says."""
    shape, axes = _shape(described["shape"]), _shape(described["axes"])
    if sorted(axes) != list(range(len(shape))):
        raise ValueError(f"the axes of its arrays cannot be {str(axes)[:100]}")
    return Layout(dtype_of(described["dtype"]), shape, axes)
