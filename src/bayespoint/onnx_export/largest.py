"""Which of several classes has the largest score, as `_jit/largest.py` does."""

from __future__ import annotations

from ..linear import LinearBayesPointClassifier
from .graph import Value


def largest(model: LinearBayesPointClassifier, X: Value) -> Value:
    raise NotImplementedError
