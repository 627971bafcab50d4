"""Find the function that converts an estimator to ONNX."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def find_converter(
    converters: dict[type, Callable[..., Any]], estimator: Any, kind: str, advice: str
) -> Callable[..., Any]:
    """Return the converter for an estimator, or raise an error that lists all converters."""
    for type_, convert in converters.items():
        if isinstance(estimator, type_):
            return convert
    names = ", ".join(type_.__name__ for type_ in converters)
    raise ValueError(
        f"{type(estimator).__name__} cannot be exported to ONNX. {kind} that can: {names}. {advice}"
    )
