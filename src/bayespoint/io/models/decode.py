"""From JSON and arrays to a model; what `Encoder` did not make raises some exception."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from sklearn.utils import Bunch

from .allowed_types import CLASSES, DTYPE, HOME, MAX_DEPTH, OBJECTS, SPARSE, check_object, find_type
from .archive import Layout

STATE_OF_TWISTER = 624  # numbers of 32 bits


class Decoder:
    """Turns JSON back into values, and checks all that it relies on."""

    def __init__(self, arrays: Sequence[np.ndarray]) -> None:
        self._arrays = arrays

    def decode(self, node: Any, depth: int = 0) -> Any:
        """Return the value of a node."""
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
            plain = _a((bool, int, float, str), self.decode(node["value"], depth + 1))
            return _class(node["class"])(plain)
        items = self.decode(_a(list, node["items"]), depth + 1)
        if kind in SPARSE:
            return _sparse(SPARSE[kind], _shape(node["shape"]), *items)
        if kind == "objects":
            return _objects(_shape(node["shape"]), items)
        if kind not in _BY_ITEMS:
            raise ValueError(f"it holds a {str(kind)[:100]!r}, which this version does not know")
        return _BY_ITEMS[kind](items)


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


def _dtype(text: Any) -> np.dtype:
    if text != OBJECTS and not DTYPE.fullmatch(_a(str, text)):
        raise ValueError(f"{text[:100]!r} is not a type of arrays that it may hold")
    return np.dtype(text)


def _float(text: Any) -> float:
    return {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}[text]


def _class(name: Any) -> type:
    return CLASSES[_a(str, name)]


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
    for i, item in enumerate(items):  # one by one, or numpy looks into lists
        array[i] = item
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
    kind = find_type(name)
    if kind is None:
        raise ValueError(f"it holds a {name}, which this version does not know")
    for attribute in state:
        if hasattr(kind, attribute):
            raise ValueError(f"{attribute!r} is no attribute that a {name} can have")
    made: Any = object.__new__(kind)
    vars(made).update(state)
    check_object(made)
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
    dtype = _dtype(described["dtype"])
    if dtype.hasobject:
        raise ValueError("an array of objects cannot be stored")
    return Layout(dtype, shape, axes)
