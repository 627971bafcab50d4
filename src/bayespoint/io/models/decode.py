"""From JSON and arrays to a model; anything that `Encoder` cannot have written raises an error."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from sklearn.utils import Bunch

from .allowed_types import (
    ARRAY_DTYPE,
    CLASSES,
    MAX_DEPTH,
    MODULE_OF_TYPE,
    OBJECT_DTYPE,
    SPARSE_TYPES,
    TWISTER_WORDS,
    check_object,
    find_type,
)
from .archive import Layout
from .foreign import NODE_TYPE, load


class Decoder:
    """Turns JSON back into values, and checks everything that it relies on."""

    def __init__(self, arrays: Sequence[np.ndarray], trusted: Sequence[str] = ()) -> None:
        self._arrays = arrays
        self._trusted = trusted
        self._foreign: dict[int, Any] = {}

    def decode(self, node: Any, depth: int = 0) -> Any:
        """Return the value of a node."""
        if depth > MAX_DEPTH:
            raise ValueError("it is nested too deeply")
        if isinstance(node, list):
            return [self.decode(inner, depth + 1) for inner in node]
        if not isinstance(node, dict):
            return node
        kind = node["type"]
        if kind in MODULE_OF_TYPE:
            state = {name: self.decode(inner, depth + 1) for name, inner in node["state"].items()}
            return _object(kind, state)
        if kind in _BY_VALUE:
            return _BY_VALUE[kind](node["value"])
        if kind == "array":
            return self._arrays[_natural(node["index"])]
        if kind == NODE_TYPE:
            return self._other(_natural(node["array"]["index"]))
        if kind == "scalar":
            value = _expect((bool, int, float, str), self.decode(node["value"], depth + 1))
            return _class(node["class"])(value)
        items = self.decode(_expect(list, node["items"]), depth + 1)
        if kind in SPARSE_TYPES:
            return _sparse(SPARSE_TYPES[kind], _shape(node["shape"]), *items)
        if kind == "objects":
            return _objects(_shape(node["shape"]), items)
        if kind not in _BY_ITEMS:
            raise ValueError(f"it holds a {str(kind)[:100]!r}, which this version cannot read")
        return _BY_ITEMS[kind](items)

    def _other(self, index: int) -> Any:
        """Return a classifier of another library, the same object wherever it is named."""
        if index not in self._foreign:
            self._foreign[index] = load(self._arrays[index], self._trusted)
        return self._foreign[index]


def _expect(kind, value: Any) -> Any:
    """Return the value if it has this type."""
    if not isinstance(value, kind):
        raise ValueError(f"it has a {type(value).__name__} where {kind} should be")
    return value


def _natural(value: Any) -> int:
    if type(value) is not int or value < 0:
        raise ValueError(f"{str(value)[:100]!r} should be a whole number, 0 or more")
    return value


def _shape(values: Any) -> tuple[int, ...]:
    return tuple(_natural(n) for n in _expect(list, values))


def _dtype(text: Any) -> np.dtype:
    if text != OBJECT_DTYPE and not ARRAY_DTYPE.fullmatch(_expect(str, text)):
        raise ValueError(f"{text[:100]!r} is not an array type that it may hold")
    return np.dtype(text)


def _float(text: Any) -> float:
    return {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}[text]


def _class(name: Any) -> type:
    return CLASSES[_expect(str, name)]


def _dict(items: list) -> dict:
    keys, values = items
    return dict(zip(keys, values, strict=True))


def _bunch(items: list) -> Bunch:
    return Bunch(**_dict(items))


def _slice(items: list) -> slice:
    start, stop, step = (n if n is None else int(n) for n in items)
    return slice(start, stop, step)


def _objects(shape: tuple[int, ...], items: list) -> np.ndarray:
    array = np.empty(len(items), dtype=object)
    for i, item in enumerate(items):  # one by one, or numpy unpacks lists
        array[i] = item
    return array.reshape(shape)


def _sparse(kind, shape: tuple[int, ...], data, indices, indptr):
    matrix = kind((data, indices, indptr), shape=shape)
    matrix.check_format(full_check=True)  # compiled code does not check indices
    return matrix


def _random_state(items: list) -> np.random.RandomState:
    key, position, has_gauss, gauss = items
    if key.shape != (TWISTER_WORDS,) or not 0 <= position <= TWISTER_WORDS:
        raise ValueError("the state of its random number generator is impossible")
    state = np.random.RandomState(0)
    state.set_state(("MT19937", key, position, has_gauss, gauss))
    return state


def _object(name: str, state: dict) -> Any:
    kind = find_type(name)
    if kind is None:
        raise ValueError(f"it holds a {name}, which this version cannot read")
    for attribute in state:
        if hasattr(kind, attribute):
            raise ValueError(f"{attribute!r} is not an attribute that a {name} may store")
    value: Any = object.__new__(kind)
    vars(value).update(state | {k: v for k, v in _defaults(kind).items() if k not in state})
    check_object(value)
    return value


def _defaults(kind: Any) -> dict[str, Any]:
    """Return keyword arguments of our own types: an older file lacks newer parameters."""
    is_ours = kind.__module__.startswith("bayespoint.")
    return (kind.__init__.__kwdefaults__ or {}) if is_ours else {}


_BY_VALUE: dict[str, Callable] = {"class": _class, "dtype": _dtype, "float": _float}
_BY_ITEMS: dict[str, Callable] = {
    "Bunch": _bunch,
    "RandomState": _random_state,
    "dict": _dict,
    "slice": _slice,
    "tuple": tuple,
}


def layout_of(described: dict) -> Layout:
    """Return how an array is stored, from its description in the text."""
    shape, axes = _shape(described["shape"]), _shape(described["axes"])
    if sorted(axes) != list(range(len(shape))):
        raise ValueError(f"the axes of its arrays cannot be {str(axes)[:100]}")
    dtype = _dtype(described["dtype"])
    if dtype.hasobject:
        raise ValueError("an array of objects cannot be stored")
    return Layout(dtype, shape, axes)


def foreign_parts(node: Any, arrays: Sequence[np.ndarray]) -> Iterator[np.ndarray]:
    """Yield the bytes of all classifiers of other libraries."""
    waiting = [node]
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict):
            if value.get("type") == NODE_TYPE:
                yield arrays[_natural(value["array"]["index"])]
            waiting += value.values()
        elif isinstance(value, list):
            waiting += value
